// SPDX-License-Identifier: BSD-2-Clause
// Plans of overlapped.h for a sweep that has begun already: its first steps showed what a step and
// a transfer take, and x_0 is on disk meanwhile.
#pragma once

#include <cstdint>

#include "schedule/overlapped.h"

namespace anadrome::schedule {

/// The actions that a plan of a begun sweep starts with, which are done: x_0 kept and written, and
/// the steps advanced. Then it is dropped.
inline constexpr std::int64_t kActionsBegun = 3;

/// The best plan found to reverse `steps` steps where x_0 is on disk and x_begun is live, both with
/// all slots free: a plan for the steps from x_begun on; then Revolve from x_0, which is read where
/// the first plan has ended its transfers and has a slot to spare. The list and its makespan begin
/// at x_0, as if no time had been lost. 0 < begun < steps; throws as plan_overlapped does.
OverlappedPlan plan_begun(std::int64_t steps, std::int64_t begun, std::int64_t slots,
                          const OverlapTimes& times,
                          OverlapSearch search = OverlapSearch::kThorough);

/// plan_begun with at most `most_on_disk` states on disk, x_0 included, 0 <= begun: the best of the
/// periodic plans that have so few.
OverlappedPlan plan_on_small_disk(std::int64_t steps, std::int64_t begun, std::int64_t slots,
                                  const OverlapTimes& times, std::int64_t most_on_disk);

}  // namespace anadrome::schedule

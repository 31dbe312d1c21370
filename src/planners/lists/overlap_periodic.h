// SPDX-License-Identifier: BSD-2-Clause
// The plain periodic plan, an anchor every so many steps, on the machine of overlapped.h
// (Kukreja, Hueckelheim & Gorman 2018, arXiv 1806.01117), as AnchoredPlanner places them.
#pragma once

#include <cstdint>
#include <vector>

#include "planners/lists/overlapped.h"

namespace anadrome::schedule {

/// An anchor every `interval` steps. Intervals are reversed with `slots` slots, or with one less
/// and the anchor before read ahead. `slots` >= 2 for that.
OverlappedPlan periodic_plan(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
                             std::int64_t interval, bool read_ahead);

/// The published interval, ceil(write / forward), and those that cost least by interval.h.
std::vector<std::int64_t> periodic_intervals(std::int64_t steps, std::int64_t slots,
                                             const OverlapTimes& times, bool read_ahead);

/// For a disk that holds few states: a plan with at most `most_on_disk` of them there, the best of
/// the periodic plans that have so few.
OverlappedPlan plan_on_small_disk(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
                                  std::int64_t most_on_disk);

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// Plans of overlapped.h for a disk that holds few states.
#pragma once

#include <cstdint>

#include "planners/lists/overlapped.h"

namespace anadrome::schedule {

/// A plan with at most `most_on_disk` states on disk: the best of the periodic plans that have so
/// few.
OverlappedPlan plan_on_small_disk(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
                                  std::int64_t most_on_disk);

}  // namespace anadrome::schedule

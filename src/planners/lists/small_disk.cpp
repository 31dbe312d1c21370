// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/small_disk.h"

#include <algorithm>
#include <vector>

#include "base/checked.h"
#include "planners/lists/overlap_periodic.h"

namespace anadrome::schedule {

OverlappedPlan plan_on_small_disk(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
                                  std::int64_t most_on_disk) {
  const std::int64_t anchors = std::min(most_on_disk, steps);
  OverlappedPlan best;
  for (const bool read_ahead : {false, true}) {
    if (read_ahead && slots == 1) continue;
    // Without room for an anchor an interval that has all steps: Revolve.
    std::vector<std::int64_t> intervals{anchors > 0 ? ceil_divide(steps, anchors) : steps};
    if (anchors > 0) {
      for (const std::int64_t interval : periodic_intervals(steps, slots, times, read_ahead)) {
        if (interval > intervals.front()) intervals.push_back(interval);
      }
    }
    for (const std::int64_t interval : intervals) {
      const OverlappedPlan plan = periodic_plan(steps, slots, times, interval, read_ahead);
      if (best.actions.empty() || plan.makespan < best.makespan) best = plan;
    }
  }
  return best;
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/overlap_periodic.h"

#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "base/index.h"
#include "planners/lists/overlap_interval.h"
#include "planners/lists/overlap_piece.h"
#include "schedule/anchored/interval.h"

namespace anadrome::schedule {

OverlappedPlan periodic_plan(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
                             std::int64_t interval, bool read_ahead) {
  OverlappedPlan plan;
  Timeline timeline(slots, times, &plan.actions);
  const std::int64_t for_revolve = read_ahead ? slots - 1 : slots;
  const auto piece = [&](std::int64_t length, bool has_previous) {
    OverlapPiece moves;
    if (has_previous && read_ahead) moves.push_back({OverlapKind::kRead, kPrevious, 0});
    append_revolve(moves, 0, length, for_revolve);
    if (has_previous && !read_ahead) moves.push_back({OverlapKind::kRead, kPrevious, 0});
    return moves;
  };
  // A sweep has TURN as one more step; here that is the adjoint of the last one.
  const std::int64_t longest = longest_tail(interval, for_revolve, false) + 1;
  const std::int64_t intervals = steps > longest ? (steps - longest + interval - 1) / interval : 0;
  std::vector<std::int64_t> lengths(size(intervals), interval);
  lengths.push_back(steps - intervals * interval);
  const OverlapPiece tail = piece(lengths.back(), intervals > 0);
  const OverlapPiece within = intervals > 1 ? piece(interval, true) : OverlapPiece();
  const OverlapPiece first = intervals > 0 ? piece(interval, false) : OverlapPiece();
  timeline.play_intervals(lengths, [&](std::size_t i) -> const OverlapPiece& {
    return i + 1 == lengths.size() ? tail : i > 0 ? within : first;
  });
  plan.makespan = timeline.now();
  return plan;
}

std::vector<std::int64_t> periodic_intervals(std::int64_t steps, std::int64_t slots,
                                             const OverlapTimes& times, bool read_ahead) {
  StepCosts costs;
  costs.forward = times.forward;
  costs.adjoint = times.adjoint;
  costs.write = times.write;
  costs.read = times.read;
  const double published = std::ceil(times.write / times.forward);
  const auto longest = real(steps);
  return {static_cast<std::int64_t>(std::clamp(published, 1.0, longest)),
          best_interval(costs, read_ahead ? slots - 1 : slots, {true, read_ahead}, 1, steps)};
}

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

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/overlap_periodic.h"

#include <algorithm>
#include <cmath>

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
  std::int64_t anchor = 0;
  for (std::int64_t i = 0; i < intervals; ++i, anchor += interval) {
    timeline.keep(anchor);
    timeline.write(anchor);
    timeline.drop(anchor);
    timeline.advance(anchor, anchor + interval);
  }
  timeline.keep(anchor);
  timeline.play(piece(steps - anchor, intervals > 0), anchor, anchor - interval);
  const OverlapPiece within = piece(interval, true);
  while (anchor > 0) {
    anchor -= interval;
    timeline.restore(anchor);
    timeline.play(anchor > 0 ? within : piece(interval, false), anchor, anchor - interval);
  }
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

}  // namespace anadrome::schedule

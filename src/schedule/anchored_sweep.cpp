// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/anchored_sweep.h"

#include <algorithm>

#include "base/checked.h"

namespace anadrome::schedule {

AnchoredSweep anchored_sweep(const IntervalProblem& problem, const AsyncPlan& plan) {
  const std::int64_t steps = problem.steps, interval = plan.interval, slots = plan.slots;
  const bool record = problem.record;
  const std::int64_t tape_units = problem.memory.tape_units;
  const double f = problem.costs.forward;
  StepCosts costs = problem.costs;
  if (record) costs.adjoint += f;
  const double steps_per_interval = static_cast<double>(interval);
  const double per_interval = steps_per_interval * seconds_per_step(costs, problem.memory, plan);
  const uint128 advances = advances_from_anchor(interval, slots, tape_units);
  // Steps that are run more often than in the tail; there the first run records kept tapes.
  const uint128 again = advances + (tape_units > 0 ? static_cast<uint128>(interval) : uint128{0});
  const double tail_step = f + (tape_units > 0 ? problem.costs.adjoint : costs.adjoint);
  // An anchor pays when the tail is so long that its first interval costs more from RAM. A longer
  // tail's cost grows ever faster, so the number of anchors that pay can be bisected.
  constexpr double kNoise = 1 + 1e-12;
  const auto tail = [&](std::int64_t length) {
    return tail_steps(length, slots, record, tape_units);
  };
  const auto pays = [&](std::int64_t written) {  // one more than `written`
    const std::int64_t left = steps - written * interval;
    const uint128 saved = tail(left) - tail(left - interval);
    return saved > again &&
           static_cast<double>(saved) * f + steps_per_interval * tail_step > per_interval * kNoise;
  };
  std::int64_t low = 0, high = steps > 0 ? (steps - 1) / interval : 0;
  high = plan.ends_in_ram ? 0 : std::min(high, problem.anchors_left);
  if (problem.all_anchors || problem.interval_given) {
    const std::int64_t last =
        problem.all_anchors ? interval : longest_tail(interval, slots, record, tape_units);
    low = steps > last ? std::min(ceil_divide(steps - last, interval), high) : 0;
    high = low;
  }
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (pays(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  AnchoredSweep sweep;
  sweep.written = low;
  const std::int64_t rest = steps - low * interval;
  const uint128 tail_again = tail(rest);
  sweep.advances = static_cast<uint128>(low) * again + tail_again;
  if (tape_units == 0) sweep.advances += static_cast<uint128>(steps);
  const double intervals = static_cast<double>(low);
  sweep.seconds = intervals * per_interval + static_cast<double>(rest) * tail_step +
                  static_cast<double>(tail_again) * f;
  if (record && tape_units == 0 && steps > 0) {  // the last step's first run records it
    sweep.seconds -= f;
    --sweep.advances;
  }
  const double computing =
      steps_per_interval * (f + costs.adjoint) + static_cast<double>(advances) * f;
  sweep.waiting = std::max(0.0, intervals * (per_interval - computing));
  return sweep;
}

}  // namespace anadrome::schedule

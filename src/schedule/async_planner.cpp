// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/async_planner.h"

#include <algorithm>
#include <utility>

#include "base/checked.h"

namespace anadrome::schedule {

AsyncPlanner::AsyncPlanner(const AsyncOptions& options)
    : AnchoredPlanner(options.anchored), options_(options), depth_(options.prefetch_depth) {}

// A later sweep of the same run knows the times of the one before.
Next AsyncPlanner::decide(const Segment& here, std::int64_t anchors, const Measured& measured) {
  const bool first = interval() == 0;
  const bool probing = agreed_ == Agreed::kForProbe;
  if (agreed_ == Agreed::kNothing && !measured.of_earlier_sweep &&
      (first || waits(anchors, measured))) {
    if (probes_ > 0) {
      agreed_ = Agreed::kForProbe;
      return Next::kAgree;
    }
    if (goes_on_probing(here, anchors, measured)) return Next::kGoOn;
  }
  if (probing) {
    agreed_ = Agreed::kNothing;
    if (goes_on_probing(here, anchors, measured)) return Next::kGoOn;
  }
  constexpr std::int64_t kSoon = 2, kSeldom = 32;  // intervals before the first trial
  if (options_.greedy) return decide_greedily(here, anchors, measured);
  if (!first && decided_at_ == measured.agreement) {  // nothing was measured since
    set_interval(interval(), slots());
    return Next::kGoOn;
  }
  decided_at_ = measured.agreement;
  if (trial_.due == 0) trial_.due = measured.compared ? kSeldom : kSoon;
  if (trial_.on()) {
    --trial_.left;
    const bool longer = trial_.left > Trial::kIntervals;
    if (trial_.left > 0) {
      set_interval(longer ? trial_.interval : plan_.interval, plan_.slots);
      return Next::kGoOn;
    }
    trial_.interval = 0;
  }
  use(plan_now(here, anchors, measured), here);
  return Next::kGoOn;
}

// The model's step is one beside the transfers of the interval in force, so it never sees what
// fewer transfers would gain. Trials become rare: each comes after twice as many intervals as the
// one before.
bool AsyncPlanner::tries(const AsyncPlan& plan, const Segment& here) {
  constexpr std::int64_t kFewSteps = 8, kShareOfRest = 8;
  const std::int64_t states = options_.memory.states_per_block;
  if (plan.interval != plan_.interval) trial_.seen = 0;
  ++trial_.seen;
  if (options_.greedy || !options_.may_try || plan.fills_disk || trial_.seen <= trial_.due ||
      (trial_.seen - 1) * plan.interval * states < kFewSteps) {
    return false;
  }
  const std::int64_t longer = plan.interval == 1 ? 3 : 2 * plan.interval;
  const std::int64_t steps = options_.anchored.steps;
  if (steps != kUnknown) {
    const std::int64_t rest = steps - here.first;
    const std::int64_t tail =
        longest_tail(longer, plan.slots, options_.anchored.record, options_.anchored.tape_units);
    const std::int64_t lasts = Trial::kIntervals * (longer + plan.interval) * states;
    if (rest < kShareOfRest * lasts || rest <= lasts + tail) return false;
  }
  trial_ = {.interval = longer, .left = 2 * Trial::kIntervals, .seen = 0, .due = 2 * trial_.due};
  return true;
}

// A block is on its way to disk, and it is not known yet how long that takes. Nobody waits for
// those of an earlier process.
bool AsyncPlanner::waits(std::int64_t anchors, const Measured& measured) const {
  return options_.waits_for_write && anchors - found_ >= options_.memory.states_per_block &&
         !measured.write_times_known;
}

bool AsyncPlanner::goes_on_probing(const Segment& here, std::int64_t anchors,
                                   const Measured& measured) {
  constexpr std::int64_t kProbes = 2, kLongestProbe = std::int64_t{1} << 20;
  if (probes_ >= kProbes && !waits(anchors, measured)) return false;
  // However long the write takes: that the rest is cheaper from memory may be certain already.
  if (probes_ >= kProbes) {
    const AsyncPlan plan = plan_now(here, anchors, measured);
    if (plan.ends_in_ram) {
      use(plan, here);
      return true;
    }
  }
  ++probes_;
  probe(probe_steps_);
  probe_steps_ = std::min(2 * probe_steps_, kLongestProbe);
  return true;
}

AsyncPlan AsyncPlanner::plan_now(const Segment& here, std::int64_t anchors,
                                 const Measured& measured) const {
  IntervalProblem problem;
  problem.costs = measured.costs;
  problem.memory = options_.memory;
  problem.steps = options_.anchored.steps;
  problem.newest_anchor = here.first - steps_since_anchor();
  problem.anchors_below = std::max<std::int64_t>(anchors - 1, 0);
  problem.anchors_left = here.disk_slots;
  problem.record = options_.anchored.record;
  problem.may_end_in_ram = options_.may_end_in_ram;
  problem.now = plan_;
  problem.may_stay = !options_.greedy;
  problem.took = measured.took;
  return plan_intervals(problem);
}

void AsyncPlanner::use(const AsyncPlan& plan, const Segment& here) {
  depth_ = plan.prefetch_depth;
  if (plan.ends_in_ram) return end_in_ram(plan.slots);
  const bool tries_longer = tries(plan, here);
  plan_ = plan;
  set_interval(tries_longer ? trial_.interval : plan.interval, plan.slots);
}

// All ranks decide on the same agreement, on the state that is live then.
Next AsyncPlanner::decide_greedily(const Segment& here, std::int64_t anchors,
                                   const Measured& measured) {
  const std::int64_t gap = steps_since_anchor();
  if (gap > 0 && agreed_ != Agreed::kForGreed) {
    agreed_ = Agreed::kForGreed;
    return Next::kAgree;
  }
  agreed_ = Agreed::kNothing;
  AsyncPlan plan = plan_now(here, anchors, measured);
  if (plan.ends_in_ram) {
    use(plan, here);
    return Next::kGoOn;
  }
  const std::int64_t largest = largest_gap(plan.interval, plan.slots, options_.anchored.tape_units);
  if (gap >= largest || (gap >= plan.interval && measured.nobody_writes)) {
    plan.interval = gap;
    use(plan, here);
    return Next::kGoOn;
  }
  constexpr std::int64_t kDecisionsPerInterval = 8;
  const std::int64_t pause =
      gap < plan.interval ? plan.interval - gap : ceil_divide(plan.interval, kDecisionsPerInterval);
  probe(std::min(pause, largest - gap));
  return Next::kGoOn;
}

}  // namespace anadrome::schedule

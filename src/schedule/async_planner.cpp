// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/async_planner.h"

#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "schedule/interval_fit.h"

namespace anadrome::schedule {
namespace {

constexpr std::int64_t kSoon = 2;  // intervals before a trial

}  // namespace

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
  constexpr std::int64_t kSeldom = 32;
  if (options_.greedy) return decide_greedily(here, anchors, measured);
  if (!first && decided_at_ == measured.agreement) {  // nothing was measured since
    set_interval(interval(), slots());
    return Next::kGoOn;
  }
  decided_at_ = measured.agreement;
  if (trial_.due == 0) trial_.due = measured.compared ? kSeldom : kSoon;
  if (trial_.on()) {
    --trial_.left;
    if (trial_.left > 0) {
      set_interval(trial_.left > trial_.back ? trial_.interval : plan_.interval, plan_.slots);
      return Next::kGoOn;
    }
    trial_.interval = 0;
  }
  use(plan_now(here, anchors, measured), here, measured.costs);
  return Next::kGoOn;
}

// The best interval if a write took no longer than the I/O thread computes: no more is known of
// writes that follow each other at once, until there are some.
std::int64_t AsyncPlanner::shorter_than(const AsyncPlan& plan, const StepCosts& costs) const {
  StepCosts quick = costs;
  if (options_.anchored.record) quick.adjoint += quick.forward;
  quick.write = std::min(costs.write, costs.write_taken);
  return best_interval(quick, plan.slots, {true, plan.prefetch_depth > 0}, 1, plan.interval,
                       options_.memory.tape_units);
}

// Longer ones and shorter ones in turns, the latter where the disk has places for more anchors.
AsyncPlanner::Trial AsyncPlanner::next_trial(const AsyncPlan& plan, const Segment& here,
                                             const StepCosts& costs) const {
  // Intervals, so that the fit has as many of the plan's before them as after them.
  constexpr std::int64_t kLonger = IntervalFit::kNewest / 3, kShorter = IntervalFit::kNewest - 2;
  const std::int64_t shorter = shorter_than(plan, costs), steps = options_.anchored.steps;
  const std::int64_t to_come =
      steps == kUnknown ? kMostSteps : (steps - here.first) / plan.interval;
  const bool has_places = here.disk_slots > to_come + kShorter * options_.memory.states_per_block;
  Trial next;
  next.shorter = shorter < plan.interval && has_places && !trial_.shorter;
  if (next.shorter) {  // no step is run again for it
    next.interval = shorter;
    next.left = kShorter + 1;
    next.back = 1;
    next.due = 2 * trial_.due;
  } else {
    next.interval = plan.interval == 1 ? 3 : 2 * plan.interval;
    next.left = 2 * kLonger;
    next.back = kLonger;
    next.due = 4 * trial_.due;
  }
  return next;
}

// The rest is much longer than the trial, and the disk has time for what the trial writes.
bool AsyncPlanner::fits(const Trial& trial, const AsyncPlan& plan, const Segment& here,
                        const StepCosts& costs) const {
  constexpr std::int64_t kShareOfRest = 8;
  const std::int64_t steps = options_.anchored.steps;
  if (steps == kUnknown) return true;
  const std::int64_t states = options_.memory.states_per_block, rest = steps - here.first;
  const std::int64_t tail = longest_tail(std::max(trial.interval, plan.interval), plan.slots,
                                         options_.anchored.record, options_.anchored.tape_units);
  const std::int64_t intervals = trial.left - trial.back;
  const std::int64_t lasts = (intervals * trial.interval + trial.back * plan.interval) * states;
  const double writing = static_cast<double>(intervals * states) * costs.write;
  return rest >= kShareOfRest * lasts && rest > lasts + tail &&
         static_cast<double>(rest) * costs.forward >= 2 * writing;
}

// The model's step is one beside the transfers of the interval in force, so it never sees what
// fewer transfers would gain; and its write is one that mostly finds the disk idle, and the I/O
// thread asleep, if transfers are few. Trials become rare.
void AsyncPlanner::tries(const AsyncPlan& plan, const Segment& here, const StepCosts& costs) {
  constexpr std::int64_t kFewSteps = 8;
  if (plan.interval != plan_.interval) trial_.seen = 0;
  // Writes that were behind one another find the disk idle from here on.
  if (plan_.interval > 0 && plan.interval > 2 * plan_.interval) trial_ = Trial{.due = kSoon};
  ++trial_.seen;
  const std::int64_t steps_seen =
      (trial_.seen - 1) * plan.interval * options_.memory.states_per_block;
  if (options_.greedy || !options_.may_try || plan.fills_disk || trial_.seen <= trial_.due ||
      steps_seen < kFewSteps) {
    return;
  }
  const Trial next = next_trial(plan, here, costs);
  if (fits(next, plan, here, costs)) trial_ = next;
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
      use(plan, here, measured.costs);
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

void AsyncPlanner::use(const AsyncPlan& plan, const Segment& here, const StepCosts& costs) {
  depth_ = plan.prefetch_depth;
  if (plan.ends_in_ram) return end_in_ram(plan.slots);
  tries(plan, here, costs);
  plan_ = plan;
  set_interval(trial_.on() ? trial_.interval : plan.interval, plan.slots);
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
    use(plan, here, measured.costs);
    return Next::kGoOn;
  }
  const std::int64_t largest = largest_gap(plan.interval, plan.slots, options_.anchored.tape_units);
  if (gap >= largest || (gap >= plan.interval && measured.nobody_writes)) {
    plan.interval = gap;
    use(plan, here, measured.costs);
    return Next::kGoOn;
  }
  constexpr std::int64_t kDecisionsPerInterval = 8;
  const std::int64_t pause =
      gap < plan.interval ? plan.interval - gap : ceil_divide(plan.interval, kDecisionsPerInterval);
  probe(std::min(pause, largest - gap));
  return Next::kGoOn;
}

}  // namespace anadrome::schedule

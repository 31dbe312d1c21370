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
  if (options_.greedy) return decide_greedily(here, anchors, measured);
  if (!first && decided_at_ == measured.agreement) {  // nothing was measured since
    set_interval(interval(), slots());
    return Next::kGoOn;
  }
  decided_at_ = measured.agreement;
  use(plan_now(here, anchors, measured));
  return Next::kGoOn;
}

// A block is on its way to disk, and it is not known yet how long that takes.
bool AsyncPlanner::waits(std::int64_t anchors, const Measured& measured) const {
  return options_.waits_for_write && anchors >= options_.memory.states_per_block &&
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
      use(plan);
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
  problem.now = {interval(), depth_, slots(), 0};
  problem.may_stay = !options_.greedy;
  return plan_intervals(problem);
}

void AsyncPlanner::use(const AsyncPlan& plan) {
  depth_ = plan.prefetch_depth;
  if (plan.ends_in_ram) return end_in_ram(plan.slots);
  set_interval(plan.interval, plan.slots);
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
    use(plan);
    return Next::kGoOn;
  }
  const std::int64_t largest = largest_gap(plan.interval, plan.slots, options_.anchored.tape_units);
  if (gap >= largest || (gap >= plan.interval && measured.nobody_writes)) {
    plan.interval = gap;
    use(plan);
    return Next::kGoOn;
  }
  constexpr std::int64_t kDecisionsPerInterval = 8;
  const std::int64_t pause =
      gap < plan.interval ? plan.interval - gap : ceil_divide(plan.interval, kDecisionsPerInterval);
  probe(std::min(pause, largest - gap));
  return Next::kGoOn;
}

}  // namespace anadrome::schedule

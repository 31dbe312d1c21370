// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/anchored/async_planner.h"

#include <algorithm>
#include <utility>

#include "base/index.h"

namespace anadrome::schedule {

AsyncPlanner::AsyncPlanner(const AsyncOptions& options)
    : AnchoredPlanner(options.anchored), options_(options), depth_(options.prefetch_depth) {}

// A later sweep of the same run knows the times of the one before.
Next AsyncPlanner::decide(const Segment& here, std::int64_t anchors, const Measured& measured) {
  const bool first = interval() == 0;
  const bool agreed = std::exchange(agreed_for_probe_, false);
  if (!agreed && !measured.of_earlier_sweep && (first || waits(anchors, measured))) {
    if (probes_ > 0) {
      agreed_for_probe_ = true;
      return Next::kAgree;
    }
    if (goes_on_probing(here, anchors, measured)) return Next::kGoOn;
  }
  if (agreed && goes_on_probing(here, anchors, measured)) return Next::kGoOn;
  if (!first && decided_at_ == measured.agreement) {  // nothing was measured since
    set_interval(interval(), slots());
    return Next::kGoOn;
  }
  decided_at_ = measured.agreement;
  IntervalProblem now = problem(here, anchors, measured);
  follow_queue(now);
  take_level(now);
  const AsyncPlan plan = plan_intervals(now, best_);  // whether there are further anchors at all
  use(plan.ends_in_ram || level_ == best_ ? plan : plan_with_anchors(now, level_));
  return Next::kGoOn;
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
    const AsyncPlan plan = plan_intervals(problem(here, anchors, measured));
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

IntervalProblem AsyncPlanner::problem(const Segment& here, std::int64_t anchors,
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
  problem.times = measured.times;
  return problem;
}

// Anchors that were put faster than they were written: time in which the disk had nothing to do is
// gone. Block 0 is written twice.
void AsyncPlanner::follow_queue(IntervalProblem& problem) {
  const double put = real(problem.anchors_below - queue_.anchors);
  const double seconds = real(problem.newest_anchor - queue_.step) * problem.costs.forward;
  const double written = problem.costs.write > 0 ? seconds / problem.costs.write : put;
  const double twice = queue_.step == 0 ? real(options_.memory.states_per_block) : 0;
  queue_ = {problem.newest_anchor, problem.anchors_below,
            std::max(queue_.length + put + twice - written, 0.0)};
  problem.queued = queue_.length;
}

// Another level where one more piece of the sweep was measured.
void AsyncPlanner::take_level(const IntervalProblem& problem) {
  if (level_ == kNoLevel) {
    level_ = best_ = first_level(problem);
  } else if (problem.times->pieces() != pieces_) {
    const NextLevel found = next_level(problem, level_);
    level_ = found.next;
    best_ = found.best;
  }
  if (level_ != kNoLevel) pieces_ = problem.times->pieces();
}

void AsyncPlanner::use(const AsyncPlan& plan) {
  depth_ = plan.prefetch_depth;
  if (plan.ends_in_ram) return end_in_ram(plan.slots);
  set_interval(plan.interval, plan.slots);
}

}  // namespace anadrome::schedule

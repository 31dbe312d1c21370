// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/interval_problem.h"

#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "schedule/anchored_sweep.h"

namespace anadrome::schedule {
namespace {

bool same_anchors(const AsyncPlan& a, const AsyncPlan& b) {
  return a.interval == b.interval && a.prefetch_depth == b.prefetch_depth;
}

}  // namespace

void SweepsTook::note(const AsyncPlan& plan, double seconds) {
  if (plan.ends_in_ram) {
    in_ram_ = seconds;
    return;
  }
  for (Sweep& sweep : sweeps_) {
    if (sweep.seconds == 0 || !same_anchors(sweep.plan, plan)) continue;
    sweep.seconds = seconds;
    return;
  }
  sweeps_[noted_++ % kPlans] = {plan, seconds};
}

double SweepsTook::with(const AsyncPlan& plan) const {
  if (plan.ends_in_ram) return in_ram_;
  for (const Sweep& sweep : sweeps_) {
    if (sweep.seconds > 0 && same_anchors(sweep.plan, plan)) return sweep.seconds;
  }
  return 0;
}

const SweepsTook::Sweep& SweepsTook::fastest() const {
  const Sweep* fastest = &sweeps_[0];
  for (const Sweep& sweep : sweeps_) {
    if (sweep.seconds > 0 && sweep.seconds < fastest->seconds) fastest = &sweep;
  }
  return *fastest;
}

namespace {

// What memory holds at the ends of the sweep is not little beside what it does not.
bool is_short(const IntervalProblem& problem, const AsyncPlan& plan) {
  constexpr std::int64_t kFew = 8;
  const std::int64_t held = problem.memory.blocks * problem.memory.states_per_block;
  return problem.steps / plan.interval < kFew * held;
}

// The sweep that is left, with its ends: its anchors, the tail, and what lies below.
class Rest {
 public:
  explicit Rest(const IntervalProblem& problem) : left_(problem) {
    left_.steps = problem.steps - problem.newest_anchor;
    left_.interval_given = true;  // until it is asked again
  }

  double seconds(const AsyncPlan& plan) const {
    const AnchoredSweep sweep = anchored_sweep(left_, plan);
    return sweep.seconds + sweep.below;
  }
  double per_step(const AsyncPlan& plan) const {
    return seconds(plan) / static_cast<double>(left_.steps);
  }
  double below(const AsyncPlan& plan) const { return anchored_sweep(left_, plan).below; }
  bool has_anchors(const AsyncPlan& plan) const { return anchored_sweep(left_, plan).written > 0; }

  /// The best of those with anchors whose intervals are at most so long. A depth that reads less
  /// far ahead has to gain something.
  AsyncPlan best(AsyncPlan plan, std::int64_t longest) const {
    constexpr std::int64_t kTried = 32;
    const SharedMemory& memory = left_.memory;
    double least = has_anchors(plan) ? seconds(plan) : std::numeric_limits<double>::infinity();
    const std::int64_t planned = plan.prefetch_depth;
    AsyncPlan other = plan;
    for (std::int64_t depth = memory.deepest(); depth >= 0; --depth) {
      other.prefetch_depth = depth;
      other.slots = memory.slots(depth);
      for (std::int64_t i = std::min(kTried, longest); i > 0; --i) {
        other.interval =
            longest <= kTried ? i : longest / kTried * i + longest % kTried * i / kTried;
        const double taken = seconds(other);
        if (taken * (depth < planned ? kAlike : 1) >= least || !has_anchors(other)) continue;
        least = taken;
        plan = other;
      }
    }
    plan.seconds_per_step = per_step(plan);
    return plan;
  }

 private:
  IntervalProblem left_;
};

// The same from x_0 on.
IntervalProblem whole_sweep(IntervalProblem problem) {
  if (problem.anchors_left < kNoLimit) problem.anchors_left += problem.anchors_below;
  problem.newest_anchor = problem.anchors_below = 0;
  return problem;
}

// Not every tremor of a measurement is worth a change.
constexpr double kWorthwhile = 0.985;

class Choice {
 public:
  explicit Choice(const IntervalProblem& problem)
      : problem_(problem),
        costs_(problem.costs),
        end_known_(problem.steps != kUnknown),
        rest_(problem.steps - problem.newest_anchor),
        left_(problem) {
    if (problem.record) costs_.adjoint += costs_.forward;
    if (costs_.passes == 0) took_ = problem.took;  // those were sweeps alone
    // The last interval ends at TURN, where no anchor is put.
    if (end_known_ && problem.anchors_left > 0)
      least_ = ceil_divide(rest_, std::min(problem.anchors_left, rest_) + 1);
  }

  AsyncPlan make() {
    const AsyncPlan plan = as_measured(unless_it_stays(by_model()));
    if (!end_known_ || !problem_.may_end_in_ram) return plan;
    return unless_from_memory(plan);
  }

 private:
  AsyncPlan by_model() {
    const std::int64_t most =
        end_known_ ? std::max<std::int64_t>(problem_.steps, 1) : std::int64_t{1} << 40;
    AsyncPlan plan = best_plan(costs_, problem_.memory, least_, most);
    plan.fills_disk = least_ > 1 && plan.interval == least_;
    counts_ends_ = end_known_ && rest_ > 0 && costs_.passes == 0 && !problem_.all_anchors &&
                   problem_.may_end_in_ram && (plan.fills_disk || is_short(problem_, plan));
    if (!counts_ends_) return plan;
    return left_.best(plan, std::min(plan.fills_disk ? plan.interval : 2 * plan.interval, rest_));
  }

  double price(const AsyncPlan& plan) const {
    return counts_ends_ ? left_.per_step(plan) : seconds_per_step(costs_, problem_.memory, plan);
  }
  // With this memory and these costs.
  AsyncPlan now(AsyncPlan plan) const {
    plan.slots = problem_.memory.slots(plan.prefetch_depth);
    plan.seconds_per_step = price(plan);
    return plan;
  }

  // What follows from the places on disk is no tremor: intervals that are as even as can be run the
  // fewest steps again.
  AsyncPlan unless_it_stays(const AsyncPlan& plan) const {
    const AsyncPlan& in_force = problem_.now;
    if (!problem_.may_stay || plan.fills_disk || in_force.interval < least_) return plan;
    return plan.seconds_per_step > kWorthwhile * price(in_force) ? now(in_force) : plan;
  }

  // No model is as good as sweeps that were measured. In a short one the model has few times to go
  // by, which may all be those of a slow moment: no plan is tried that it holds for slower, and
  // what the fastest took is its price.
  AsyncPlan as_measured(AsyncPlan plan) const {
    constexpr double kSlower = 0.97;
    const SweepsTook::Sweep& best = took_.fastest();
    if (best.seconds == 0 || best.plan.interval < least_ || plan.fills_disk) return plan;
    const Rest whole(whole_sweep(problem_));
    double seconds = took_.with(plan);
    if (seconds == 0 && counts_ends_) seconds = whole.seconds(plan);
    if (kSlower * seconds > best.seconds) plan = now(best.plan);
    if (counts_ends_ && same_anchors(plan, best.plan))
      plan.seconds_per_step *= std::min(1.0, best.seconds / whole.seconds(plan));
    return plan;
  }

  AsyncPlan unless_from_memory(const AsyncPlan& plan) const {
    AsyncPlan in_ram = without_further_anchors(plan);
    constexpr double kNear = 0.8;
    const bool begins = problem_.newest_anchor == 0 && problem_.anchors_below == 0;
    const double took = begins ? took_.in_ram() : 0, with_anchors = took_.fastest().seconds;
    if (took > 0 && with_anchors > 0) {
      in_ram.seconds_per_step = plan.seconds_per_step * took / with_anchors;
    } else if (took > 0 && in_ram.seconds_per_step > kNear * plan.seconds_per_step) {
      return plan;  // once, to see
    }
    if (counts_ends_ && !left_.has_anchors(plan)) return in_ram;
    const bool stays = problem_.may_stay && problem_.now.interval > 0;
    const double limit = (stays ? kWorthwhile : 1) * plan.seconds_per_step;
    return in_ram.seconds_per_step < limit ? in_ram : plan;
  }

  AsyncPlan from_memory(std::int64_t depth) const {
    AsyncPlan plan = plan_in_ram(costs_, problem_.memory, rest_, problem_.record, depth);
    if (counts_ends_) plan.seconds_per_step = price(plan);
    return plan;
  }
  // Those below are read ahead or waited for.
  AsyncPlan without_further_anchors(const AsyncPlan& plan) const {
    AsyncPlan waiting = from_memory(0);
    if (problem_.anchors_below == 0 || plan.prefetch_depth == 0) return waiting;
    if (!counts_ends_ && rest_ > 0)
      waiting.seconds_per_step +=
          (left_.below(waiting) - left_.below(plan)) / static_cast<double>(rest_);
    const AsyncPlan ahead = from_memory(plan.prefetch_depth);
    return ahead.seconds_per_step < waiting.seconds_per_step ? ahead : waiting;
  }

  const IntervalProblem& problem_;
  StepCosts costs_;  ///< the step that records a tape included
  bool end_known_;
  std::int64_t rest_;
  Rest left_;
  SweepsTook took_;
  std::int64_t least_ = 1;    ///< interval for which the disk has places
  bool counts_ends_ = false;  ///< which long sweeps do not notice
};

}  // namespace

AsyncPlan plan_intervals(const IntervalProblem& problem) { return Choice(problem).make(); }

}  // namespace anadrome::schedule

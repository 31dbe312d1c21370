// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/anchored/interval_problem.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/checked.h"
#include "base/index.h"
#include "schedule/anchored/anchored_sweep.h"

namespace anadrome::schedule {
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
  /// Without what lies below, which is the same whatever follows.
  double ahead(const AsyncPlan& plan) const { return anchored_sweep(left_, plan).seconds; }
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

// The best intervals, or those of a given length, and what is left without any.
class Choice {
 public:
  explicit Choice(const IntervalProblem& problem)
      : problem_(problem),
        costs_(problem.costs),
        end_known_(problem.steps != kUnknown),
        rest_(problem.steps - problem.newest_anchor),
        left_(problem) {
    if (problem.record) costs_.adjoint += costs_.forward;
    // The last interval ends at TURN, where no anchor is put.
    if (end_known_ && problem.anchors_left > 0)
      least_ = ceil_divide(rest_, std::min(problem.anchors_left, rest_) + 1);
  }

  std::int64_t least() const { return least_; }

  AsyncPlan with_anchors(int level = kNoLevel) {
    if (level != kNoLevel) return with_intervals(IntervalTimes::interval(level));
    const std::int64_t most = end_known_ ? std::max<std::int64_t>(problem_.steps, 1) : kMostUnknown;
    AsyncPlan plan = best_plan(costs_, problem_.memory, least_, most);
    const bool fills_disk = least_ > 1 && plan.interval == least_;
    counts_ends_ = may_count_ends() && (fills_disk || is_short(problem_, plan));
    if (!counts_ends_) return plan;
    return left_.best(plan, std::min(fills_disk ? plan.interval : 2 * plan.interval, rest_));
  }

  double price(int level) {
    const AsyncPlan plan = with_anchors(level);
    return counts_ends_ ? left_.ahead(plan) : plan.seconds_per_step;
  }

  AsyncPlan unless_from_memory(const AsyncPlan& plan) const {
    if (!end_known_ || !problem_.may_end_in_ram) return plan;
    const AsyncPlan in_ram = without_further_anchors(plan);
    if (counts_ends_ && !left_.has_anchors(plan)) return in_ram;
    return in_ram.seconds_per_step < plan.seconds_per_step ? in_ram : plan;
  }

 private:
  static constexpr std::int64_t kMostUnknown = std::int64_t{1} << 40;

  AsyncPlan with_intervals(std::int64_t interval) {
    interval = std::max(interval, least_);
    counts_ends_ = may_count_ends();
    AsyncPlan plan = best_plan(costs_, problem_.memory, interval, interval);
    if (counts_ends_) plan.seconds_per_step = left_.per_step(plan);
    return plan;
  }
  bool may_count_ends() const {
    return end_known_ && rest_ > 0 && costs_.passes == 0 && !problem_.all_anchors &&
           problem_.may_end_in_ram;
  }

  AsyncPlan from_memory(std::int64_t depth) const {
    AsyncPlan plan = plan_in_ram(costs_, problem_.memory, rest_, problem_.record, depth);
    if (counts_ends_) plan.seconds_per_step = left_.per_step(plan);
    return plan;
  }
  // Those below are read ahead or waited for. What a read takes is only known from writes, so that
  // waiting has to gain something for all of them.
  AsyncPlan without_further_anchors(const AsyncPlan& plan) const {
    AsyncPlan waiting = from_memory(0);
    if (problem_.anchors_below == 0 || plan.prefetch_depth == 0) return waiting;
    if (!counts_ends_ && rest_ > 0)
      waiting.seconds_per_step += (left_.below(waiting) - left_.below(plan)) / real(rest_);
    const AsyncPlan ahead = from_memory(plan.prefetch_depth);
    constexpr double kSure = 1.02;
    const double others = counts_ends_ ? 0 : left_.below(plan);
    const auto seconds = [&](const AsyncPlan& of) {
      return of.seconds_per_step * real(rest_) + others;
    };
    return seconds(ahead) < kSure * seconds(waiting) ? ahead : waiting;
  }

  const IntervalProblem& problem_;
  StepCosts costs_;  ///< the step that records a tape included
  bool end_known_;
  std::int64_t rest_;
  Rest left_;
  std::int64_t least_ = 1;    ///< interval for which the disk has places
  bool counts_ends_ = false;  ///< which long sweeps do not notice
};

IntervalProblem as_measured(IntervalProblem problem, int level) {
  if (problem.times != nullptr) problem.costs = problem.times->costs(level, problem.costs);
  return problem;
}

auto prices(const IntervalProblem& problem) {
  return [&problem](int level) {
    const IntervalProblem measured = as_measured(problem, level);
    return Choice(measured).price(level);
  };
}

// As though transfers took nothing of the steps beside them.
auto least_prices(const IntervalProblem& problem) {
  IntervalProblem free = problem;
  free.costs.write_taken = free.costs.read_taken = 0;
  if (const double step = problem.times->step_at_least(); step > 0) free.costs.forward = step;
  return [free](int level) { return Choice(free).price(level); };
}

// None is shorter than the disk has places for.
int least_level(const IntervalProblem& problem) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(Choice(problem).least()))) - 1;
}

// The best one if nothing of a transfer were hidden.
int longest_level(const IntervalProblem& problem) {
  IntervalProblem waiting = problem;
  waiting.memory.overlaps = false;
  const double step = problem.times->step();
  if (step > 0) waiting.costs.forward = step;
  return IntervalTimes::level_of(Choice(waiting).with_anchors().interval);
}

// Few steps do not show what one length takes more than another, and passes reverse the intervals
// again and again: they do with those of one length.
bool goes_by_levels(const IntervalProblem& problem) {
  constexpr std::int64_t kFew = 32;
  return problem.times != nullptr && problem.costs.passes == 0 &&
         (problem.steps == kUnknown || problem.steps >= kFew);
}

}  // namespace

AsyncPlan plan_intervals(const IntervalProblem& problem) {
  return plan_intervals(problem, kNoLevel);
}

// There is no way back from memory: neither a single fast step nor the lengths at which somebody
// looked must make it look cheap.
AsyncPlan plan_intervals(const IntervalProblem& problem, int level) {
  const IntervalProblem measured = as_measured(problem, level);
  Choice choice(measured);
  const AsyncPlan plan = choice.with_anchors(level);
  if (level == kNoLevel) return choice.unless_from_memory(plan);
  IntervalProblem sure = measured;
  if (problem.times->knows(level)) sure.costs.forward = problem.times->sure_step();
  Choice surely(sure);
  surely.with_anchors(level);
  const AsyncPlan cheaper = surely.unless_from_memory(plan);
  if (!cheaper.ends_in_ram) return cheaper;
  return plan_intervals(measured, kNoLevel).ends_in_ram ? cheaper : plan;
}

AsyncPlan plan_with_anchors(const IntervalProblem& problem, int level) {
  const IntervalProblem measured = as_measured(problem, level);
  return Choice(measured).with_anchors(level);
}

int known_level(const IntervalProblem& problem) {
  if (!goes_by_levels(problem) || problem.times->pieces() == 0) return kNoLevel;
  return problem.times->best(least_level(problem), prices(problem), kNoLevel);
}

// What the model says, which has transfers take nothing that was not measured. Where that is less
// than four steps, the middle between it and what would be best if transfers hid nothing: too long
// an interval costs what is known, and too short a one what nobody knows. A long sweep begins with
// up to eight: the first steps are slow, and make transfers look short.
int first_level(const IntervalProblem& problem) {
  if (!goes_by_levels(problem)) return kNoLevel;
  const int known = known_level(problem);
  if (known != kNoLevel) return known;
  const int longest = longest_level(problem);
  const int hidden = IntervalTimes::level_of(Choice(problem).with_anchors().interval);
  constexpr int kFour = 2, kEight = 3;
  constexpr std::int64_t kSmallPart = 75;
  const int small_part =
      problem.steps == kUnknown ? kEight : IntervalTimes::level_of(problem.steps / kSmallPart);
  const int cheap = std::min({small_part, kEight, longest + 1});
  return std::max({hidden, cheap, std::min(kFour, (hidden + longest) / 2), least_level(problem)});
}

NextLevel next_level(const IntervalProblem& problem, int now) {
  const int least = least_level(problem);
  const auto price = prices(problem);
  return {problem.times->next({least, longest_level(problem)}, price, least_prices(problem), now),
          problem.times->best(least, price, std::max(now, least))};
}

}  // namespace anadrome::schedule

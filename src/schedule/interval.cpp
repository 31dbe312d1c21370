// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/interval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/checked.h"
#include "schedule/anchored_sweep.h"
#include "schedule/mixed.h"
#include "schedule/pass_times.h"

namespace anadrome::schedule {
namespace {

// Of plans as close as this the one that reads further ahead is taken: transfers vary in time.
constexpr double kTheSame = 1.005;

constexpr std::int64_t kDeepest = 4;

// So many blocks are read ahead at most.
std::int64_t deepest(const SharedMemory& memory) {
  return memory.overlaps ? std::min(kDeepest, memory.blocks - 1) : 0;
}

// The first number in [low, high] for which `holds` is true, or `high`; once true, it stays true.
template <class Predicate>
std::int64_t first_true(std::int64_t low, std::int64_t high, const Predicate& holds) {
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

double reverse_seconds(const StepCosts& costs, std::int64_t interval, std::int64_t slots,
                       std::int64_t tape_units) {
  return static_cast<double>(advances_from_anchor(interval, slots, tape_units)) * costs.forward +
         static_cast<double>(interval) * costs.adjoint;
}

}  // namespace

uint128 advances_from_anchor(std::int64_t steps, std::int64_t slots, std::int64_t tape_units) {
  if (tape_units == 0) return extra_advances(steps, slots);
  Segment segment;
  segment.last = steps;
  segment.held = Place::kDisk;
  segment.units = slots - 1;
  return MixedPlanner(tape_units, false).advances(segment);
}

double seconds_per_step(const StepCosts& costs, std::int64_t interval, std::int64_t slots,
                        Overlap overlap, std::int64_t tape_units) {
  const double steps = static_cast<double>(interval);
  const double forward = steps * costs.forward;
  const double reverse = reverse_seconds(costs, interval, slots, tape_units);
  const double there =
      overlap.writes ? std::max(forward + costs.write_taken, costs.write) : forward + costs.write;
  const double back =
      overlap.reads ? std::max(reverse + costs.read_taken, costs.read) : reverse + costs.read;
  const double sweep = (there + back) / steps;
  if (costs.passes == 0) return sweep;
  const std::int64_t stride = best_stride(costs, interval, overlap.reads);
  const double there_again = forward_pass_seconds(costs, interval, overlap.reads, stride);
  return sweep + costs.passes / 2 * (there_again + back / steps);
}

std::int64_t best_interval(const StepCosts& costs, std::int64_t slots, Overlap overlap,
                           std::int64_t least, std::int64_t most, std::int64_t tape_units) {
  least = std::max<std::int64_t>(least, 1);
  most = std::max(least, std::min(most, kMostSteps / 2));
  std::int64_t best = least;
  double least_seconds = seconds_per_step(costs, least, slots, overlap, tape_units);
  const auto consider = [&](std::int64_t interval) {
    if (interval < least || interval > most) return;
    const double seconds = seconds_per_step(costs, interval, slots, overlap, tape_units);
    if (seconds >= least_seconds) return;
    least_seconds = seconds;
    best = interval;
  };
  // Between two neighbouring binomials E(I, s) = r I - C. Where the same transfers are hidden, the
  // cost of a step is A + B / I there, and B rises from piece to piece with f C less the transfers
  // that are not hidden: the cost falls, then it rises. So it can turn only at the places below.
  const double taken = costs.write_taken + costs.read_taken;
  for (const double exposed : {0.0, taken, costs.write, costs.read, costs.write + costs.read,
                               costs.write + costs.read_taken, costs.read + costs.write_taken}) {
    consider(first_true(least, most, [&](std::int64_t interval) {
      const uint128 here = advances_from_anchor(interval, slots, tape_units);
      const uint128 slope = advances_from_anchor(interval + 1, slots, tape_units) - here;
      const uint128 c = slope * static_cast<uint128>(interval);
      return costs.forward * (static_cast<double>(c) - static_cast<double>(here)) >= exposed;
    }));
  }
  const std::int64_t read_hidden = first_true(least, most, [&](std::int64_t interval) {
    return reverse_seconds(costs, interval, slots, tape_units) + costs.read_taken >= costs.read;
  });
  consider(read_hidden - 1);
  consider(read_hidden);
  // The published interval, as near to it as the limits allow.
  const double published =
      std::max(costs.write - costs.write_taken, 0.0) / std::max(costs.forward, 1e-300);
  const auto write_hidden = static_cast<std::int64_t>(
      std::clamp(std::ceil(published), static_cast<double>(least), static_cast<double>(most)));
  consider(write_hidden - 1);
  consider(write_hidden);
  // What passes take turns at other places, too.
  if (costs.passes > 0) {
    constexpr std::int64_t kFew = 16;
    for (std::int64_t interval = least; interval < least + kFew; ++interval) consider(interval);
    for (std::int64_t interval = least; interval < most; interval += interval / 4 + 1)
      consider(interval);
    const std::int64_t near = best / 4;
    for (std::int64_t shift = -kFew; shift <= kFew; ++shift) consider(best + shift * near / kFew);
  }
  if (tape_units == 0) return best;
  // With tapes a further step may cost less than the one before it, within a group of tapes.
  constexpr std::int64_t kNear = 32;
  const std::int64_t middle = best;
  for (std::int64_t interval = 1; interval <= kNear; ++interval) consider(interval);
  for (std::int64_t shift = -kNear; shift <= kNear; ++shift) consider(middle + shift);
  return best;
}

double seconds_per_step(const StepCosts& costs, const SharedMemory& memory, const AsyncPlan& plan) {
  return seconds_per_step(costs, plan.interval, plan.slots,
                          {memory.overlaps, memory.overlaps && plan.prefetch_depth > 0},
                          memory.tape_units);
}

AsyncPlan best_plan(const StepCosts& costs, const SharedMemory& memory, std::int64_t least,
                    std::int64_t most) {
  std::array<AsyncPlan, kDeepest + 1> plans;
  double least_seconds = std::numeric_limits<double>::infinity();
  for (std::int64_t depth = 0; depth <= deepest(memory); ++depth) {
    AsyncPlan& plan = plans[static_cast<std::size_t>(depth)];
    plan.prefetch_depth = depth;
    plan.slots = memory.slots(depth);
    plan.interval = best_interval(costs, plan.slots, {memory.overlaps, depth > 0}, least, most,
                                  memory.tape_units);
    plan.seconds_per_step = seconds_per_step(costs, memory, plan);
    least_seconds = std::min(least_seconds, plan.seconds_per_step);
  }
  std::int64_t chosen = deepest(memory);
  while (plans[static_cast<std::size_t>(chosen)].seconds_per_step > kTheSame * least_seconds)
    --chosen;
  return plans[static_cast<std::size_t>(chosen)];
}

std::int64_t largest_gap(std::int64_t interval, std::int64_t slots, std::int64_t tape_units) {
  const auto per_step = [&](std::int64_t steps) {
    return static_cast<double>(advances_from_anchor(steps, slots, tape_units)) /
           static_cast<double>(steps);
  };
  const double wanted = per_step(interval) + 1;
  const auto too_long = [&](std::int64_t steps) { return per_step(steps) > wanted; };
  std::int64_t high = interval;
  while (high < kMostSteps / 4 && !too_long(high)) high *= 2;
  return std::max(first_true(interval, high, too_long) - 1, interval);
}

AsyncPlan plan_in_ram(const StepCosts& costs, const SharedMemory& memory, std::int64_t steps,
                      bool record, std::int64_t prefetch_depth) {
  AsyncPlan plan;
  plan.interval = std::max<std::int64_t>(steps, 1);
  plan.prefetch_depth = prefetch_depth;
  plan.slots = memory.slots(prefetch_depth);
  plan.ends_in_ram = true;
  const auto again = static_cast<double>(tail_steps(steps, plan.slots, record, memory.tape_units));
  plan.seconds_per_step =
      costs.forward + costs.adjoint + again / static_cast<double>(plan.interval) * costs.forward;
  if (costs.passes > 0) {
    const double visit = costs.visit > 0 ? costs.visit : costs.forward;
    const double kept = static_cast<double>(std::min(plan.slots, plan.interval));
    const double there = visit + (1 - kept / static_cast<double>(plan.interval)) * costs.forward;
    const double back = costs.adjoint + again / static_cast<double>(plan.interval) * costs.forward;
    plan.seconds_per_step += costs.passes / 2 * (there + back);
  }
  return plan;
}

namespace {

bool same_anchors(const AsyncPlan& a, const AsyncPlan& b) {
  return a.interval == b.interval && a.prefetch_depth == b.prefetch_depth;
}

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
    for (std::int64_t depth = deepest(memory); depth >= 0; --depth) {
      other.prefetch_depth = depth;
      other.slots = memory.slots(depth);
      for (std::int64_t i = std::min(kTried, longest); i > 0; --i) {
        other.interval =
            longest <= kTried ? i : longest / kTried * i + longest % kTried * i / kTried;
        const double taken = seconds(other);
        if (taken * (depth < planned ? kTheSame : 1) >= least || !has_anchors(other)) continue;
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

AsyncPlan plan_intervals(const IntervalProblem& problem) {
  StepCosts costs = problem.costs;
  if (problem.record) costs.adjoint += costs.forward;
  const bool end_known = problem.steps != kUnknown;
  std::int64_t least = 1, most = std::int64_t{1} << 40;
  if (end_known) {
    most = std::max<std::int64_t>(problem.steps, 1);
    // The last interval ends at TURN, where no anchor is put.
    const std::int64_t rest = problem.steps - problem.newest_anchor;
    const std::int64_t intervals = std::min(problem.anchors_left, rest) + 1;
    if (problem.anchors_left > 0) least = ceil_divide(rest, intervals);
  }
  AsyncPlan plan = best_plan(costs, problem.memory, least, most);
  // Not every tremor of a measurement is worth a change. What follows from the places is no
  // tremor: intervals that are as even as can be run the fewest steps again.
  constexpr double kWorthwhile = 0.985, kSlower = 0.97, kNear = 0.8;
  plan.fills_disk = least > 1 && plan.interval == least;
  const std::int64_t rest = problem.steps - problem.newest_anchor;
  const bool counts_ends = end_known && rest > 0 && costs.passes == 0 && !problem.all_anchors &&
                           problem.may_end_in_ram && (plan.fills_disk || is_short(problem, plan));
  const Rest left(problem);
  const auto price = [&](const AsyncPlan& other) {
    return counts_ends ? left.per_step(other) : seconds_per_step(costs, problem.memory, other);
  };
  if (counts_ends) {
    const std::int64_t longest = plan.fills_disk ? plan.interval : 2 * plan.interval;
    plan = left.best(plan, std::min(longest, rest));
  }
  const auto turn_to = [&](const AsyncPlan& other) {
    plan = other;  // with this memory and these costs
    plan.slots = problem.memory.slots(plan.prefetch_depth);
    plan.seconds_per_step = price(plan);
  };
  const bool can_stay = problem.may_stay && !plan.fills_disk && problem.now.interval >= least;
  if (can_stay && plan.seconds_per_step > kWorthwhile * price(problem.now)) turn_to(problem.now);
  const SweepsTook took = costs.passes > 0 ? SweepsTook{} : problem.took;  // of sweeps alone
  const SweepsTook::Sweep& best = took.fastest();
  // No model is as good as sweeps that were measured. In a short one the model has few times to go
  // by, which may all be those of a slow moment: no plan is tried that it holds for slower, and
  // what the fastest took is its price.
  if (best.seconds > 0 && best.plan.interval >= least && !plan.fills_disk) {
    const Rest whole(whole_sweep(problem));
    double other = took.with(plan);
    if (other == 0 && counts_ends) other = whole.seconds(plan);
    if (kSlower * other > best.seconds) turn_to(best.plan);
    if (counts_ends && same_anchors(plan, best.plan))
      plan.seconds_per_step *= std::min(1.0, best.seconds / whole.seconds(plan));
  }
  if (!end_known || !problem.may_end_in_ram) return plan;
  const auto from_memory = [&](std::int64_t depth) {
    AsyncPlan in_ram = plan_in_ram(costs, problem.memory, rest, problem.record, depth);
    if (counts_ends) in_ram.seconds_per_step = price(in_ram);
    return in_ram;
  };
  AsyncPlan in_ram = from_memory(0);
  if (problem.anchors_below > 0 && plan.prefetch_depth > 0) {  // or each of them is waited for
    if (!counts_ends && rest > 0)
      in_ram.seconds_per_step +=
          (left.below(in_ram) - left.below(plan)) / static_cast<double>(rest);
    const AsyncPlan reading_ahead = from_memory(plan.prefetch_depth);
    if (reading_ahead.seconds_per_step < in_ram.seconds_per_step) in_ram = reading_ahead;
  }
  const bool begins = problem.newest_anchor == 0 && problem.anchors_below == 0;
  const double took_in_ram = begins ? took.in_ram() : 0;
  if (took_in_ram > 0 && best.seconds > 0) {
    in_ram.seconds_per_step = plan.seconds_per_step * took_in_ram / best.seconds;
  } else if (took_in_ram > 0 && in_ram.seconds_per_step > kNear * plan.seconds_per_step) {
    return plan;  // once, to see
  }
  if (counts_ends && !left.has_anchors(plan)) return in_ram;
  const bool stays = problem.may_stay && problem.now.interval > 0;
  const double limit = (stays ? kWorthwhile : 1) * plan.seconds_per_step;
  return in_ram.seconds_per_step < limit ? in_ram : plan;
}

uint128 tail_steps(std::int64_t steps, std::int64_t slots, bool record, std::int64_t tape_units) {
  if (tape_units > 0) return advances_from_anchor(steps, slots, tape_units);
  if (!record) return extra_advances(steps + 1, slots) - static_cast<uint128>(steps);
  return steps == 0 ? 0 : extra_advances(steps, slots) - static_cast<uint128>(steps - 1);
}

std::int64_t tail_advances(std::int64_t steps, std::int64_t slots, bool record,
                           std::int64_t tape_units) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const uint128 advances = tail_steps(steps, slots, record, tape_units);
  return advances > static_cast<uint128>(kMost) ? kMost : static_cast<std::int64_t>(advances);
}

std::int64_t longest_tail(std::int64_t interval, std::int64_t slots, bool record,
                          std::int64_t tape_units) {
  uint128 per_interval = advances_from_anchor(interval, slots, tape_units);
  // The steps before an anchor are recorded when they are reversed, after they ran once.
  if (tape_units > 0) per_interval += static_cast<uint128>(interval);
  const auto worth_an_anchor = [&](std::int64_t steps) {
    return tail_steps(steps, slots, record, tape_units) >
           per_interval + tail_steps(steps - interval, slots, record, tape_units);
  };
  // The marginal cost of a longer tail never falls, so the answer can be bisected.
  std::int64_t low = interval, high = interval;
  while (high < kMostSteps / 4 && !worth_an_anchor(high)) {
    low = high;
    high *= 2;
  }
  const std::int64_t first = first_true(low, high, worth_an_anchor);
  return worth_an_anchor(first) ? std::max(first - 1, interval) : first;
}

}  // namespace anadrome::schedule

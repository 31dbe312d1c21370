// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/anchored/interval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "schedule/passes/pass_times.h"
#include "schedule/stack/mixed.h"

namespace anadrome::schedule {
namespace {

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
  std::array<AsyncPlan, SharedMemory::kDeepest + 1> plans;
  double least_seconds = std::numeric_limits<double>::infinity();
  for (std::int64_t depth = 0; depth <= memory.deepest(); ++depth) {
    AsyncPlan& plan = plans[static_cast<std::size_t>(depth)];
    plan.prefetch_depth = depth;
    plan.slots = memory.slots(depth);
    plan.interval = best_interval(costs, plan.slots, {memory.overlaps, depth > 0}, least, most,
                                  memory.tape_units);
    plan.seconds_per_step = seconds_per_step(costs, memory, plan);
    least_seconds = std::min(least_seconds, plan.seconds_per_step);
  }
  std::int64_t chosen = memory.deepest();
  while (plans[static_cast<std::size_t>(chosen)].seconds_per_step > kAlike * least_seconds)
    --chosen;
  return plans[static_cast<std::size_t>(chosen)];
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

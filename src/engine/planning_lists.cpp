// Planning, the part of schedules that are lists: each transfer has its place between the steps.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "engine/planning.h"
#include "schedule/offloaded_plan.h"

namespace anadrome::engine {
namespace {

// A plan rests on what a transfer takes, in steps.
std::array<double, 2> in_steps(const schedule::OverlapTimes& times) {
  return {times.write / times.forward, times.read / times.forward};
}

}  // namespace

bool times_hold(const schedule::OverlapTimes& planned, const schedule::OverlapTimes& measured) {
  constexpr double kHolds = 1.25;
  const auto before = in_steps(planned), now = in_steps(measured);
  const auto holds = [&](std::size_t i) {
    return std::max(before[i], now[i]) <= kHolds * std::min(before[i], now[i]) ||
           std::max(before[i], now[i]) < 1;  // hidden behind any step
  };
  return holds(0) && holds(1);
}

schedule::ListOptions Planning::list_options(const SweepPlan& plan) const {
  schedule::ListOptions options;
  options.steps = plan.steps;
  options.slots = plan.memory.checkpoint_slots;
  options.record = plan.record;
  options.may_search = schedule::searches_thoroughly(plan.budget);
  if (plan.stack) {
    options.slots = plan.stack->units;
    options.units = plan.stack->state_units;
  }
  options.most_on_disk = storage_.most_blocks(plan.memory);
  if (options.most_on_disk == 0) storage_.throw_too_small();
  return options;
}

// ---- schedule=offload ----

// In whole ticks, so that all ranks reckon alike; what was given may be in any unit.
schedule::OffloadChain Planning::offload_chain(const SweepPlan& plan) const {
  const schedule::StepCosts agreed = costs(plan);
  const std::vector<double>&forward = measured_.step_costs().values(),
        &adjoint = measured_.adjoint_costs().values();
  const auto steps = static_cast<std::int64_t>(forward.size());
  double sum = 0, largest = std::max({agreed.write, agreed.read, agreed.forward});
  for (const double cost : forward) sum += cost;
  const double scale = sum > 0 ? agreed.forward * static_cast<double>(steps) / sum : 0;
  for (const double cost : forward) largest = std::max(largest, cost * scale);
  for (const double cost : adjoint) largest = std::max(largest, cost);
  const auto ticks = [largest](double seconds) {
    return std::max<std::int64_t>(std::llround(seconds / largest * 0x1p20), 1);
  };
  schedule::OffloadChain chain;
  for (std::size_t k = 0; k < forward.size(); ++k) {
    const double record = plan.record ? forward[k] * scale : 0;
    chain.forward.push_back(ticks(forward[k] * scale));
    chain.adjoint.push_back(ticks(adjoint[k] + record));
  }
  if (plan.record) {
    chain.forward.pop_back();
  } else {
    chain.adjoint.push_back(0);  // TURN
  }
  const std::size_t states = chain.adjoint.size();
  chain.state_units.assign(states, 1);
  chain.write.assign(states, ticks(agreed.write));
  chain.read.assign(states, ticks(agreed.read));
  if (!plan.stack) return chain;
  chain.state_units = plan.stack->state_units;
  const auto full = static_cast<double>(std::max<std::int64_t>(plan.memory.largest_state_bytes, 1));
  for (std::size_t k = 0; k < states; ++k) {
    const auto bytes = static_cast<double>(chain.state_units[k] * plan.stack->unit_bytes);
    const double part = std::min(bytes / full, 1.0);
    chain.write[k] = ticks(agreed.write * part);
    chain.read[k] = ticks(agreed.read * part);
  }
  return chain;
}

// Planning is to take a few percent of the sweep.
std::int64_t Planning::most_offload_ops(const SweepPlan& plan) const {
  constexpr double kShare = 0.03, kSecondsPerOp = 15e-9;
  constexpr std::int64_t kFewest = 200'000, kMost = 6'000'000;
  const double forward = costs(plan).forward * static_cast<double>(plan.steps);
  const std::vector<double>& adjoint = measured_.adjoint_costs().values();
  const double sweep = std::accumulate(adjoint.begin(), adjoint.end(), forward);
  const double ops = std::min(sweep * kShare / kSecondsPerOp, static_cast<double>(kMost));
  return std::max(static_cast<std::int64_t>(ops), kFewest);
}

bool Planning::still_holds(const SweepPlan& plan, const OffloadPlanned& planned,
                           std::int64_t memory) const {
  return planned.memory == memory && planned.tape == plan.record &&
         planned.forward == measured_.step_costs().values() &&
         planned.adjoint == measured_.adjoint_costs().values() &&
         (!plan.stack || planned.units == plan.stack->state_units) &&
         planned.units.empty() == !plan.stack && times_hold(planned.times, overlap_times(plan));
}

// False: costs are not known yet, or the disk does not hold the plan's states. Ranks agree on the
// times, and on what was measured of the steps: all of them make a new plan, or none.
bool Planning::plan_offload(SweepPlan& plan) {
  if (!plan.schedule->needs.each_step.costs || !measured_.step_costs().known() ||
      !measured_.adjoint_costs().known()) {
    return false;
  }
  const std::int64_t memory = plan.stack ? plan.stack->units : plan.memory.checkpoint_slots;
  if (!offload_planned_ || !still_holds(plan, *offload_planned_, memory)) {
    OffloadPlanned made;
    made.forward = measured_.step_costs().values();
    made.adjoint = measured_.adjoint_costs().values();
    if (plan.stack) made.units = plan.stack->state_units;
    made.memory = memory;
    made.tape = plan.record;
    made.times = overlap_times(plan);
    made.plan = schedule::plan_offloaded(offload_chain(plan), memory, most_offload_ops(plan));
    offload_planned_ = std::move(made);
  }
  if (!plan.list->adopt(offload_planned_->plan)) return false;
  plan.planned_times = offload_planned_->times;
  return true;
}

void Planning::plan_list(SweepPlan& plan) {
  plan.planned_times = overlap_times(plan);
  if (!plan_offload(plan)) plan.list->plan(plan.planned_times);
}

}  // namespace anadrome::engine

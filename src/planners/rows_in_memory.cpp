// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/index.h"
#include "planners/memory/least_memory.h"
#include "planners/memory/uneven.h"
#include "planners/rows.h"

namespace anadrome::schedule {
namespace {

SweepPtr in_divided_memory(StreamProblem& problem) {
  StackOptions options = stack_options(problem);
  options.units = problem.divided->units;
  return played(options, std::move(problem.divided->planner));
}

// In whole ticks, 2^20 for the largest; at least one, so that no advance is free and plans have no
// needless ones.
std::vector<std::int64_t> ticks_of(const std::vector<double>& costs) {
  const double largest = *std::max_element(costs.begin(), costs.end());
  const double scale = largest > 0 ? 0x1p20 / largest : 0;
  std::vector<std::int64_t> ticks;
  ticks.reserve(costs.size());
  for (const double cost : costs) {
    ticks.push_back(std::max<std::int64_t>(std::llround(cost * scale), 1));
  }
  return ticks;
}

UnevenSteps uneven_steps(const StreamProblem& problem, std::int64_t bytes) {
  UnevenSteps steps;
  steps.costs = ticks_of(*problem.tables.costs);
  steps.bytes = bytes;
  steps.turn_is_a_step = !problem.sizing.record;
  return steps;
}

}  // namespace

// ---- steps and states that differ ----

SweepPtr make_uneven(StreamProblem& problem) {
  if (problem.divided != nullptr) return in_divided_memory(problem);
  if (problem.tables.costs == nullptr) return in_slots(problem, false);  // there is no step
  StackOptions options = stack_options(problem);
  auto planner = std::make_unique<UnevenPlanner>(uneven_steps(problem, options.units));
  options.units = planner->units();
  return played(options, std::move(planner));
}

void divide_for_uneven(const StreamProblem& problem, std::vector<std::int64_t> bytes,
                       std::int64_t memory, DividedMemory& divided) {
  UnevenSteps steps = uneven_steps(problem, memory);
  steps.state_bytes = std::move(bytes);
  auto planner = std::make_unique<UnevenPlanner>(steps);
  divided.units = planner->units();
  divided.unit_bytes = planner->unit_bytes();
  divided.planner = std::move(planner);
}

SweepPtr make_least_memory(StreamProblem& problem) {
  if (problem.divided != nullptr) return in_divided_memory(problem);
  return played(stack_options(problem), least_memory_of_equal_states(problem.sizing.chain()));
}

// The state at the end of the chain is live when it is needed, and takes nothing.
void divide_for_least_memory(const StreamProblem& problem, std::vector<std::int64_t> bytes,
                             std::int64_t, DividedMemory& divided) {
  ChainSizes sizes;
  sizes.bytes = std::move(bytes);
  sizes.bytes.resize(size(problem.sizing.chain() + 1), 0);
  LeastMemory least = least_memory(sizes, Accounting::kPlayed);
  divided.units = least.peak;
  divided.planner =
      std::make_unique<LeastMemoryPlanner>(std::move(sizes.bytes), std::move(least.kept));
}

// ---- branches ----

SweepPtr make_join(StreamProblem& problem) {
  return checked(std::make_unique<BranchSweep>(problem.branches), rules_of(problem.branches));
}

}  // namespace anadrome::schedule

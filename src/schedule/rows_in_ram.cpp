// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/checked.h"
#include "schedule/least_memory.h"
#include "schedule/mixed.h"
#include "schedule/online_planner.h"
#include "schedule/plain_planners.h"
#include "schedule/rows.h"
#include "schedule/uneven.h"

namespace anadrome::schedule {
namespace {

StackOptions stack_options(const Problem& problem) {
  StackOptions options;
  options.steps = problem.sizing.steps;
  options.units = problem.slots;
  options.record = problem.sizing.record;
  return options;
}

// States alike, each in a slot. `keep_every`: whatever the number of steps will be.
SweepPtr in_slots(const Problem& problem, bool keep_every) {
  StackOptions options = stack_options(problem);
  options.x_0 = Place::kRam;
  const bool end_known = problem.sizing.end_known();
  options.retain = end_known ? options.units >= options.steps : keep_every;
  if (problem.in_the_abstract) options.retain = false;
  options.leaves_states = problem.leaves_states;
  if (end_known) return played(options, std::make_unique<RevolvePlanner>());
  return played(options, std::make_unique<OnlinePlanner>(
                             OnlineOptions{.slots = options.units, .keep_every = keep_every}));
}

SweepPtr in_divided_memory(Problem& problem) {
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

// No rank has more slots than the one with the largest state, which is no smaller than the mean.
std::int64_t uneven_table_bytes(const Sizing& sizing) {
  constexpr std::int64_t kMost = std::int64_t{64} << 20;
  std::optional<std::int64_t> most_slots;
  if (!sizing.sizes_vary) {
    most_slots = sizing.memory / std::max<std::int64_t>(sizing.state_bytes, 1);
  }
  return std::min({kMost, sizing.memory / 8, most_uneven_table_bytes(sizing.chain(), most_slots)});
}

UnevenSteps uneven_steps(const Problem& problem, std::int64_t bytes) {
  UnevenSteps steps;
  steps.costs = ticks_of(*problem.tables.costs);
  steps.bytes = bytes;
  steps.turn_is_a_step = !problem.sizing.record;
  steps.table_bytes = uneven_table_bytes(problem.sizing);
  return steps;
}

}  // namespace

SweepPtr played(const StackOptions& options, std::unique_ptr<Planner> planner) {
  return checked(std::make_unique<StackSweep>(options, std::move(planner)), options);
}

// ---- states alike ----

SweepPtr make_store_all(Problem& problem) {
  if (problem.shared.tape_units == 0) return in_slots(problem, true);
  StackOptions options = stack_options(problem);
  options.tape_units = problem.shared.tape_units;
  options.retain = !problem.in_the_abstract;
  return played(options, std::make_unique<StoreTapesPlanner>());
}

SweepPtr make_revolve(Problem& problem) { return in_slots(problem, false); }

SweepPtr make_mixed(Problem& problem) {
  const std::int64_t tape_units = problem.shared.tape_units;
  if (tape_units == 0) return in_slots(problem, false);
  StackOptions options = stack_options(problem);
  options.tape_units = tape_units;
  options.tape_restarts = problem.tape_restarts;
  return played(options, std::make_unique<MixedPlanner>(tape_units, problem.tape_restarts));
}

namespace {

double seconds_of(const Problem& problem, double advances) {
  return advances * problem.costs.forward +
         static_cast<double>(problem.sizing.steps) * problem.costs.adjoint;
}

}  // namespace

double forecast_store_all(const Problem& problem) {
  const bool tapes_are_not_kept = problem.sizing.record && problem.shared.tape_units == 0;
  if (tapes_are_not_kept) return forecast_revolve(problem);
  return seconds_of(problem, static_cast<double>(problem.sizing.steps));
}

double forecast_revolve(const Problem& problem) {
  const double recorded = problem.sizing.record ? static_cast<double>(problem.sizing.steps) : 0;
  return seconds_of(problem, recorded + static_cast<double>(
                                            extra_advances(problem.sizing.chain(), problem.slots)));
}

double forecast_mixed(const Problem& problem) {
  const std::int64_t tape_units = problem.shared.tape_units, steps = problem.sizing.steps;
  if (tape_units == 0) return forecast_revolve(problem);
  return seconds_of(
      problem, static_cast<double>(steps) +
                   static_cast<double>(mixed_advances(steps, problem.slots, tape_units, false)));
}

// ---- steps and states that differ ----

SweepPtr make_uneven(Problem& problem) {
  if (problem.divided != nullptr) return in_divided_memory(problem);
  if (problem.tables.costs == nullptr) return in_slots(problem, false);  // there is no step
  StackOptions options = stack_options(problem);
  auto planner = std::make_unique<UnevenPlanner>(uneven_steps(problem, options.units));
  options.units = planner->units();
  return played(options, std::move(planner));
}

void divide_for_uneven(const Problem& problem, std::vector<std::int64_t> bytes, std::int64_t memory,
                       DividedMemory& divided) {
  UnevenSteps steps = uneven_steps(problem, memory);
  steps.state_bytes = std::move(bytes);
  auto planner = std::make_unique<UnevenPlanner>(steps);
  divided.units = planner->units();
  divided.unit_bytes = planner->unit_bytes();
  divided.planner = std::move(planner);
}

// Costs, sums of them and the plan, and what planning takes.
std::int64_t uneven_bytes(const Sizing& sizing) {
  constexpr std::int64_t kUneven = 256;
  return checked_add(checked_multiply(sizing.steps + 2, kUneven + bytes_of_a_size(sizing)),
                     uneven_table_bytes(sizing));
}

SweepPtr make_least_memory(Problem& problem) {
  if (problem.divided != nullptr) return in_divided_memory(problem);
  return played(stack_options(problem), least_memory_of_equal_states(problem.sizing.chain()));
}

// The state at the end of the chain is live when it is needed, and takes nothing.
void divide_for_least_memory(const Problem& problem, std::vector<std::int64_t> bytes, std::int64_t,
                             DividedMemory& divided) {
  ChainSizes sizes;
  sizes.bytes = std::move(bytes);
  sizes.bytes.resize(static_cast<std::size_t>(problem.sizing.chain() + 1), 0);
  LeastMemory least = least_memory(sizes, Accounting::kPlayed);
  divided.units = least.peak;
  divided.planner =
      std::make_unique<LeastMemoryPlanner>(std::move(sizes.bytes), std::move(least.kept));
}

std::int64_t least_memory_bytes(const Sizing& sizing) {
  return checked_multiply(sizing.steps + 2, kLeastMemoryBytesPerStep + bytes_of_a_size(sizing));
}

// ---- branches ----

SweepPtr make_join(Problem& problem) {
  return checked(std::make_unique<BranchSweep>(problem.branches), problem.branches);
}

}  // namespace anadrome::schedule

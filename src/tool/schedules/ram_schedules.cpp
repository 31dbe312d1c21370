// SPDX-License-Identifier: BSD-2-Clause
// The schedules that keep nothing on disk.
#include <algorithm>
#include <memory>
#include <string>

#include "base/byte_size.h"
#include "base/checked.h"
#include "base/error.h"
#include "planners/memory/least_memory.h"
#include "planners/memory/uneven.h"
#include "schedule/stack/mixed.h"
#include "schedule/stack/plain_planners.h"
#include "tool/schedules/action_sources.h"
#include "tool/schedules/schedules.h"

namespace anadrome::tool {
namespace {

// ---- store_all, revolve ----

Counts count_revolve(const Problem& problem) {
  return {.advances = schedule::extra_advances(problem.steps, problem.slots)};
}

ActionSource revolve_actions(const Problem& problem) {
  return nested_actions(problem, std::make_unique<schedule::RevolvePlanner>());
}

ActionSource store_all_actions(const Problem& problem) {
  if (problem.tape_slots == 0) return revolve_actions(problem);
  return nested_actions(problem, std::make_unique<schedule::StoreTapesPlanner>());
}

Counts count_store_all(const Problem& problem) {
  // x_0 to x_{n-2}; x_{n-1} is live when it is needed.
  const std::int64_t needed = std::max<std::int64_t>(problem.steps - 1, 1);
  if (problem.slots < needed) {
    throw Error(ANADROME_ERR_ARGUMENT, "store_all: " + std::to_string(problem.steps) +
                                           " steps need --slots " + std::to_string(needed));
  }
  return count_revolve(problem);
}

// Every tape, and x_n for another adjoint sweep: no step is run again. Otherwise every state.
Estimate estimate_store_all(const WhatIf& question, const RunProblem& run) {
  const std::int64_t tape_slots = run.tape_slots(), steps = question.steps;
  Estimate estimate = row_of("store_all", question);
  estimate.sweep.slots = tape_slots > 0 ? steps * tape_slots + 1 : steps;
  estimate.ram_bytes = run.bytes_of_slots(estimate.sweep.slots);
  estimate.sweep.tape_slots = tape_slots;
  if (tape_slots == 0) estimate.counts = count_revolve(estimate.sweep);
  price(estimate, question, 0);
  estimate.remark = tape_slots > 0 ? "every tape" : "every state";
  return estimate;
}

Estimate estimate_revolve(const WhatIf& question, const RunProblem& run) {
  Estimate estimate = row_of("revolve", question);
  estimate.sweep.slots = std::min(run.problem().slots, question.steps);
  estimate.ram_bytes = run.bytes_of_slots(estimate.sweep.slots);
  estimate.counts = count_revolve(estimate.sweep);
  price(estimate, question, 0);
  estimate.remark = std::to_string(estimate.sweep.slots) + " states in RAM";
  return estimate;
}

// ---- mixed ----

// A tape as large as a state, if nothing else is said.
Problem with_tapes(const Problem& problem) {
  Problem taped = problem;
  taped.record = true;
  taped.tape_slots = std::max<std::int64_t>(problem.tape_slots, 1);
  return taped;
}

Counts count_mixed(const Problem& problem) {
  const Problem taped = with_tapes(problem);
  return {.advances = schedule::mixed_advances(taped.steps, taped.slots, taped.tape_slots,
                                               taped.tape_restarts),
          .recorded = wide(taped.steps)};
}

ActionSource mixed_actions(const Problem& problem) {
  const Problem taped = with_tapes(problem);
  return nested_actions(
      taped, std::make_unique<schedule::MixedPlanner>(taped.tape_slots, taped.tape_restarts));
}

Estimate estimate_mixed(const WhatIf& question, const RunProblem& run) {
  Estimate estimate = row_of("mixed", question);
  Problem& sweep = estimate.sweep;
  sweep.tape_slots = ceil_divide(question.tape_bytes, question.state_bytes);
  sweep.tape_restarts = question.tape_restarts;
  // Every tape but the last one: more is not used.
  sweep.slots = slots_within(run.problem().slots,
                             std::max<uint128>(wide(question.steps), 1) * wide(sweep.tape_slots));
  estimate.counts = count_mixed(sweep);
  estimate.ram_bytes = run.bytes_of_slots(sweep.slots);
  price(estimate, question, 0);
  estimate.remark = "room for " + std::to_string(sweep.slots) +
                    " states in RAM, a tape in the room of " + std::to_string(sweep.tape_slots);
  return estimate;
}

// ---- least_memory ----

ActionSource least_memory_actions(const Problem& problem) {
  return nested_actions(problem, schedule::least_memory_of_equal_states(problem.steps));
}

Estimate estimate_least_memory(const WhatIf& question, const StreamRoom& room) {
  Estimate estimate = row_of("least_memory", question);
  Problem& sweep = estimate.sweep;
  sweep.slots = schedule::least_slots(sweep.steps);
  if (sweep.slots > room.slots) {
    return refused("least_memory", "holds " + std::to_string(sweep.slots) + " states at a time");
  }
  estimate.counts.advances =
      advances_of(*schedule::least_memory_of_equal_states(sweep.steps), sweep.steps, sweep.slots);
  estimate.ram_bytes = room.bytes_of(sweep.slots);
  price(estimate, question, 0);
  estimate.remark =
      counted(sweep.slots, "state") + " in RAM: the fewest for no step more than twice";
  return estimate;
}

// ---- uneven ----

std::unique_ptr<schedule::UnevenPlanner> uneven_planner(const Problem& problem) {
  schedule::UnevenSteps steps;
  const int digits = problem.digits();
  for (const Decimal& cost : problem.step_costs) steps.costs.push_back(cost.ticks(digits));
  steps.state_bytes = problem.state_bytes;
  steps.bytes = problem.slots;
  return std::make_unique<schedule::UnevenPlanner>(steps);
}

Counts count_uneven(const Problem& problem) {
  const auto planner = uneven_planner(problem);
  return {.advances = advances_of(*planner, problem.steps, planner->units()),
          .uneven = true,
          .advance_cost = wide(planner->cost())};
}

ActionSource uneven_actions(const Problem& problem) {
  auto planner = uneven_planner(problem);
  Problem in_units = problem;
  in_units.slots = planner->units();
  return nested_actions(in_units, std::move(planner));
}

// ---- online ----

// Known only by being played, a step at a time.
Counts count_online(const Problem& problem) {
  // A step takes as long as there are slots to be weighed against each other.
  constexpr std::int64_t kMostWeighed = 500'000'000, kFewSlots = 512, kAtLeast = 16;
  const std::int64_t slots = problem.slots > kFewSlots ? kAtLeast : problem.slots;
  const std::int64_t most = kMostWeighed / std::max(slots, kAtLeast);
  if (problem.steps > most) {
    throw Error(ANADROME_ERR_ARGUMENT, "online is played to be counted: with so many slots up to " +
                                           std::to_string(most) + " --steps");
  }
  return counts_of(unknown_end_actions(problem));
}

}  // namespace

Schedule store_all_schedule() {
  return {"store_all", false, false, count_store_all, store_all_actions, estimate_store_all};
}

Schedule revolve_schedule() {
  return {"revolve", false, false, count_revolve, revolve_actions, estimate_revolve};
}

Schedule mixed_schedule() {
  return {"mixed", false, true, count_mixed, mixed_actions, estimate_mixed};
}

Schedule least_memory_schedule() {
  return {"least_memory",       false, false, nullptr, least_memory_actions, nullptr,
          estimate_least_memory};
}

Schedule uneven_schedule() {
  return {"uneven", false, false, count_uneven, uneven_actions, nullptr};
}

Schedule online_schedule() {
  return {"online", false, false, count_online, unknown_end_actions, nullptr};
}

}  // namespace anadrome::tool

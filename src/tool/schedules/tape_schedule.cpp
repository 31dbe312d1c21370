// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/schedules.h"

#include <algorithm>

#include "base/checked.h"
#include "schedule/stack/mixed.h"
#include "tool/schedules/action_sources.h"

namespace anadrome::tool {
namespace {

// A tape as large as a state, if nothing else is said.
Problem with_tapes(const Problem& problem) {
  Problem taped = problem;
  taped.record = true;
  taped.tape_slots = std::max<std::int64_t>(problem.tape_slots, 1);
  return taped;
}

Counts count_mixed(const Problem& problem) {
  const Problem taped = with_tapes(problem);
  Counts counts;
  counts.advances =
      schedule::mixed_advances(taped.steps, taped.slots, taped.tape_slots, taped.tape_restarts);
  counts.recorded = wide(taped.steps);
  return counts;
}

ActionSource mixed_actions(const Problem& problem) {
  const Problem taped = with_tapes(problem);
  return nested_actions(
      taped, std::make_unique<schedule::MixedPlanner>(taped.tape_slots, taped.tape_restarts));
}

Estimate estimate_mixed(const WhatIf& question, const RunProblem& run) {
  Estimate estimate;
  estimate.schedule = "mixed";
  estimate.sweep = run_of(question);
  estimate.sweep.slots = run.problem().slots;
  estimate.sweep.tape_slots = ceil_divide(question.tape_bytes, question.state_bytes);
  estimate.sweep.tape_restarts = question.tape_restarts;
  // Every tape but the last one: more is not used.
  const uint128 most = std::max<uint128>(wide(question.steps), 1) * wide(estimate.sweep.tape_slots);
  if (wide(estimate.sweep.slots) > most) {
    estimate.sweep.slots = static_cast<std::int64_t>(most);
  }
  estimate.counts = count_mixed(estimate.sweep);
  estimate.ram_bytes = run.bytes_of_slots(estimate.sweep.slots);
  price(estimate, question, 0);
  estimate.remark = "room for " + std::to_string(estimate.sweep.slots) +
                    " states in RAM, a tape in the room of " +
                    std::to_string(estimate.sweep.tape_slots);
  return estimate;
}

}  // namespace

Schedule mixed_schedule() {
  return {"mixed",       "states and tapes in RAM, whichever saves more",
          false,         true,
          count_mixed,   mixed_actions,
          estimate_mixed};
}

}  // namespace anadrome::tool

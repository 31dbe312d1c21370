// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/schedules.h"

#include <algorithm>

#include "base/checked.h"
#include "schedule/stack/plain_planners.h"
#include "tool/schedules/action_sources.h"

namespace anadrome::tool {
namespace {

Counts count_revolve(const Problem& problem) {
  Counts counts;
  counts.advances = schedule::extra_advances(problem.steps, problem.slots);
  return counts;
}

ActionSource revolve_actions(const Problem& problem) {
  return nested_actions(problem, std::make_unique<schedule::RevolvePlanner>());
}

ActionSource store_all_actions(const Problem& problem) {
  if (problem.tape_slots == 0) return revolve_actions(problem);
  return nested_actions(problem, std::make_unique<schedule::StoreTapesPlanner>());
}

// x_0 to x_{n-2}; x_{n-1} is live when it is needed.
std::int64_t slots_for_all(const Problem& problem) {
  return std::max<std::int64_t>(problem.steps - 1, 1);
}

Counts count_store_all(const Problem& problem) {
  const std::int64_t needed = slots_for_all(problem);
  if (problem.slots < needed) {
    throw Error(ANADROME_ERR_ARGUMENT, "store_all: " + std::to_string(problem.steps) +
                                           " steps need --slots " + std::to_string(needed));
  }
  return count_revolve(problem);
}

Estimate in_ram(const char* name, const WhatIf& question, const RunProblem& run,
                std::int64_t slots) {
  Estimate estimate;
  estimate.schedule = name;
  estimate.sweep = run_of(question);
  estimate.sweep.slots = slots;
  estimate.ram_bytes = run.bytes_of_slots(slots);
  return estimate;
}

// Every tape, and x_n for another adjoint sweep: no step is run again. Otherwise every state.
Estimate estimate_store_all(const WhatIf& question, const RunProblem& run) {
  const std::int64_t tape_slots = run.tape_slots(), steps = question.steps;
  Estimate estimate =
      in_ram("store_all", question, run, tape_slots > 0 ? steps * tape_slots + 1 : steps);
  estimate.sweep.tape_slots = tape_slots;
  if (tape_slots == 0) estimate.counts = count_revolve(estimate.sweep);
  price(estimate, question, 0);
  estimate.remark = tape_slots > 0 ? "every tape" : "every state";
  return estimate;
}

Estimate estimate_revolve(const WhatIf& question, const RunProblem& run) {
  Estimate estimate =
      in_ram("revolve", question, run, std::min(run.problem().slots, question.steps));
  estimate.counts = count_revolve(estimate.sweep);
  price(estimate, question, 0);
  estimate.remark = std::to_string(estimate.sweep.slots) + " states in RAM";
  return estimate;
}

}  // namespace

Schedule store_all_schedule() {
  return {"store_all",
          "every state in RAM, or every tape",
          false,
          false,
          count_store_all,
          store_all_actions,
          estimate_store_all};
}

Schedule revolve_schedule() {
  return {"revolve",       "as many states in RAM as fit, placed by Revolve",
          false,           false,
          count_revolve,   revolve_actions,
          estimate_revolve};
}

}  // namespace anadrome::tool

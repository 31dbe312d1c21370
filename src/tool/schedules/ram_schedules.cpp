#include "tool/schedules/schedules.h"

#include <algorithm>

#include "base/byte_size.h"
#include "base/checked.h"
#include "schedule/plain_planners.h"
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

// The state of `slots` slots, as many as are used.
Estimate in_ram(const char* name, const WhatIf& question, const Blocks& blocks,
                std::int64_t slots) {
  Estimate estimate;
  estimate.schedule = name;
  estimate.sweep = run_of(question);
  estimate.sweep.slots = std::min(slots, question.steps);
  estimate.counts = count_revolve(estimate.sweep);
  estimate.ram_bytes = ceil_divide(estimate.sweep.slots, blocks.states) * blocks.bytes;
  price(estimate, question, 0);
  return estimate;
}

// Every tape, and x_n for another adjoint sweep: no step is run again.
Estimate store_tapes(const WhatIf& question, const Blocks& blocks, std::int64_t slots) {
  Estimate estimate;
  estimate.schedule = "store_all";
  estimate.sweep = run_of(question);
  estimate.sweep.slots = slots;
  estimate.sweep.tape_slots = ceil_divide(question.tape_bytes, question.state_bytes);
  estimate.ram_bytes = ceil_divide(slots, blocks.states) * blocks.bytes;
  price(estimate, question, 0);
  estimate.remark = "every tape";
  return estimate;
}

Estimate estimate_store_all(const WhatIf& question) {
  const Blocks blocks = cut_memory(question, store::DiskUse::kNone);
  const std::int64_t steps = question.steps;
  if (question.has_tape()) {
    const uint128 slots =
        1 + static_cast<uint128>(steps) *
                static_cast<uint128>(ceil_divide(question.tape_bytes, question.state_bytes));
    if (slots <= static_cast<uint128>(blocks.count) * static_cast<uint128>(blocks.states)) {
      return store_tapes(question, blocks, static_cast<std::int64_t>(slots));
    }
  }
  const std::int64_t needed = ceil_divide(steps, blocks.states);
  if (blocks.count < needed) {
    const uint128 bytes = static_cast<uint128>(needed) * static_cast<uint128>(blocks.bytes);
    return refused("store_all", "needs " + bytes_text(bytes) + " of memory per rank");
  }
  Estimate estimate = in_ram("store_all", question, blocks, steps);
  estimate.remark = "every state";
  return estimate;
}

Estimate estimate_revolve(const WhatIf& question) {
  const Blocks blocks = cut_memory(question, store::DiskUse::kNone);
  if (blocks.count < 1) {
    return refused("revolve",
                   "one state needs " + format_bytes(blocks.bytes) + " of memory per rank");
  }
  const std::int64_t most = std::min(blocks.count, schedule::kMostSteps / blocks.states);
  Estimate estimate = in_ram("revolve", question, blocks, most * blocks.states);
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

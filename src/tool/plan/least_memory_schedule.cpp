#include "tool/plan/least_memory_schedule.h"

#include <memory>
#include <utility>

#include "base/checked.h"
#include "schedule/least_memory.h"
#include "tool/plan/action_sources.h"

namespace anadrome::tool {
namespace {

// As the library has it: bytes of memory for a step, and how many steps there are at most.
constexpr std::int64_t kTableBytes = 128, kMostSteps = std::int64_t{1} << 20;

std::unique_ptr<schedule::Planner> planner_of(const Problem& problem) {
  schedule::ChainSizes sizes;
  sizes.bytes.assign(static_cast<std::size_t>(problem.steps + 1), 1);
  schedule::LeastMemory least = schedule::least_memory(sizes, schedule::Accounting::kPlayed);
  return std::make_unique<schedule::LeastMemoryPlanner>(std::move(sizes.bytes),
                                                        std::move(least.kept));
}

Counts count_least_memory(const Problem& problem) {
  schedule::Segment all;
  all.last = problem.steps;
  all.units = problem.slots;
  Counts counts;
  counts.advances = planner_of(problem)->advances(all);
  return counts;
}

ActionSource least_memory_actions(const Problem& problem) {
  return nested_actions(problem, planner_of(problem));
}

Estimate estimate_least_memory(const WhatIf& question) {
  if (question.steps > kMostSteps) return refused("least_memory", "plans at most 2^20 steps");
  Estimate estimate;
  estimate.schedule = "least_memory";
  Problem& sweep = estimate.sweep;
  sweep = run_of(question);
  sweep.slots = schedule::least_slots(sweep.steps);
  const std::int64_t table = kTableBytes * (question.steps + 2);
  const Blocks blocks = cut_memory(question, engine::DiskUse::kNone, table);
  const std::int64_t wanted = ceil_divide(sweep.slots, blocks.states);
  if (blocks.count < wanted) {
    const uint128 bytes = static_cast<uint128>(wanted) * static_cast<uint128>(blocks.bytes) +
                          static_cast<uint128>(table);
    return refused("least_memory", "needs " + bytes_text(bytes) + " of memory per rank");
  }
  estimate.counts = count_least_memory(sweep);
  estimate.ram_bytes = wanted * blocks.bytes + table;
  price(estimate, question, 0);
  estimate.remark = std::to_string(sweep.slots) + (sweep.slots == 1 ? " state" : " states") +
                    " in RAM: the fewest for no step more than twice";
  return estimate;
}

}  // namespace

Schedule least_memory_schedule() {
  return {"least_memory",
          "as few states in RAM as no step run more than twice allows",
          false,
          false,
          count_least_memory,
          least_memory_actions,
          estimate_least_memory};
}

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/schedules.h"

#include <string>

#include "planners/memory/least_memory.h"
#include "tool/schedules/action_sources.h"

namespace anadrome::tool {
namespace {

Counts count_least_memory(const Problem& problem) {
  schedule::Segment all;
  all.last = problem.steps;
  all.units = problem.slots;
  Counts counts;
  counts.advances = schedule::least_memory_of_equal_states(problem.steps)->advances(all);
  return counts;
}

ActionSource least_memory_actions(const Problem& problem) {
  return nested_actions(problem, schedule::least_memory_of_equal_states(problem.steps));
}

Estimate estimate_least_memory(const WhatIf& question, const StreamRoom& room) {
  Estimate estimate;
  estimate.schedule = "least_memory";
  Problem& sweep = estimate.sweep;
  sweep = run_of(question);
  sweep.slots = schedule::least_slots(sweep.steps);
  if (sweep.slots > room.slots()) {
    return refused("least_memory", "holds " + std::to_string(sweep.slots) + " states at a time");
  }
  estimate.counts = count_least_memory(sweep);
  estimate.ram_bytes = room.bytes_of(sweep.slots);
  price(estimate, question, 0);
  estimate.remark = std::to_string(sweep.slots) + (sweep.slots == 1 ? " state" : " states") +
                    " in RAM: the fewest for no step more than twice";
  return estimate;
}

}  // namespace

Schedule least_memory_schedule() {
  return {"least_memory", "as few states in RAM as no step run more than twice allows",
          false,          false,
          nullptr,        least_memory_actions,
          nullptr,        estimate_least_memory};
}

}  // namespace anadrome::tool

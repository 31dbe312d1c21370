// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/schedules.h"

#include <algorithm>
#include <memory>

#include "base/checked.h"
#include "planners/rows.h"
#include "planners/two_tier/double_sweep.h"
#include "tool/schedules/action_sources.h"

namespace anadrome::tool {
namespace {

schedule::DoubleSweep sweep_of(const Problem& problem) {
  return schedule::double_sweep_within(problem.steps, problem.interval,
                                       {problem.slots, problem.tape_slots});
}

// The last anchor is still in memory when it is restored.
ActionSource double_actions(const Problem& problem) {
  const schedule::DoubleSweep sweep = sweep_of(problem);
  const ActionSource next =
      nested_actions(problem, std::make_unique<schedule::DoublePlanner>(sweep));
  return [next, last = sweep.intervals - 1] {
    schedule::Action action = next();
    auto* const kept = std::get_if<schedule::Restore>(&action);
    const bool restores = kept != nullptr && kept->tier == schedule::kDiskTier;
    if (restores && kept->place == last) kept->tier = schedule::kRamTier;
    return action;
  };
}

Counts count_double(const Problem& problem) {
  const schedule::DoubleSweep sweep = sweep_of(problem);
  schedule::Segment all;
  all.last = problem.steps;
  Counts counts;
  counts.advances = schedule::DoublePlanner(sweep).advances(all);
  counts.writes = wide(sweep.intervals);
  counts.reads = counts.writes - 1;
  counts.overlapped = true;
  return counts;
}

Estimate estimate_double(const WhatIf& question, const StreamRoom& room) {
  Estimate estimate;
  estimate.schedule = "double";
  Problem& sweep = estimate.sweep;
  sweep = run_of(question);
  const std::int64_t ahead = room.slots() > 1 ? 1 : 0;
  sweep.disk_slots = std::min(room.disk_states(), schedule::kMostDoubleAnchors);
  if (question.has_tape()) {
    sweep.tape_slots = ceil_divide(question.tape_bytes, question.state_bytes);
  }
  // More than all tapes, or all states, are of no use.
  const uint128 most = wide(question.steps) * wide(std::max<std::int64_t>(sweep.tape_slots, 1)) + 1;
  sweep.slots = room.slots() - ahead;
  if (wide(sweep.slots) > most) sweep.slots = static_cast<std::int64_t>(most);
  const schedule::DoubleMemory memory = {sweep.slots, sweep.tape_slots};
  const std::int64_t least = ceil_divide(std::max<std::int64_t>(sweep.steps, 1), sweep.disk_slots);
  const std::int64_t longest = schedule::longest_double_interval(memory);
  if (least > longest) {
    return refused("double", "reverses " + std::to_string(longest) + " steps at a time, and " +
                                 std::to_string(sweep.disk_slots) +
                                 " states on disk want intervals of " + std::to_string(least));
  }
  schedule::DoubleCosts costs;
  costs.step = room.costs();
  costs.record = sweep.record;
  costs.reads_ahead = ahead > 0;
  const schedule::DoubleSweep best = schedule::best_double_sweep(sweep.steps, least, memory, costs);
  const schedule::DoubleTime time = schedule::double_time(best, costs);
  sweep.interval = best.interval;
  estimate.counts = count_double(sweep);
  price(estimate, question, best.intervals);
  estimate.seconds = time.seconds;
  estimate.waiting = time.waiting;
  estimate.disk.reads_ahead = costs.reads_ahead ? 1 : 0;
  estimate.ram_bytes = room.bytes_of(sweep.slots + ahead);
  estimate.remark = "an anchor every " + std::to_string(best.interval) + " steps, parts of " +
                    std::to_string(best.full.part) + " with all their " +
                    (sweep.record ? "tapes" : "states") +
                    (ahead > 0 ? ", one read ahead" : ", none read ahead");
  return estimate;
}

}  // namespace

Schedule double_schedule() {
  return {"double", "anchors on disk, the same loops between any two",
          true,     false,
          nullptr,  double_actions,
          nullptr,  estimate_double};
}

}  // namespace anadrome::tool

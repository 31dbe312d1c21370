// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/schedules.h"

#include <algorithm>
#include <memory>

#include "base/byte_size.h"
#include "base/checked.h"
#include "schedule/double_sweep.h"
#include "schedule/rows.h"
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
  counts.writes = static_cast<uint128>(sweep.intervals);
  counts.reads = counts.writes - 1;
  counts.overlapped = true;
  return counts;
}

Estimate estimate_double(const WhatIf& question, const RunProblem& run) {
  Estimate estimate;
  estimate.schedule = "double";
  Problem& sweep = estimate.sweep;
  sweep = run_of(question);
  const std::int64_t ahead = run.problem().read_ahead;
  sweep.disk_slots =
      std::min(run.disk_states(), schedule::most_double_anchors(run.problem().sizing));
  if (question.has_tape()) {
    sweep.tape_slots = ceil_divide(question.tape_bytes, question.state_bytes);
  }
  // More than all tapes, or all states, are of no use.
  const uint128 most = static_cast<uint128>(question.steps) *
                           static_cast<uint128>(std::max<std::int64_t>(sweep.tape_slots, 1)) +
                       1;
  sweep.slots = run.problem().slots;
  if (static_cast<uint128>(sweep.slots) > most) sweep.slots = static_cast<std::int64_t>(most);
  const schedule::DoubleMemory memory = {sweep.slots, sweep.tape_slots};
  const std::int64_t least = ceil_divide(std::max<std::int64_t>(sweep.steps, 1), sweep.disk_slots);
  const std::int64_t longest = schedule::longest_double_interval(memory);
  if (least > longest) {
    return refused("double", "reverses " + std::to_string(longest) + " steps at a time, and " +
                                 std::to_string(sweep.disk_slots) +
                                 " states on disk want intervals of " + std::to_string(least));
  }
  schedule::DoubleCosts costs;
  costs.step = run.problem().costs;
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
  estimate.ram_bytes = run.bytes_of(sweep.slots + ahead);
  estimate.remark = "an anchor every " + std::to_string(best.interval) + " steps, parts of " +
                    std::to_string(best.full.part) + " with all their " +
                    (sweep.record ? "tapes" : "states") +
                    (ahead > 0 ? ", one read ahead" : ", none read ahead");
  return estimate;
}

}  // namespace

Schedule double_schedule() {
  return {"double",       "anchors on disk, the same loops between any two",
          true,           false,
          nullptr,        double_actions,
          estimate_double};
}

}  // namespace anadrome::tool

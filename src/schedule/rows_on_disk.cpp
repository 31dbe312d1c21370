// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <memory>

#include "schedule/anchored/anchored_sweep.h"
#include "schedule/anchored/async_planner.h"
#include "schedule/rows.h"

namespace anadrome::schedule {
namespace {

std::int64_t states_on_disk(const Problem& problem) {
  const std::int64_t states = problem.shared.states_per_block, blocks = problem.blocks_on_disk;
  return blocks < kMostSteps / states ? blocks * states : kNoLimit;
}

// For passes, too, unless memory holds all states.
bool all_anchors(const Problem& problem) {
  const bool every_state = problem.sizing.end_known() && problem.slots >= problem.sizing.steps;
  return problem.all_anchors || (problem.costs.passes > 0 && !every_state);
}

}  // namespace

// Between anchors the same slots serve one interval after the other; one of them holds the anchor.
SweepPtr make_async(const Problem& problem) {
  AsyncOptions async;
  async.memory = problem.shared;
  async.prefetch_depth = problem.read_ahead;
  async.may_end_in_ram = !problem.all_anchors;
  async.waits_for_write = problem.large_states;
  AnchoredOptions& between = async.anchored;
  between.steps = problem.sizing.steps;
  between.slots = problem.slots;
  between.most_slots = std::max(async.memory.slots(0), between.slots);
  between.interval = problem.sizing.interval;
  const bool every_state = problem.sizing.end_known() && between.slots >= between.steps;
  between.all_anchors = all_anchors(problem);
  between.record = problem.sizing.record;
  between.tape_units = problem.shared.tape_units;

  StackOptions options;
  options.steps = problem.sizing.steps;
  options.record = problem.sizing.record;
  options.disk_slots = states_on_disk(problem);
  if (problem.disk_is_full) options.disk_slots = 1;
  options.anchors_stay = true;
  options.x_0 = Place::kDisk;
  options.units = between.most_slots - 1;
  options.tape_units = between.tape_units;
  options.leaves_states = problem.leaves_states;
  options.retain =
      every_state && !between.all_anchors && between.tape_units == 0 && !problem.in_the_abstract;
  return played(options, std::make_unique<AsyncPlanner>(async));
}

IntervalProblem intervals_of(const Problem& problem) {
  IntervalProblem asked;
  asked.costs = problem.costs;
  asked.memory = problem.shared;
  asked.steps = problem.sizing.steps;
  asked.anchors_left = std::max<std::int64_t>(states_on_disk(problem) - 1, 0);
  asked.record = problem.sizing.record;
  asked.may_end_in_ram = !problem.all_anchors;
  asked.interval_given = problem.sizing.interval > 0;
  asked.all_anchors = all_anchors(problem);
  asked.times = problem.interval_times;
  return asked;
}

AsyncPlan plan_of_async(const Problem& problem) {
  const IntervalProblem asked = intervals_of(problem);
  const std::int64_t steps = asked.steps;
  const bool none_again =
      tail_advances(steps, problem.slots, asked.record, asked.memory.tape_units) == 0;
  if (problem.sizing.interval > 0 && !none_again) {
    return {.interval = problem.sizing.interval,
            .prefetch_depth = problem.read_ahead,
            .slots = problem.slots};
  }
  if (asked.anchors_left > 0 && !none_again) return plan_intervals(asked, known_level(asked));
  return {.interval = std::max<std::int64_t>(steps, 1),
          .prefetch_depth = problem.read_ahead,
          .slots = problem.slots,
          .ends_in_ram = true};
}

double forecast_async(const Problem& problem) {
  return anchored_sweep(intervals_of(problem), plan_of_async(problem)).seconds;
}

namespace {

Problem of_each_step(Problem problem) {
  problem.sizing.interval = 1;
  problem.all_anchors = true;
  problem.leaves_states = false;
  return problem;
}

}  // namespace

SweepPtr make_undo(const Problem& problem) { return make_async(of_each_step(problem)); }

double forecast_undo(const Problem& problem) { return forecast_async(of_each_step(problem)); }

}  // namespace anadrome::schedule

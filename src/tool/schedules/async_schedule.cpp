// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/schedules.h"

#include <algorithm>
#include <vector>

#include "base/byte_size.h"
#include "base/checked.h"
#include "base/error.h"
#include "planners/lists/list_sweep.h"
#include "planners/lists/state_places.h"
#include "schedule/anchored/anchored_sweep.h"
#include "schedule/rows.h"
#include "tool/schedules/action_sources.h"

namespace anadrome::tool {
namespace {

struct Intervals {
  schedule::AsyncPlan plan;
  schedule::AnchoredSweep sweep;
};

// In the abstract transfers run beside the computation, and the slots are the schedule's whatever
// is read ahead.
Intervals intervals_of(const Problem& problem) {
  schedule::IntervalProblem asked;
  asked.costs.forward = problem.prices.advance.as_double();
  asked.costs.adjoint = problem.prices.adjoint.as_double();
  asked.costs.write = problem.prices.write.as_double();
  asked.costs.read = problem.prices.read.as_double();
  asked.steps = problem.steps - 1;
  asked.anchors_left = problem.disk_slots;
  Intervals intervals;
  schedule::AsyncPlan& plan = intervals.plan;
  plan.prefetch_depth = 1;
  plan.slots = problem.slots;
  plan.interval = problem.interval > 0
                      ? problem.interval
                      : schedule::best_interval(asked.costs, plan.slots, {true, true}, 1,
                                                std::max<std::int64_t>(asked.steps, 1));
  intervals.sweep = schedule::anchored_sweep(asked, plan);
  return intervals;
}

// Action by action, unless an interval is given, the disk is small, or the list would be very long.
bool is_overlapped(const Problem& problem) {
  return problem.interval == 0 && problem.disk_slots >= problem.steps &&
         problem.steps <= schedule::kMostOverlappedSteps;
}

Counts count_overlapped(const Problem& problem) {
  const schedule::OverlappedPlan plan = overlapped_plan(problem);
  Counts counts = counts_of(overlapped_actions(plan, problem.record));
  counts.overlapped = true;
  counts.makespan = plan.makespan;
  return counts;
}

Counts count_async(const Problem& problem) {
  if (is_overlapped(problem)) return count_overlapped(problem);
  const schedule::AnchoredSweep sweep = intervals_of(problem).sweep;
  // The model ends where the adjoint of the last step begins.
  return {.advances = sweep.advances,
          .writes = wide(sweep.written),
          .reads = wide(sweep.written),
          .overlapped = true,
          .makespan = sweep.seconds + problem.prices.adjoint.as_double()};
}

ActionSource async_actions(const Problem& problem) {
  if (problem.most_anchors != kNoLimit) return anchored_actions(problem);  // planned already
  if (is_overlapped(problem)) return overlapped_actions(overlapped_plan(problem), problem.record);
  const Intervals intervals = intervals_of(problem);
  Problem fixed = problem;
  fixed.interval = intervals.plan.interval;
  fixed.most_anchors = intervals.sweep.written + 1;
  return anchored_actions(fixed);
}

Estimate estimate_async(const WhatIf& question, const RunProblem& run) {
  const schedule::IntervalProblem asked = schedule::intervals_of(run.problem());
  const std::int64_t tape_units = run.tape_slots(), states = asked.memory.states_per_block;
  const schedule::AsyncPlan plan = schedule::plan_of_async(run.problem());
  const schedule::AnchoredSweep best = schedule::anchored_sweep(asked, plan);
  const std::int64_t depth = plan.prefetch_depth;

  Estimate estimate = row_of("async", question);
  estimate.sweep.slots =
      slots_within(plan.slots, wide(question.steps) * wide(std::max<std::int64_t>(tape_units, 1)));
  estimate.sweep.tape_slots = tape_units;
  estimate.sweep.interval = plan.interval;
  estimate.sweep.most_anchors = best.written + 1;
  estimate.sweep.all_anchors = asked.all_anchors;
  estimate.counts.advances = best.advances;
  estimate.counts.overlapped = true;
  estimate.newest_stay = depth * states;
  estimate.disk = {.buffers = (asked.memory.blocks - 1) * states + 1,
                   .reads_ahead = estimate.newest_stay};
  estimate.counts.writes = wide(best.written);
  estimate.counts.reads = wide(std::max<std::int64_t>(best.written - estimate.newest_stay, 0));
  price(estimate, question, best.written);
  estimate.seconds = best.seconds;
  estimate.waiting = best.waiting;
  const std::int64_t used = ceil_divide(estimate.sweep.slots - 1, states) + 1 + depth;
  estimate.ram_bytes = run.bytes_of(std::min(used, asked.memory.blocks));
  estimate.remark = "no anchor pays: all from RAM";
  if (best.written == 0) return estimate;
  const std::string apart = plan.interval == 1 ? "step" : counted(plan.interval, "step");
  estimate.remark = "an anchor every " + apart + ", " + counted(estimate.sweep.slots, "state") +
                    " in RAM, " +
                    (depth > 1   ? std::to_string(depth)
                     : depth > 0 ? "one"
                                 : "none") +
                    " read ahead";
  return estimate;
}

// Here it has no other way out.
void require_overlapped(const Problem& problem) {
  if (is_overlapped(problem) || problem.quickly) return;
  throw Error(ANADROME_ERR_ARGUMENT,
              "overlapped plans at most 10^6 steps, on a disk with room for all, and places its "
              "anchors itself; take async");
}

Counts count_plan(const Problem& problem) {
  require_overlapped(problem);
  return count_overlapped(problem);
}

// In a run a plan is searched for more thoroughly where the sweep is long.
Estimate estimate_overlapped(const WhatIf& question, const StreamRoom& room) {
  const char* const name = "overlapped";
  constexpr std::int64_t kMostCompared = 100'000;
  if (question.steps > kMostCompared) {
    Estimate estimate = refused(name, "plans of more than " + std::to_string(kMostCompared) +
                                          " steps take long; count overlapped makes them");
    estimate.planned = false;
    return estimate;
  }
  Estimate estimate = row_of(name, question);
  Problem& sweep = estimate.sweep;
  sweep.quickly = true;
  sweep.slots = std::min(room.slots, std::max<std::int64_t>(sweep.steps, 1));
  sweep.disk_slots = room.disk_states;
  sweep.prices = prices_of(question);
  const double tick = question.forward / sweep.prices.advance.as_double();
  if (question.has_tape()) sweep.prices.adjoint.value += sweep.prices.advance.value;
  const schedule::OverlappedPlan plan = overlapped_plan(sweep);
  estimate.counts = counts_of(overlapped_actions(plan, false));
  std::vector<schedule::OverlapAction> placed = plan.actions;
  estimate.counts.overlapped = true;
  price(estimate, question, schedule::number_disk_states(placed));
  const double computing = estimate.seconds - estimate.waiting;
  // TURN is the last step's adjoint, and takes no time of its own.
  estimate.seconds = plan.makespan * tick - (question.has_tape() ? 0 : question.adjoint);
  if (question.cores_busy) {
    estimate.seconds += static_cast<double>(estimate.counts.writes) * question.write_seconds() +
                        static_cast<double>(estimate.counts.reads) * question.read_seconds();
  }
  estimate.waiting = std::max(0.0, estimate.seconds - computing);
  estimate.ram_bytes = room.bytes_of(sweep.slots);
  estimate.remark = counted(sweep.slots, "state") + " in RAM, those being written or read included";
  return estimate;
}

ActionSource plan_actions(const Problem& problem) {
  require_overlapped(problem);
  return overlapped_actions(overlapped_plan(problem), problem.record);
}

}  // namespace

Schedule overlapped_schedule() {
  return {"overlapped", true, false, count_plan, plan_actions, nullptr, estimate_overlapped};
}

Schedule async_schedule() {
  return {"async", true, false, count_async, async_actions, estimate_async};
}

}  // namespace anadrome::tool

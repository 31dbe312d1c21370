// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/overlapped_start.h"

#include <algorithm>
#include <string>

#include "base/checked.h"
#include "base/error.h"
#include "schedule/overlap_interval.h"
#include "schedule/overlap_periodic.h"
#include "schedule/overlap_piece.h"

namespace anadrome::schedule {
namespace {

bool is_transfer(const OverlapAction& action) {
  return action.kind == OverlapKind::kRead || action.kind == OverlapKind::kWrite;
}

int slots_taken_by(const OverlapAction& action) {
  if (action.kind == OverlapKind::kKeep || action.kind == OverlapKind::kRead) return 1;
  return action.kind == OverlapKind::kDrop ? -1 : 0;
}

// Where x_0 can be read: no transfer follows, and no more than slots - 1 are in use from there on.
// An earlier read would keep the plan's own transfers waiting.
std::size_t place_of_read(const OverlappedPlan& plan, std::int64_t slots) {
  std::int64_t in_use = 0;
  std::size_t place = 0;
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    const bool was_full = in_use == slots;
    in_use += slots_taken_by(plan.actions[i]);
    if (was_full || in_use == slots || is_transfer(plan.actions[i])) place = i + 1;
  }
  return place;
}

void play(const OverlapAction& action, std::int64_t base, Timeline& timeline) {
  const std::int64_t first = base + action.first;
  switch (action.kind) {
    case OverlapKind::kAdvance:
      return timeline.advance(first, base + action.last);
    case OverlapKind::kKeep:
      return timeline.keep(first);
    case OverlapKind::kRestore:
      return timeline.restore(first);
    case OverlapKind::kDrop:
      return timeline.drop(first);
    case OverlapKind::kWrite:
      return timeline.write(first);
    case OverlapKind::kRead:
      return timeline.read(first);
    case OverlapKind::kAdjoint:
      return timeline.adjoint(first);
  }
}

// Steps of the states that a plan leaves in its slots.
std::vector<std::int64_t> left_in_slots(const OverlappedPlan& plan) {
  std::vector<std::int64_t> steps;
  for (const OverlapAction& action : plan.actions) {
    const int taken = slots_taken_by(action);
    if (taken > 0) steps.push_back(action.first);
    if (taken < 0) steps.erase(std::find(steps.begin(), steps.end(), action.first));
  }
  return steps;
}

OverlappedPlan begun_with(const OverlappedPlan& rest, std::int64_t steps, std::int64_t begun,
                          std::int64_t slots, const OverlapTimes& times) {
  OverlappedPlan plan;
  slots = std::min(slots, steps);
  Timeline timeline(slots, times, &plan.actions);
  timeline.keep(0);
  timeline.write(0);
  timeline.advance(0, begun);
  timeline.drop(0);
  const std::size_t read_at = place_of_read(rest, slots);
  for (std::size_t i = 0; i < rest.actions.size(); ++i) {
    if (i == read_at) timeline.read(0);
    play(rest.actions[i], begun, timeline);
  }
  for (const std::int64_t step : left_in_slots(rest)) timeline.drop(begun + step);
  if (read_at >= rest.actions.size()) timeline.read(0);
  timeline.restore(0);
  OverlapPiece piece;
  append_revolve(piece, 0, begun, slots);
  timeline.play(piece, 0, kPrevious);
  plan.makespan = timeline.now();
  return plan;
}

}  // namespace

OverlappedPlan plan_begun(std::int64_t steps, std::int64_t begun, std::int64_t slots,
                          const OverlapTimes& times, OverlapSearch search) {
  if (begun < 1 || begun >= steps) {
    throw Error(ANADROME_ERR_ARGUMENT, "a plan of " + std::to_string(steps) +
                                           " steps cannot begin at step " + std::to_string(begun));
  }
  return begun_with(plan_overlapped(steps - begun, slots, times, search), steps, begun, slots,
                    times);
}

OverlappedPlan plan_on_small_disk(std::int64_t steps, std::int64_t begun, std::int64_t slots,
                                  const OverlapTimes& times, std::int64_t most_on_disk) {
  const std::int64_t rest = steps - begun;
  const std::int64_t anchors = std::min(most_on_disk - (begun > 0 ? 1 : 0), rest);
  OverlappedPlan best;
  for (const bool read_ahead : {false, true}) {
    if (read_ahead && slots == 1) continue;
    // Without room for an anchor an interval that has all steps: Revolve.
    std::vector<std::int64_t> intervals{anchors > 0 ? ceil_divide(rest, anchors) : rest};
    if (anchors > 0) {
      for (const std::int64_t interval : periodic_intervals(rest, slots, times, read_ahead)) {
        if (interval > intervals.front()) intervals.push_back(interval);
      }
    }
    for (const std::int64_t interval : intervals) {
      const OverlappedPlan plan = periodic_plan(rest, slots, times, interval, read_ahead);
      if (best.actions.empty() || plan.makespan < best.makespan) best = plan;
    }
  }
  return begun > 0 ? begun_with(best, steps, begun, slots, times) : best;
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/action_sources.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "planners/lists/list_sweep.h"
#include "planners/lists/overlapped.h"
#include "planners/lists/state_places.h"
#include "planners/stream.h"
#include "schedule/anchored/anchored_planner.h"
#include "schedule/stack/online_planner.h"
#include "schedule/stack/stack_sweep.h"

namespace anadrome::tool {
namespace {

using schedule::Action;

// TURN as the adjoint of the last step.
void take_turn_for_adjoint(Action& action) {
  const auto* turn = std::get_if<schedule::Turn>(&action);
  if (turn != nullptr) action = schedule::Adjoint{turn->step};
}

bool is_last(const Action& action) {
  const auto* adjoint = std::get_if<schedule::Adjoint>(&action);
  return adjoint != nullptr && adjoint->step == 0;
}

const char* name_of_tier(const schedule::Kept& kept) {
  if (kept.what == schedule::What::kTape) return "tape";
  return kept.tier == schedule::kDiskTier ? "disk" : "ram";
}

}  // namespace

uint128 advances_of(schedule::Planner& planner, std::int64_t steps, std::int64_t units,
                    std::int64_t disk_slots) {
  if (steps < 2) return 0;
  return planner.advances({.last = steps, .units = units, .disk_slots = disk_slots});
}

ActionSource nested_actions(const Problem& problem, std::unique_ptr<schedule::Planner> planner) {
  schedule::StackOptions options;
  options.steps = problem.steps;
  options.units = problem.slots;
  options.disk_slots = problem.disk_slots;
  options.tape_units = problem.tape_slots;
  options.tape_restarts = problem.tape_restarts;
  options.record = problem.record;
  options.turn = false;
  const auto sweep = std::make_shared<schedule::StackSweep>(options, std::move(planner));
  return [sweep] { return sweep->next(); };
}

ActionSource anchored_actions(const Problem& problem) {
  // TURN is the adjoint of the last step of the papers' problem.
  schedule::AnchoredOptions anchored;
  anchored.record = problem.record;
  anchored.steps = problem.record ? problem.steps : problem.steps - 1;
  anchored.slots = problem.slots;
  anchored.tape_units = problem.tape_slots;
  anchored.interval = std::max<std::int64_t>(problem.interval, 1);
  anchored.all_anchors = problem.all_anchors;
  schedule::StackOptions options;
  options.steps = anchored.steps;
  options.units = problem.slots - 1;
  options.disk_slots = problem.most_anchors;
  options.tape_units = problem.tape_slots;
  options.record = problem.record;
  options.anchors_stay = true;
  options.x_0 = schedule::Place::kDisk;
  options.retain = anchored.slots >= anchored.steps && anchored.tape_units == 0;
  struct State {
    schedule::StackSweep sweep;
    std::int64_t last_anchor;  ///< its number
    bool turn_is_adjoint, done;
  };
  const auto state = std::make_shared<State>(
      State{schedule::StackSweep(options, std::make_unique<schedule::AnchoredPlanner>(anchored)),
            problem.most_anchors - 1, !options.record, false});
  return [state]() -> Action {
    if (state->done) return schedule::Done{};
    Action action = state->sweep.next();
    if (state->turn_is_adjoint) take_turn_for_adjoint(action);
    state->done = is_last(action);
    schedule::Kept* const kept = kept_of(action);
    if (kept == nullptr || kept->what == schedule::What::kTape) return action;
    if (kept->tier == schedule::kRamTier) {
      ++kept->place;  // slot 0 is the anchor's
    } else if (kept->place == state->last_anchor) {
      kept->tier = schedule::kRamTier;
      kept->place = 0;
    }
    return action;
  };
}

ActionSource unknown_end_actions(const Problem& problem) {
  schedule::StackOptions options;
  options.steps = schedule::kUnknown;
  options.units = problem.slots;
  options.x_0 = schedule::Place::kRam;
  struct State {
    schedule::StackSweep sweep;
    std::int64_t end;  ///< where TURN, the adjoint of the last step, comes as a surprise
    bool done;
  };
  const auto state = std::make_shared<State>(
      State{schedule::StackSweep(options, std::make_unique<schedule::OnlinePlanner>(
                                              schedule::OnlineOptions{.slots = problem.slots})),
            problem.steps - 1, false});
  return [state]() -> Action {
    if (state->done) return schedule::Done{};
    Action action = state->end == 0 ? schedule::Adjoint{} : state->sweep.next();
    auto* const run = std::get_if<schedule::Advance>(&action);
    if (run != nullptr && state->sweep.course().ends.has(state->end)) {
      state->sweep.finish_forward(state->end);
      run->last = state->end;
    }
    take_turn_for_adjoint(action);
    state->done = is_last(action);
    return action;
  };
}

schedule::OverlappedPlan overlapped_plan(const Problem& problem) {
  const Prices& prices = problem.prices;
  const schedule::OverlapTimes times = {prices.advance.as_double(), prices.adjoint.as_double(),
                                        prices.write.as_double(), prices.read.as_double()};
  if (!problem.quickly) return schedule::plan_overlapped(problem.steps, problem.slots, times);
  schedule::OverlappedPlan plan = schedule::plan_overlapped(problem.steps, problem.slots, times,
                                                            schedule::OverlapSearch::kQuick);
  std::vector<schedule::OverlapAction> actions = plan.actions;
  if (schedule::number_disk_states(actions) <= problem.disk_slots) return plan;
  return schedule::plan_on_small_disk(problem.steps, problem.slots, times, problem.disk_slots);
}

ActionSource overlapped_actions(schedule::OverlappedPlan plan, bool record) {
  return [actions = std::move(plan.actions), at = std::size_t{0}, recorded = false,
          record]() mutable -> Action {
    if (at == actions.size()) return schedule::Done{};
    const schedule::OverlapAction& planned = actions[at];
    recorded = record && planned.kind == schedule::OverlapKind::kAdjoint && !recorded;
    if (recorded) return schedule::Advance{planned.first, planned.first + 1, 0, true};
    ++at;
    return schedule::action_of(
        planned, {.step = planned.first, .place = planned.slot, .room = {planned.slot, 1}});
  };
}

Counts counts_of(const ActionSource& next) {
  Counts counts;
  each_action(next, schedule::Cases{[&](const schedule::Write&) { ++counts.writes; },
                                    [&](const schedule::Read&) { ++counts.reads; },
                                    [&](const schedule::Advance& run) {
                                      if (!run.record)
                                        counts.advances += wide(run.last - run.first);
                                    },
                                    [](const auto&) {}});
  return counts;
}

void write_actions(const ActionSource& next, TextOut& out, bool branches) {
  const auto begin = [&](const char* action, const char* key, std::int64_t step) -> TextOut& {
    return out.put("{\"action\": \"").put(action).put("\", \"").put(key).put("\": ").integer(step);
  };
  const auto put_copy = [&](const char* action, const schedule::Kept& kept) {
    begin(action, "step", kept.step).put(", \"tier\": \"").put(name_of_tier(kept));
    out.put("\", \"slot\": ").integer(kept.place).put("}\n");
  };
  const auto put_transfer = [&](const char* action, const schedule::Kept& kept) {
    begin(action, "step", kept.step).put(", \"slot\": ").integer(kept.place).put("}\n");
  };
  const auto end = [&](std::int64_t branch) {
    if (branches) out.put(", \"branch\": ").integer(branch);
    out.put("}\n");
  };
  each_action(
      next,
      schedule::Cases{[&](const schedule::Start& start) {
                        begin("start", "step", 0);
                        end(start.branch);
                      },
                      [&](const schedule::Advance& run) {
                        begin("advance", "first", run.first).put(", \"last\": ").integer(run.last);
                        if (run.record) out.put(", \"record\": true");
                        end(run.branch);
                      },
                      [&](const schedule::Keep& kept) { put_copy("keep", kept); },
                      [&](const schedule::Restore& kept) { put_copy("restore", kept); },
                      [&](const schedule::Drop& kept) { put_copy("drop", kept); },
                      [&](const schedule::Write& kept) { put_transfer("write", kept); },
                      [&](const schedule::Read& kept) { put_transfer("read", kept); },
                      [&](const schedule::Turn& turn) {
                        begin("turn", "step", turn.step);
                        end(turn.branch);
                      },
                      [&](const schedule::Adjoint& adjoint) {
                        begin("adjoint", "step", adjoint.step);
                        end(adjoint.branch);
                      },
                      [](const auto&) {}});
  out.flush();
}

}  // namespace anadrome::tool

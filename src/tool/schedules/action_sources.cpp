#include "tool/schedules/action_sources.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "schedule/anchored_planner.h"
#include "schedule/online_planner.h"
#include "schedule/overlap_places.h"
#include "schedule/overlapped_start.h"
#include "schedule/stack_sweep.h"

namespace anadrome::tool {
namespace {

using schedule::Action;

PlannedAction planned_step(Verb verb, std::int64_t first, std::int64_t last) {
  return {verb, Tier::kRam, false, false, first, last, -1};
}

// False: for what the caller of a run would not see.
bool translate(const Action& action, PlannedAction& planned) {
  const auto kept = [&planned](Verb verb, const schedule::Kept& place) {
    planned = planned_step(verb, place.step, place.step);
    planned.tier = place.what == schedule::What::kTape ? Tier::kTape
                   : place.tier == schedule::kDiskTier ? Tier::kDisk
                                                       : Tier::kRam;
    planned.slot = place.place;
    return true;
  };
  return std::visit(
      schedule::Cases{[&](const schedule::Advance& run) {
                        planned = planned_step(Verb::kAdvance, run.first, run.last);
                        planned.record = run.record;
                        planned.again = run.again;
                        return true;
                      },
                      [&](const schedule::Keep& place) { return kept(Verb::kKeep, place); },
                      [&](const schedule::Restore& place) { return kept(Verb::kRestore, place); },
                      [&](const schedule::Drop& place) { return kept(Verb::kDrop, place); },
                      [&](const schedule::Turn& turn) {
                        planned = planned_step(Verb::kTurn, turn.step, turn.step);
                        return true;
                      },
                      [&](const schedule::Adjoint& adjoint) {
                        planned = planned_step(Verb::kAdjoint, adjoint.step, adjoint.step + 1);
                        return true;
                      },
                      [](const auto&) { return false; }},
      action);
}

Verb verb_of(schedule::OverlapKind kind) {
  switch (kind) {
    case schedule::OverlapKind::kAdvance:
      return Verb::kAdvance;
    case schedule::OverlapKind::kKeep:
      return Verb::kKeep;
    case schedule::OverlapKind::kRestore:
      return Verb::kRestore;
    case schedule::OverlapKind::kDrop:
      return Verb::kDrop;
    case schedule::OverlapKind::kWrite:
      return Verb::kWrite;
    case schedule::OverlapKind::kRead:
      return Verb::kRead;
    case schedule::OverlapKind::kAdjoint:
      break;
  }
  return Verb::kAdjoint;
}

}  // namespace

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
  return [sweep](PlannedAction& planned) { return translate(sweep->next(), planned); };
}

ActionSource anchored_actions(const Problem& problem) {
  // TURN is the adjoint of the last step of the papers' problem.
  schedule::AnchoredOptions anchored;
  anchored.record = problem.record;
  anchored.steps = problem.record ? problem.steps : problem.steps - 1;
  anchored.slots = problem.slots;
  anchored.tape_units = problem.tape_slots;
  anchored.interval = std::max<std::int64_t>(problem.interval, 1);
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
  return [state](PlannedAction& planned) {
    if (state->done || !translate(state->sweep.next(), planned)) return false;
    if (planned.verb == Verb::kTurn && state->turn_is_adjoint) {
      planned.verb = Verb::kAdjoint;
      planned.last = planned.first + 1;
    }
    state->done = planned.verb == Verb::kAdjoint && planned.first == 0;
    if (planned.tier == Tier::kDisk && planned.slot == state->last_anchor) {
      planned.tier = Tier::kRam;
      planned.slot = 0;
    } else if (planned.tier == Tier::kRam && planned.slot >= 0) {
      ++planned.slot;  // slot 0 is the anchor's
    }
    return true;
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
  if (state->end == 0) {
    return [state](PlannedAction& planned) {
      planned = planned_step(Verb::kAdjoint, 0, 1);
      return !std::exchange(state->done, true);
    };
  }
  return [state](PlannedAction& planned) {
    if (state->done || !translate(state->sweep.next(), planned)) return false;
    if (planned.verb == Verb::kAdvance && state->sweep.may_finish(state->end)) {
      state->sweep.finish_forward(state->end);
      planned.last = state->end;
    }
    if (planned.verb == Verb::kTurn) planned.verb = Verb::kAdjoint;
    state->done = planned.verb == Verb::kAdjoint && planned.first == 0;
    return true;
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
  return schedule::plan_on_small_disk(problem.steps, 0, problem.slots, times, problem.disk_slots);
}

ActionSource overlapped_actions(const Problem& problem, double& makespan) {
  const auto plan = std::make_shared<const schedule::OverlappedPlan>(overlapped_plan(problem));
  makespan = plan->makespan;
  const auto at = std::make_shared<std::size_t>(0);
  const auto recorded = std::make_shared<bool>(false);
  return [plan, at, recorded, record = problem.record](PlannedAction& planned) {
    if (*at == plan->actions.size()) return false;
    const schedule::OverlapAction& action = plan->actions[*at];
    const bool tape_due = record && action.kind == schedule::OverlapKind::kAdjoint && !*recorded;
    *recorded = tape_due;
    if (tape_due) {
      planned = {Verb::kAdvance, Tier::kRam, true, false, action.first, action.first + 1, -1};
      return true;
    }
    ++*at;
    planned = {verb_of(action.kind), Tier::kRam,  false,      false,
               action.first,         action.last, action.slot};
    return true;
  };
}

}  // namespace anadrome::tool

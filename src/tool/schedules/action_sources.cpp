#include "tool/schedules/action_sources.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "schedule/nested.h"
#include "schedule/overlap_places.h"
#include "schedule/overlapped_start.h"
#include "schedule/sequence.h"

namespace anadrome::tool {
namespace {

using schedule::Action;
using schedule::Kind;

// False for what the caller of a run would not see: the end, and a state restored after it.
bool translate(const Action& action, PlannedAction& planned) {
  planned = {Verb::kAdvance, Tier::kRam,  action.record, action.again,
             action.first,   action.last, action.slot};
  const auto as = [&planned](Verb verb, Tier tier) {
    planned.verb = verb;
    planned.tier = tier;
    return true;
  };
  switch (action.kind) {
    case Kind::kAdvance:
      return true;
    case Kind::kKeep:
      return as(Verb::kKeep, Tier::kRam);
    case Kind::kRestore:
      return as(Verb::kRestore, Tier::kRam);
    case Kind::kDrop:
      return as(Verb::kDrop, Tier::kRam);
    case Kind::kAnchor:
      return as(Verb::kKeep, Tier::kDisk);
    case Kind::kRestoreAnchor:
      return as(Verb::kRestore, Tier::kDisk);
    case Kind::kDropAnchor:
      return as(Verb::kDrop, Tier::kDisk);
    case Kind::kKeepTape:
      return as(Verb::kKeep, Tier::kTape);
    case Kind::kRestoreTape:
      return as(Verb::kRestore, Tier::kTape);
    case Kind::kDropTape:
      return as(Verb::kDrop, Tier::kTape);
    case Kind::kTurn:
      return as(Verb::kTurn, Tier::kRam);
    case Kind::kAdjoint:
      return as(Verb::kAdjoint, Tier::kRam);
    case Kind::kWriteAnchor:
    case Kind::kReadAnchor:
    case Kind::kDecide:
    case Kind::kStart:
    case Kind::kDone:
      break;
  }
  return false;
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
  schedule::NestedOptions options;
  options.steps = problem.steps;
  options.units = problem.slots;
  options.disk_slots = problem.disk_slots;
  options.tape_units = problem.tape_slots;
  options.tape_restarts = problem.tape_restarts;
  options.record = problem.record;
  options.turn = false;
  const auto sequence = std::make_shared<schedule::Nested>(options, std::move(planner));
  return [sequence](PlannedAction& planned) { return translate(sequence->next(), planned); };
}

ActionSource anchored_actions(const Problem& problem) {
  schedule::SequenceOptions options;
  // TURN is the adjoint of the last step of the papers' problem.
  options.record = problem.record;
  options.steps = options.record ? problem.steps : problem.steps - 1;
  options.slots = problem.slots;
  options.tape_units = problem.tape_slots;
  options.anchored = true;
  options.interval = std::max<std::int64_t>(problem.interval, 1);
  options.most_anchors = problem.most_anchors;
  struct State {
    schedule::Sequence sequence;
    std::int64_t last_anchor;  ///< its number
    bool turn_is_adjoint, done;
  };
  const auto state = std::make_shared<State>(
      State{schedule::Sequence(options), problem.most_anchors - 1, !options.record, false});
  return [state](PlannedAction& planned) {
    if (state->done || !translate(state->sequence.next(), planned)) return false;
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
  schedule::SequenceOptions options;
  options.steps = schedule::kUnknown;
  options.slots = problem.slots;
  struct State {
    schedule::Sequence sequence;
    std::int64_t end;  ///< where TURN, the adjoint of the last step, comes as a surprise
    bool done;
  };
  const auto state =
      std::make_shared<State>(State{schedule::Sequence(options), problem.steps - 1, false});
  if (state->end == 0) {
    return [state](PlannedAction& planned) {
      planned = {Verb::kAdjoint, Tier::kRam, false, false, 0, 1, -1};
      return !std::exchange(state->done, true);
    };
  }
  return [state](PlannedAction& planned) {
    if (state->done || !translate(state->sequence.next(), planned)) return false;
    if (planned.verb == Verb::kAdvance && state->sequence.may_finish(state->end)) {
      state->sequence.finish_forward(state->end);
      planned.last = state->end;
    }
    if (planned.verb == Verb::kTurn) planned.verb = Verb::kAdjoint;
    state->done = planned.verb == Verb::kAdjoint && planned.first == 0;
    if (planned.tier == Tier::kDisk) {  // x_0, the only anchor
      planned.tier = Tier::kRam;
      planned.slot = 0;
    } else if (planned.slot >= 0) {
      ++planned.slot;
    }
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

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/list_sweep.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "planners/lists/overlapped.h"
#include "planners/lists/state_places.h"

namespace anadrome::schedule {
namespace {

// A state that is on disk at some time is an anchor, any other a RAM checkpoint.
Kept kept(const OverlapAction& action, const StateUnits& units) {
  const bool disk = is_disk_place(action.slot);
  return {.tier = disk ? kDiskTier : kRamTier,
          .step = action.first,
          .place = disk ? disk_number(action.slot) : action.slot,
          .room = {action.last, units.of(action.first)}};
}

// Steps of a plan: n, and TURN where it is one of them.
std::int64_t chain_of(const ListOptions& options) {
  return options.steps + (options.record ? 0 : 1);
}

// That hold the largest state.
std::int64_t slots_of(const ListOptions& options) {
  return options.slots / StateUnits(options.units).largest();
}

void check(const ListOptions& options) {
  if (options.steps >= 0 && options.steps < kMostOverlappedSteps && slots_of(options) >= 1 &&
      options.most_on_disk >= 1)
    return;
  throw Error(ANADROME_ERR_ARGUMENT, "an overlapped sweep needs 0 <= steps < " +
                                         std::to_string(kMostOverlappedSteps) +
                                         ", a slot, and room for a state on disk");
}

}  // namespace

Action action_of(const OverlapAction& planned, const Kept& kept) {
  switch (planned.kind) {
    case OverlapKind::kAdvance:
      return Advance{planned.first, planned.last};
    case OverlapKind::kKeep:
      return Keep{kept};
    case OverlapKind::kRestore:
      return Restore{kept};
    case OverlapKind::kDrop:
      return Drop{kept};
    case OverlapKind::kWrite:
      return Write{kept};
    case OverlapKind::kRead:
      return Read{kept};
    case OverlapKind::kAdjoint:
      break;
  }
  return Adjoint{planned.first};
}

OverlapTimes overlap_times(const StepCosts& costs, bool record) {
  return {costs.forward, costs.adjoint + (record ? costs.forward : 0), costs.write, costs.read};
}

OverlappedPlan list_plan(const ListOptions& options, const OverlapTimes& times,
                         OverlapSearch search) {
  check(options);
  const StateUnits units(options.units);
  const std::int64_t chain = chain_of(options);
  const std::int64_t slots = std::min(slots_of(options), std::max<std::int64_t>(chain, 1));
  const bool all_fit = slots >= chain - 1;  // whatever the times are
  const OverlapTimes of_steps = all_fit ? OverlapTimes{} : times;
  OverlappedPlan plan = plan_overlapped(chain, slots, of_steps, search);
  place_slots(plan.actions, units);
  std::vector<OverlapAction> actions = plan.actions;
  if (number_disk_states(actions) <= options.most_on_disk) return plan;
  plan = plan_on_small_disk(chain, slots, of_steps, options.most_on_disk);
  place_slots(plan.actions, units);
  return plan;
}

// The state at the end of the chain is live from the step that makes it to its adjoint, the first
// of all. Where every state is an anchor a plan keeps it, too.
ListSweep::ListSweep(const ListOptions& options, OverlappedPlan plan)
    : options_(options),
      units_(options.units),
      chain_(chain_of(options)),
      to_adjoin_(options.steps),
      actions_(std::move(plan.actions)) {
  check(options);
  std::erase_if(actions_, [&](const OverlapAction& action) {
    return action.slot >= 0 && action.first == chain_ - 1 && action.first > 0;
  });
  const bool keeps_x_0 = !actions_.empty() && actions_.front().kind == OverlapKind::kKeep;
  if (!keeps_x_0) actions_.insert(actions_.begin(), {OverlapKind::kKeep, 0, 0, 0});
  number_disk_states(actions_);
  note_plan();
}

// Where x_0 is at the end, and how many advances there are.
void ListSweep::note_plan() {
  x_0_dropped_ = actions_.size();
  for (std::size_t i = 0; i < actions_.size(); ++i) {
    const OverlapAction& action = actions_[i];
    if (action.first != 0) continue;
    if (action.kind == OverlapKind::kDrop) x_0_dropped_ = i;
    const bool arrives = action.kind == OverlapKind::kKeep || action.kind == OverlapKind::kRead;
    if (!arrives) continue;
    x_0_dropped_ = actions_.size();
    x_0_arrives_ = action;
  }
  for (const OverlapAction& action : actions_) {
    if (action.kind == OverlapKind::kAdvance) advances_ += action.last - action.first;
    if (action.kind == OverlapKind::kAdjoint && options_.record) ++advances_;
  }
}

// ---- the sweep ----

Action ListSweep::advance(std::int64_t to, bool record) {
  if (live_ < run_before_) to = std::min(to, run_before_);
  const Advance action{.first = live_, .last = to, .record = record, .again = live_ < run_before_};
  advances_ -= to - live_;
  run_before_ = std::max(run_before_, to);
  live_ = to;
  return action;
}

Action ListSweep::next() {
  if (done_) return Done{};
  while (at_ < actions_.size()) {
    if (at_ == x_0_dropped_) {
      ++at_;
      continue;
    }
    const OverlapAction& action = actions_[at_];
    if (action.kind == OverlapKind::kAdjoint) return adjoint_action();
    ++at_;
    return play(action);
  }
  return end_action();
}

Action ListSweep::play(const OverlapAction& action) {
  if (action.kind == OverlapKind::kAdvance) {
    if (live_ < run_before_ && run_before_ < action.last) --at_;  // the rest runs first
    return advance(action.last, false);
  }
  if (action.kind == OverlapKind::kRestore) live_ = action.first;
  return action_of(action, kept(action, units_));
}

// The tape of the step comes first, if it has one; TURN comes before the first, or is the first.
Action ListSweep::adjoint_action() {
  const std::int64_t step = actions_[at_].first;
  if (options_.record && !recorded_) {
    recorded_ = true;
    return advance(step + 1, true);
  }
  if (!turned_) {
    turned_ = true;
    live_ = kUnknown;
    if (!options_.record) ++at_;
    return Turn{.step = options_.steps};
  }
  ++at_;
  --to_adjoin_;
  live_ = kUnknown;
  recorded_ = false;
  return Adjoint{.step = step};
}

// Without steps there is TURN alone. As after every sweep without tapes, x_0 is live at the end.
Action ListSweep::end_action() {
  if (!turned_) {
    turned_ = true;
    live_ = kUnknown;
    return Turn{.step = options_.steps};
  }
  done_ = options_.record || live_ == 0;
  if (done_) return Done{};
  live_ = 0;
  return Restore{kept(x_0_arrives_, units_)};
}

RuleOptions rules_of(const ListOptions& options) {
  RuleOptions rules;
  rules.steps = {options.steps};
  rules.units = options.slots;
  rules.disk_slots = options.most_on_disk;
  rules.record = options.record;
  rules.transfers = true;
  rules.state_units = [units = StateUnits(options.units)](std::int64_t step) {
    return units.of(step);
  };
  return rules;
}

}  // namespace anadrome::schedule

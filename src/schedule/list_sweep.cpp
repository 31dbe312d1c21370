// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/list_sweep.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/text_out.h"
#include "schedule/overlap_places.h"
#include "schedule/overlapped_start.h"

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

}  // namespace

OverlapTimes overlap_times(const StepCosts& costs, bool record) {
  return {costs.forward, costs.adjoint + (record ? costs.forward : 0), costs.write, costs.read};
}

bool times_hold(const OverlapTimes& planned, const OverlapTimes& measured) {
  constexpr double kHolds = 1.25;
  const auto holds = [](double before, double now) {  // in steps
    const auto [less, more] = std::minmax(before, now);
    return more <= kHolds * less || more < 1;  // hidden behind any step
  };
  return holds(planned.write / planned.forward, measured.write / measured.forward) &&
         holds(planned.read / planned.forward, measured.read / measured.forward);
}

std::int64_t overlapped_bytes(std::int64_t steps) {
  constexpr std::int64_t kShort = 120, kPerShortStep = 8 << 10, kPerStep = 1 << 10;
  return std::min(steps + 1, kShort) * kPerShortStep + (steps + 1) * kPerStep;
}

ListSweep::ListSweep(const ListOptions& options)
    : options_(options),
      units_(options.units),
      chain_(options.steps + (options.record ? 0 : 1)),
      to_adjoin_(options.steps) {
  if (options_.steps < 0 || options_.steps >= kMostOverlappedSteps || largest_states_held() < 1 ||
      options_.most_on_disk < 1) {
    throw Error(ANADROME_ERR_ARGUMENT, "an overlapped sweep needs 0 <= steps < " +
                                           std::to_string(kMostOverlappedSteps) +
                                           ", a slot, and room for a state on disk");
  }
  const std::int64_t most = std::max<std::int64_t>(chain_, 1) * units_.largest();
  options_.slots = std::min(options_.slots, most);
  if (largest_states_held() >= chain_ - 1) plan_from(0, OverlapTimes{});  // whatever the times are
}

// ---- the plan ----

void ListSweep::plan(const OverlapTimes& times) {
  const bool at_the_start = opening_ == Opening::kKeep;
  if (planned_ || (!at_the_start && opening_ != Opening::kAsked)) {
    throw Error(ANADROME_ERR_INTERNAL, "a plan was given that was not asked for");
  }
  planned_for_ = times;
  if (at_the_start && plan_of_another(times)) return;
  plan_from(at_the_start ? 0 : live_, times);
}

// False: there is none, or the disk does not hold its states.
bool ListSweep::plan_of_another(const OverlapTimes& times) {
  if (options_.other_plan == nullptr) return false;
  const OtherPlan other = options_.other_plan(times);
  if (other.plan == nullptr) return false;
  std::vector<OverlapAction> actions = other.plan->actions;
  if (number_disk_states(actions) > options_.most_on_disk) return false;
  planned_for_ = other.times;
  use(*other.plan, 0);
  return true;
}

void ListSweep::plan_from(std::int64_t begun, const OverlapTimes& times) {
  constexpr double kWorthSearching = 60;  // seconds: a thorough search is to take a few percent
  const double sweep = static_cast<double>(chain_) * (times.forward + times.adjoint);
  const bool quick = !options_.may_search || (sweep < kWorthSearching && !options_.always_searches);
  const OverlapSearch search = quick ? OverlapSearch::kQuick : OverlapSearch::kThorough;
  const std::int64_t slots = largest_states_held();
  OverlappedPlan best = begun == 0 ? plan_overlapped(chain_, slots, times, search)
                                   : plan_begun(chain_, begun, slots, times, search);
  use_slots(std::move(best), begun);
  if (states_on_disk_ <= options_.most_on_disk) return;
  use_slots(plan_on_small_disk(chain_, begun, slots, times, options_.most_on_disk), begun);
}

void ListSweep::use_slots(OverlappedPlan plan, std::int64_t begun) {
  place_slots(plan.actions, units_);
  use(std::move(plan), begun);
}

// The state at the end of the chain is live from the step that makes it to its adjoint, the first
// of all. Where every state is an anchor a plan keeps it, too.
void ListSweep::use(OverlappedPlan plan, std::int64_t begun) {
  actions_ = std::move(plan.actions);
  std::erase_if(actions_, [&](const OverlapAction& action) {
    return action.slot >= 0 && action.first == chain_ - 1 && action.first > 0;
  });
  const bool keeps_x_0 = !actions_.empty() && actions_.front().kind == OverlapKind::kKeep;
  if (!keeps_x_0) actions_.insert(actions_.begin(), {OverlapKind::kKeep, 0, 0, 0});
  states_on_disk_ = number_disk_states(actions_);
  at_ = begun > 0 ? static_cast<std::size_t>(kActionsBegun) : 0;
  note_plan();
  planned_ = true;
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
  advances_ = 0;
  for (std::size_t i = at_; i < actions_.size(); ++i) {
    if (actions_[i].kind == OverlapKind::kAdvance)
      advances_ += actions_[i].last - actions_[i].first;
    if (actions_[i].kind == OverlapKind::kAdjoint && options_.record) ++advances_;
  }
}

Next ListSweep::decide(const Measured& measured) {
  if (!std::exchange(agreed_, true)) return at_forward_end() ? Next::kFlush : Next::kAgree;
  agreed_ = false;
  if (measured.write_times_known || at_forward_end()) return Next::kPlan;
  probe(probe_steps_);
  probe_steps_ = std::min<std::int64_t>(2 * probe_steps_, std::int64_t{1} << 20);
  return Next::kGoOn;
}

void ListSweep::probe(std::int64_t steps) {
  if (planned_ || opening_ != Opening::kAsked || steps < 1 || at_forward_end()) {
    throw Error(ANADROME_ERR_INTERNAL, "a probe was given that was not asked for");
  }
  probe_to_ = std::min(steps, chain_ - 1 - live_) + live_;
  opening_ = Opening::kAdvance;
}

std::int64_t ListSweep::fingerprint() const {
  std::uint64_t hash = 1469598103934665603U;  // FNV-1a, by whole numbers
  const auto add = [&](std::int64_t number) {
    hash = (hash ^ static_cast<std::uint64_t>(number)) * 1099511628211U;
  };
  for (const OverlapAction& action : actions_) {
    add(static_cast<std::int64_t>(action.kind));
    add(action.slot);
    add(action.first);
    add(action.last);
  }
  return static_cast<std::int64_t>(hash);
}

std::string ListSweep::outdated(const StepCosts& costs) const {
  const OverlapTimes measured = overlap_times(costs, options_.record);
  if (states_on_disk_ == 0 || times_hold(planned_for_, measured)) return "";
  const auto in_steps = [](double seconds, double step) {
    return format_number(seconds / step, std::chars_format::general, 3);
  };
  return "made for writes of " + in_steps(planned_for_.write, planned_for_.forward) +
         " and reads of " + in_steps(planned_for_.read, planned_for_.forward) +
         " steps, and they took " + in_steps(measured.write, measured.forward) + " and " +
         in_steps(measured.read, measured.forward) +
         "; the next sweep of this run is planned with these";
}

void ListSweep::rewind(std::int64_t) {
  if (!can_rewind()) throw Error(ANADROME_ERR_ORDER, "rewind: the reverse sweep is not done");
  x_0_before_ = x_0_arrives_;
  opening_ = Opening::kKeep;
  planned_ = turned_ = done_ = false;
  to_adjoin_ = options_.steps;
  back_ = Back::kRestore;
}

// x_0 alone, in memory even if it is on disk, too.
std::optional<Remains> ListSweep::remains() {
  if (!done_ || units_.largest() != 1) return {};
  Remains remains;
  remains.course = course();
  remains.record = options_.record;
  const Kept x_0 = kept(x_0_arrives_, units_);
  const bool in_ram = x_0.tier == kRamTier;
  remains.units = options_.slots - (in_ram ? 0 : 1);
  if (in_ram) {
    remains.in_ram.push_back(x_0);
  } else {
    remains.x_0_on_disk = x_0;
  }
  return remains;
}

bool ListSweep::lose(std::int64_t number) {
  StatesLeft left = states_left(actions_, at_);
  const std::int32_t lost = disk_place(static_cast<std::int32_t>(number));
  std::erase_if(left.in_memory, [&](const auto& state) { return state.second.place == lost; });
  std::erase_if(left.on_disk, [&](const auto& state) { return state.second == lost; });
  return recover_from(left);
}

// The disk is of no more use than as it is: what is in memory and on disk, too, makes room.
void ListSweep::disk_is_full(const DiskLeft&) {
  StatesLeft left = states_left(actions_, at_);
  if (!planned_) {
    left.in_memory[0] = {disk_place(0), 0};
    planned_ = true;
  } else {
    left.on_disk.erase(actions_[at_ - 1].first);
  }
  recover_from(left);
}

bool ListSweep::recover_from(const StatesLeft& left) {
  live_ = kUnknown;
  const std::int64_t steps = to_adjoin_ + (options_.record || turned_ ? 0 : 1);
  const std::vector<OverlapAction> rest = recover(steps, options_.slots, units_, left);
  // Before it, how its states came to be there: for a further loss.
  actions_.clear();
  for (const auto& [step, place] : left.on_disk) {
    for (const OverlapKind kind : {OverlapKind::kKeep, OverlapKind::kWrite, OverlapKind::kDrop})
      actions_.push_back({kind, place, step, 0});
  }
  for (const auto& [step, held] : left.in_memory) {
    const bool read = left.on_disk.contains(step) && is_disk_place(held.place);
    actions_.push_back(
        {read ? OverlapKind::kRead : OverlapKind::kKeep, held.place, step, held.begin});
  }
  at_ = actions_.size();
  actions_.insert(actions_.end(), rest.begin(), rest.end());
  note_plan();
  return !rest.empty();
}

// ---- the sweep ----

Action ListSweep::advance(std::int64_t to, bool record) {
  if (live_ < run_before_) to = std::min(to, run_before_);
  const Advance action{.first = live_, .last = to, .record = record, .again = live_ < run_before_};
  if (planned_) advances_ -= to - live_;
  run_before_ = std::max(run_before_, to);
  live_ = to;
  return action;
}

Action ListSweep::next() {
  if (done_) return Done{};
  if (!planned_) return opening_action();
  if (back_ != Back::kNo) {
    const bool restores = back_ == Back::kRestore;
    back_ = restores ? Back::kDrop : Back::kNo;
    live_ = 0;
    const Kept x_0 = kept(x_0_before_, units_);
    return restores ? Action{Restore{x_0}} : Drop{x_0};
  }
  while (at_ < actions_.size()) {
    if (is_last_stay_of_x_0(at_)) {
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

Action ListSweep::opening_action() {
  const Kept x_0{.tier = kDiskTier, .room = {0, units_.of(0)}};
  switch (opening_) {
    case Opening::kKeep:
      opening_ = Opening::kWrite;
      return Keep{x_0};
    case Opening::kWrite:
      opening_ = Opening::kAdvance;
      return Write{x_0};
    case Opening::kAdvance:
      opening_ = Opening::kAsked;
      return advance(probe_to_, false);
    case Opening::kAsked:
      break;
  }
  return Decide{live_};
}

Action ListSweep::play(const OverlapAction& action) {
  switch (action.kind) {
    case OverlapKind::kAdvance:
      if (live_ < run_before_ && run_before_ < action.last) --at_;  // the rest runs first
      return advance(action.last, false);
    case OverlapKind::kKeep:
      return Keep{kept(action, units_)};
    case OverlapKind::kRestore:
      live_ = action.first;
      return Restore{kept(action, units_)};
    case OverlapKind::kDrop:
      return Drop{kept(action, units_)};
    case OverlapKind::kWrite:
      return Write{kept(action, units_)};
    case OverlapKind::kRead:
      return Read{kept(action, units_)};
    case OverlapKind::kAdjoint:
      break;
  }
  throw Error(ANADROME_ERR_INTERNAL, "an adjoint is not a single action");
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

std::int64_t ListSweep::advances_remaining() const {
  if (done_) return 0;
  return planned_ ? advances_ : kUnknown;
}

}  // namespace anadrome::schedule

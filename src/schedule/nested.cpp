#include "schedule/nested.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"

namespace anadrome::schedule {
namespace {

constexpr std::int64_t kNoEnd = kMostSteps;  // the target while n is unknown

std::string text(const Segment& segment) {
  return "steps " + std::to_string(segment.first) + " to " + std::to_string(segment.last) +
         " with " + std::to_string(segment.units) + " units and " +
         std::to_string(segment.disk_slots) + " disk slots";
}

[[noreturn]] void broken(const std::string& rule) { throw Error(ANADROME_ERR_INTERNAL, rule); }

}  // namespace

Nested::Nested(const NestedOptions& options, std::unique_ptr<Planner> planner)
    : options_(options), planner_(std::move(planner)), steps_(options.steps) {
  const bool tapes_fit_problem = options.record || options.tape_units == 0;
  if ((steps_ != kUnknown && steps_ < 0) || steps_ >= kMostSteps || options.units < 0 ||
      options.disk_slots < 0 || options.tape_units < 0 || !tapes_fit_problem) {
    throw Error(ANADROME_ERR_ARGUMENT, "a schedule needs 0 <= steps < 2^62 and slots >= 0");
  }
  turned_ = !options_.turn;
  const bool turn_is_a_step = options_.turn && !options_.record;
  constexpr std::int64_t kMostAtOnce = std::int64_t{1} << 22;
  const std::int64_t most =
      std::min(std::min(options.units, kMostAtOnce) + 1 + std::min(options.disk_slots, kMostAtOnce),
               kMostAtOnce);
  stack_.reserve(static_cast<std::size_t>(steps_ == kUnknown ? most : std::min(most, steps_ + 2)));
  target_ = steps_ == kUnknown ? kNoEnd : (turn_is_a_step ? steps_ : steps_ - 1);
}

// ---- the stack ----

std::int64_t Nested::units_of(const Kept& kept) const {
  switch (kept.place) {
    case Place::kRam:
      return planner_->state_units(kept.step);
    case Place::kTape:
      return options_.tape_units;
    case Place::kDisk:
    case Place::kNowhere:
      break;
  }
  return 0;
}

std::int64_t Nested::restarts_at(const Kept& kept) const {
  if (kept.place != Place::kTape) return kept.step;
  return options_.tape_restarts ? kept.step + 1 : kUnknown;
}

Segment Nested::segment(std::int64_t first, std::int64_t last, const Account& account) const {
  Segment segment;
  segment.first = first;
  segment.last = last;
  if (account.depth > 0) {
    const Kept& top = stack_[static_cast<std::size_t>(account.depth - 1)];
    if (restarts_at(top) == first) segment.held = top.place;
  }
  segment.units = options_.units - account.units_used;
  segment.disk_slots = options_.disk_slots - account.disk_slots_used;
  return segment;
}

Action Nested::push(Place place) {
  Kept kept{place, live_, place == Place::kDisk ? account_.disk_slots_used : account_.units_used,
            false};
  const bool on_disk =
      account_.depth > 0 && newest().place == Place::kDisk && newest().step == live_;
  kept.buffered = place == Place::kRam && on_disk && options_.disk_is_buffered;
  account_.units_used += units_of(kept);
  account_.disk_slots_used += place == Place::kDisk ? 1 : 0;
  if (account_.units_used > options_.units || account_.disk_slots_used > options_.disk_slots) {
    broken("the planner keeps more than there is room for, at step " + std::to_string(kept.step));
  }
  if (static_cast<std::size_t>(account_.depth) == stack_.size()) {
    stack_.push_back(kept);
  } else {
    stack_[static_cast<std::size_t>(account_.depth)] = kept;
  }
  ++account_.depth;
  const Kind kind = place == Place::kRam    ? Kind::kKeep
                    : place == Place::kDisk ? Kind::kAnchor
                                            : Kind::kKeepTape;
  return {kind, false, false, kept.step, kept.step, kept.slot};
}

void Nested::pop(Account& account) const {
  const Kept& top = stack_[static_cast<std::size_t>(account.depth - 1)];
  account.units_used -= units_of(top);
  account.disk_slots_used -= top.place == Place::kDisk ? 1 : 0;
  --account.depth;
}

Action Nested::drop_newest() {
  const Kept kept = newest();
  pop(account_);
  const Kind kind = kept.place == Place::kRam    ? Kind::kDrop
                    : kept.place == Place::kDisk ? Kind::kDropAnchor
                                                 : Kind::kDropTape;
  return {kind, false, false, kept.step, kept.step, kept.slot};
}

Action Nested::restore() {
  const Kept& kept = newest();
  live_ = restarts_at(kept);
  Action action{Kind::kRestore, false, false, kept.step, kept.step, kept.slot};
  if (kept.place == Place::kTape) {
    tape_ = kept.step;
    action.kind = Kind::kRestoreTape;
  } else if (kept.place == Place::kDisk || kept.buffered) {
    action.kind = Kind::kRestoreAnchor;
    if (kept.buffered) action.slot = stack_[static_cast<std::size_t>(account_.depth - 2)].slot;
  }
  return action;
}

// ---- the sweep ----

Action Nested::advance(std::int64_t to, bool record) {
  const Action action{Kind::kAdvance, record, live_ < run_before_, live_, to, -1};
  advance_first_ = live_;
  tape_ = record ? to - 1 : kUnknown;
  live_ = to;
  run_before_ = std::max(run_before_, to);
  return action;
}

Action Nested::next() {
  advance_first_ = kUnknown;
  for (;;) {
    if (pending_ == Pending::kRecord) {
      pending_ = Pending::kKeepTape;
      return advance(live_ + 1, true);
    }
    if (pending_ == Pending::kKeepTape) {
      pending_ = Pending::kNothing;
      return {Kind::kKeepTape, false, false, newest().step, newest().step, newest().slot};
    }
    if (done_) return {Kind::kDone, false, false, 0, 0, -1};
    if (!turned_ && live_ == steps_) {
      const bool kept =
          account_.depth > 0 && newest().place == Place::kRam && newest().step == live_;
      if (options_.retain && options_.record && !kept) return push(Place::kRam);
      // DONE needs x_0, also where there is no step.
      const bool needs_x_0 = !options_.record && account_.depth == 0;
      if (needs_x_0) return push(options_.units > 0 ? Place::kRam : Place::kDisk);
      turned_ = true;
      live_ = kUnknown;
      if (!options_.record) --target_;
      return {Kind::kTurn, false, false, steps_, steps_, -1};
    }
    if (turned_ && target_ < 0) {
      const bool tape = account_.depth > 0 && newest().place == Place::kTape;
      if (tape && !options_.retain) return drop_newest();  // of step 0
      done_ = true;
      if (!options_.turn || options_.record || live_ == 0) continue;
      while (account_.depth > 1 && newest().step > 0) pop(account_);
      return restore();
    }
    if (turned_ && (options_.record ? tape_ : live_) == target_) {
      const std::int64_t step = target_--;
      live_ = tape_ = kUnknown;
      return {Kind::kAdjoint, false, false, step, step + 1, -1};
    }
    if (account_.depth > 0 && newest().step > target_ && (turned_ || !options_.retain)) {
      const bool buffered = newest().buffered;
      if (options_.retain || buffered) {
        pop(account_);
        continue;
      }
      return drop_newest();
    }
    if (account_.depth > 0 && newest().place == Place::kTape && newest().step == target_)
      return restore();
    if (live_ == kUnknown) {
      if (account_.depth == 0 || restarts_at(newest()) == kUnknown) {
        broken("nothing is kept to start from towards step " + std::to_string(target_));
      }
      return restore();
    }
    Action action;
    if (towards_target(action)) return action;
  }
}

// False: there is nothing to do yet, ask again.
bool Nested::towards_target(Action& action) {
  if (live_ == target_ && !options_.retain) {
    action = advance(live_ + 1, true);
    return true;
  }
  const Segment here = segment(live_, target_ + 1);
  if (!planner_->ready() && here.first > 0 && here.held == Place::kNowhere) {
    action = {Kind::kDecide, false, false, live_, live_, -1};
    return true;
  }
  const Placement placement = live_ == target_ ? Placement{Place::kTape, 0} : planner_->place(here);
  if (placement.place == Place::kTape) return keep_tape(here, action);
  if (placement.place != Place::kNowhere) {
    if (here.held == placement.place) broken("the planner keeps a state twice: " + text(here));
    action = push(placement.place);
    return !newest().buffered;
  }
  if (here.held == Place::kNowhere || placement.advance < 1 ||
      placement.advance > target_ - live_) {
    broken("the planner does not say how to come back: " + text(here));
  }
  action = advance(live_ + placement.advance, false);
  return true;
}

// The room that the state itself took comes first.
bool Nested::keep_tape(const Segment& here, Action& action) {
  if (options_.tape_units == 0) broken("the planner keeps tapes that nobody has");
  if (options_.retain && here.units < options_.tape_units + 1) {  // x_n comes last
    throw Error(ANADROME_ERR_MEMORY,
                "store_all: the tapes of " + std::to_string(here.first) +
                    " steps fill the memory; raise memory, or take schedule=async or revolve");
  }
  const bool give_up = here.held == Place::kRam && !options_.retain;
  const bool buffered = give_up && newest().buffered;
  if (give_up) action = drop_newest();
  push(Place::kTape);
  pending_ = Pending::kRecord;
  return give_up && !buffered;
}

bool Nested::may_finish(std::int64_t steps) const {
  return options_.steps == kUnknown && steps_ == kUnknown && advance_first_ != kUnknown &&
         advance_first_ <= steps && steps <= live_;
}

void Nested::finish_forward(std::int64_t steps) {
  if (!may_finish(steps)) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "finish_forward(" + std::to_string(steps) + ") is outside the advance under way");
  }
  if (steps == advance_first_) {  // the step that was to be recorded did not come
    if (pending_ == Pending::kKeepTape) pop(account_);
    pending_ = Pending::kNothing;
    tape_ = kUnknown;
  }
  steps_ = live_ = run_before_ = steps;
  target_ = options_.record ? steps - 1 : steps;
}

bool Nested::lose_anchor(std::int64_t slot) {
  if (account_.depth > 0 && newest().buffered) pop(account_);
  if (account_.depth == 0 || newest().place != Place::kDisk || newest().slot != slot) {
    broken("an anchor was lost that was not asked for");
  }
  pop(account_);
  live_ = kUnknown;
  return account_.depth > 0;
}

bool Nested::can_rewind() const {
  if (!done_) return false;
  if (options_.retain) return true;
  return account_.depth > 0 && stack_.front().place != Place::kTape && stack_.front().step == 0;
}

void Nested::rewind() {
  if (!can_rewind()) throw Error(ANADROME_ERR_ORDER, "rewind: x_0 is not kept any more");
  done_ = turned_ = false;
  live_ = tape_ = kUnknown;
  target_ = options_.record ? steps_ - 1 : steps_;
  if (!options_.retain) {
    if (newest().buffered) pop(account_);  // x_0 in RAM: the planner says again whether that pays
    return;
  }
  for (; static_cast<std::size_t>(account_.depth) < stack_.size(); ++account_.depth) {
    const Kept& kept = stack_[static_cast<std::size_t>(account_.depth)];
    account_.units_used += units_of(kept);
    account_.disk_slots_used += kept.place == Place::kDisk ? 1 : 0;
  }
}

// ---- how much is left ----

// The live state's part, then the stack's from its top down.
std::int64_t Nested::advances_remaining() const {
  if (done_) return 0;
  if (steps_ == kUnknown || !planner_->ready()) return kUnknown;
  Account account = account_;
  std::int64_t end = target_ + 1;  // steps below this one are still to be reversed
  uint128 total = options_.record ? static_cast<uint128>(end) : 0;
  const auto used = stack_.begin() + account_.depth;
  const bool tape_is_kept = std::any_of(
      used - std::min<std::int64_t>(account_.depth, 2), used,  // only x_n can lie above it
      [this](const Kept& kept) { return kept.place == Place::kTape && kept.step == tape_; });
  if (tape_ != kUnknown && tape_ == target_ && !tape_is_kept) {
    --total;
    --end;
  }
  std::int64_t live = live_;
  if (pending_ == Pending::kRecord) {
    ++total;  // its tape is on the stack, and not recorded yet
    ++live;
  }
  if (live != kUnknown && live < end && (account_.depth == 0 || restarts_at(newest()) != live)) {
    if (end - live > 1) total += planner_->advances(segment(live, end));
    end = live;
  }
  for (; account.depth > 0; pop(account)) {
    const Kept& kept = stack_[static_cast<std::size_t>(account.depth - 1)];
    if (kept.place == Place::kTape && kept.step <= target_) --total;
    const std::int64_t from = restarts_at(kept);
    if (from != kUnknown && end - from > 1) {
      total += planner_->advances(segment(from, end, account));
    }
    end = std::min(end, kept.step);
  }
  return total > static_cast<uint128>(kNoLimit) ? kNoLimit : static_cast<std::int64_t>(total);
}

std::int64_t Nested::adjoints_remaining() const {
  return steps_ == kUnknown ? kUnknown : (turned_ ? target_ + 1 : steps_);
}

}  // namespace anadrome::schedule

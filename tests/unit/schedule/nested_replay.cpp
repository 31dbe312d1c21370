#include "nested_replay.h"

#include <algorithm>
#include <stdexcept>

namespace anadrome::schedule {

NestedMachine::NestedMachine(Nested& nested, const NestedOptions& options, std::int64_t steps,
                             OfStep state_units, OfStep step_cost)
    : nested_(nested),
      options_(options),
      steps_(steps),
      state_units_(std::move(state_units)),
      step_cost_(std::move(step_cost)),
      next_adjoint_(steps - 1),
      turned_(!options.turn) {
  if (!state_units_) state_units_ = [](std::int64_t) { return std::int64_t{1}; };
  if (!step_cost_) step_cost_ = [](std::int64_t) { return std::int64_t{1}; };
}

void NestedMachine::require(bool holds, const std::string& rule) const {
  if (holds) return;
  throw std::logic_error("action " + std::to_string(played_) + " (kind " +
                         std::to_string(static_cast<int>(current_.kind)) + ", " +
                         std::to_string(current_.first) + ".." + std::to_string(current_.last) +
                         ", slot " + std::to_string(current_.slot) + "), live " +
                         (live_ ? std::to_string(*live_) : "undefined") + ": " + rule);
}

NestedTotals NestedMachine::sweep() {
  std::vector<std::pair<std::int64_t, std::int64_t>> promises;  // remaining, taken so far
  const auto taken = [this] { return totals_.advances + totals_.recorded; };
  const auto promise = [&] {
    const std::int64_t remaining = nested_.advances_remaining();
    if (remaining != kUnknown) promises.emplace_back(remaining, taken());
  };
  promise();
  for (;;) {
    current_ = nested_.next();
    ++played_;
    if (current_.kind == Kind::kDone) break;
    play(current_);
    promise();
  }
  end_checks();
  for (std::size_t i = 0; i < promises.size(); ++i) {
    const std::int64_t came = taken() - promises[i].second;
    require(promises[i].first == came, "promise " + std::to_string(i) + " of " +
                                           std::to_string(promises[i].first) + " advances, " +
                                           std::to_string(came) + " came");
  }
  return totals_;
}

void NestedMachine::play(const Action& action) {
  const bool progress = action.kind == Kind::kAdvance || action.kind == Kind::kAdjoint;
  idle_ = progress ? 0 : idle_ + 1;
  require(idle_ <= 16 + 2 * static_cast<std::int64_t>(ram_.size() + disk_.size()),
          "nothing goes on");
  switch (action.kind) {
    case Kind::kAdvance:
      return advance(action);
    case Kind::kKeep:
    case Kind::kKeepTape:
      return keep(action, action.kind == Kind::kKeepTape);
    case Kind::kRestore:
    case Kind::kRestoreTape:
      return restore(action, action.kind == Kind::kRestoreTape);
    case Kind::kDrop:
    case Kind::kDropTape:
      return drop(action, action.kind == Kind::kDropTape);
    case Kind::kAnchor:
    case Kind::kRestoreAnchor:
    case Kind::kDropAnchor:
      return disk(action);
    case Kind::kTurn:
      require(!turned_ && action.first == steps_ && live_ == steps_, "not the end of the sweep");
      turned_ = true;
      live_.reset();
      return;
    case Kind::kAdjoint:
      require(turned_ && action.first == next_adjoint_, "adjoints come once, in order");
      require((options_.record ? tape_ : live_) == action.first, "what it needs is not there");
      live_.reset();
      tape_.reset();
      --next_adjoint_;
      return;
    case Kind::kWriteAnchor:
    case Kind::kReadAnchor:
    case Kind::kDecide:
    case Kind::kStart:
    case Kind::kDone:
      break;
  }
  require(false, "there is no such action");
}

void NestedMachine::advance(const Action& action) {
  require(live_ == action.first && action.first < action.last, "its state is not live");
  require(!action.record || options_.record, "nobody asked for a tape");
  const bool open = nested_.steps() == kUnknown;
  require(open || action.last <= steps_, "beyond the end");
  const std::int64_t last = std::min(action.last, steps_);
  require(action.again ? last <= run_before_ : action.first >= run_before_, "`again` is wrong");
  const bool recorded = action.record && last == action.last;
  const std::int64_t advanced = recorded ? last - 1 : last;
  totals_.recorded += recorded ? 1 : 0;
  totals_.advances += advanced - action.first;
  for (std::int64_t step = action.first; step < advanced; ++step) {
    cost_ += step_cost_(step);
  }
  tape_.reset();
  if (recorded) tape_ = last - 1;
  run_before_ = std::max(run_before_, last);
  live_ = last;
  if (open && action.last >= steps_) nested_.finish_forward(steps_);
}

void NestedMachine::keep(const Action& action, bool tape) {
  require(tape ? tape_ == action.first : live_ == action.first, "it is not there to be kept");
  const std::int64_t units = tape ? options_.tape_units : state_units_(action.first);
  require(action.slot >= 0 && action.slot + units <= options_.units, "beyond the memory");
  for (const auto& [first, held] : ram_) {
    require(first + held.units <= action.slot || action.slot + units <= first,
            "the memory still holds step " + std::to_string(held.step));
  }
  ram_[action.slot] = {tape, action.first, units};
  units_ += units;
  totals_.most_units = std::max(totals_.most_units, units_);
}

void NestedMachine::restore(const Action& action, bool tape) {
  const auto held = ram_.find(action.slot);
  require(held != ram_.end() && held->second.tape == tape && held->second.step == action.first,
          "it is not kept there");
  live_.reset();
  tape_.reset();
  if (tape) tape_ = action.first;
  if (!tape) live_ = action.first;
  if (tape && options_.tape_restarts) live_ = action.first + 1;
}

void NestedMachine::drop(const Action& action, bool tape) {
  const auto held = ram_.find(action.slot);
  require(held != ram_.end() && held->second.tape == tape && held->second.step == action.first,
          "it is not kept there");
  units_ -= held->second.units;
  ram_.erase(held);
}

void NestedMachine::disk(const Action& action) {
  const auto held = disk_.find(action.slot);
  require(action.slot >= 0 && action.slot < options_.disk_slots, "no such disk slot");
  if (action.kind == Kind::kAnchor) {
    require(held == disk_.end() && live_ == action.first, "it cannot be written");
    disk_[action.slot] = action.first;
    ++totals_.writes;
    totals_.most_disk_slots =
        std::max(totals_.most_disk_slots, static_cast<std::int64_t>(disk_.size()));
    return;
  }
  require(held != disk_.end() && held->second == action.first, "it is not on disk");
  if (action.kind == Kind::kDropAnchor) {
    disk_.erase(held);
    return;
  }
  live_ = action.first;
  tape_.reset();
  ++totals_.reads;
}

void NestedMachine::end_checks() {
  require(turned_ && next_adjoint_ == -1, "adjoints are missing");
  require(options_.record || !options_.turn || live_ == 0, "x_0 is not live at the end");
  require(nested_.next().kind == Kind::kDone, "something comes after the end");
}

NestedTotals replay(const NestedOptions& options, std::unique_ptr<Planner> planner) {
  const Planner& sizes = *planner;
  Nested nested(options, std::move(planner));
  const auto state_units = [&sizes](std::int64_t step) { return sizes.state_units(step); };
  return NestedMachine(nested, options, options.steps, state_units).sweep();
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/passes/pass_sweep.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/index.h"

namespace anadrome::schedule {

PassSweep::PassSweep(Remains remains)
    : course_(remains.course),
      steps_(remains.course.steps),
      units_(remains.units),
      record_(remains.record),
      anchors_(std::move(remains.anchors)),
      anchors_stay_(!anchors_.empty()) {
  course_.ends_in_ram = false;
  course_.anchor_ahead = kUnknown;
  std::int64_t slots = std::min(units_, steps_ + 1);  // no more are of use
  for (const Kept& kept : remains.in_ram) slots = std::max(slots, kept.place + kept.room.units);
  std::vector<bool> used(size(slots), false);
  const auto use = [&](std::int64_t begin, std::int64_t units) {
    for (std::int64_t slot = begin; slot < begin + units; ++slot) {
      used.at(size(slot)) = true;
    }
  };
  ram_.reserve(used.size());
  for (const Kept& kept : remains.in_ram) {
    const bool tape = kept.what == What::kTape;
    use(kept.place, tape ? kept.room.units : 1);
    if (tape) {
      tapes_.push_back(kept);
    } else if (kept.step == 0 && !anchors_stay_) {
      x_0_ = kept;
    } else {
      ram_.push_back({kept.step, kept.place});
    }
  }
  std::sort(ram_.begin(), ram_.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  for (auto slot = std::ssize(used); slot > 0; --slot) {
    if (!used[size(slot - 1)]) free_.push_back(slot - 1);
  }
  free_.reserve(used.size());
  spare_.reserve(used.size());
  targets_.reserve(used.size());
  victims_.reserve(used.size());
  units_ = static_cast<std::int64_t>(ram_.size() + free_.size());
  if (!anchors_stay_ && x_0_) anchors_.append(0);
  const bool all_tapes = std::ssize(tapes_) == steps_;
  if (anchors_.empty() ? !all_tapes : anchors_.step(0) != 0) {
    throw Error(ANADROME_ERR_INTERNAL, "a pass needs x_0, or the tapes of all steps");
  }
  if (!all_tapes) tapes_.clear();
  lost_.reserve(size(std::min(anchors().count(), kMostLost)));
}

const AnchorList& PassSweep::anchors() const { return anchors_stay_ ? anchors_ : Sweep::anchors(); }

// ---- a pass begins ----

void PassSweep::begin(const Pass& pass, bool turn_has_x_n) {
  if (!done_ || (anchors_stay_ && pass.restorable < 1)) {
    throw Error(ANADROME_ERR_ORDER, "a pass begins where another one, or the sweep, is done");
  }
  pass_ = pass;
  if (anchors_stay_) anchors_.truncate(pass.restorable);
  ram_.insert(ram_.end(), spare_.begin(), spare_.end());
  spare_.clear();
  std::sort(ram_.begin(), ram_.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  done_ = turned_ = false;
  live_ = tape_ = kUnknown;
  live_is_read_ = false;
  turn_has_x_n_ = turn_has_x_n;
  next_anchor_ = 0;
  active_ = anchors_.count();
  targets_.clear();
  victims_.clear();
  next_target_ = next_victim_ = 0;
  if (pass.direction == Direction::kForward) {
    at_ = 0;
    if (!has_tapes()) choose_targets();
  } else {
    at_ = steps_ - 1;
    if (!has_tapes()) choose_kept();
  }
}

void PassSweep::begin_pass(const Pass& pass) { begin(pass, false); }

void PassSweep::rewind(std::int64_t restorable) {
  Pass pass = pass_;
  pass.direction = Direction::kReverse;
  pass.restorable = restorable;
  begin(pass, true);
}

// ---- what is where ----

PassSweep::Entries::const_iterator PassSweep::ram_at(std::int64_t step) const {
  const auto found =
      std::lower_bound(ram_.begin(), ram_.end(), step,
                       [](const Entry& entry, std::int64_t at) { return entry.step < at; });
  return found != ram_.end() && found->step == step ? found : ram_.end();
}

bool PassSweep::is_lost(std::int64_t number) const {
  return !lost_.empty() &&
         std::binary_search(lost_.begin(), lost_.end(), number / pass_.states_per_block);
}

/// Is the anchor restored where a pass forward comes to it?
bool PassSweep::is_read(std::int64_t number) const {
  return number / pass_.states_per_block % pass_.stride == 0 && !is_lost(number);
}

// Of those up to this step.
std::int64_t PassSweep::newest_anchor(std::int64_t step) const {
  std::int64_t number = anchors_.count_up_to(step) - 1;
  while (is_lost(number)) --number;
  return number;
}

// The number of the anchor of this step, if a pass forward restores it; or -1.
std::int64_t PassSweep::anchor_at(std::int64_t step) {
  while (next_anchor_ < anchors_.count() && anchors_.step(next_anchor_) < step) ++next_anchor_;
  const bool there = next_anchor_ < anchors_.count() && anchors_.step(next_anchor_) == step;
  return there && is_read(next_anchor_) ? next_anchor_ : -1;
}

std::int64_t PassSweep::free_units() const {
  return static_cast<std::int64_t>(free_.size() + spare_.size());
}

// ---- the actions ----

Action PassSweep::next() {
  if (done_) return Done{};
  return pass_.direction == Direction::kForward ? forward() : reverse();
}

Action PassSweep::advance(std::int64_t to, bool record) {
  tape_ = record ? to - 1 : kUnknown;
  live_is_read_ = false;
  return Advance{.first = std::exchange(live_, to), .last = to, .record = record, .again = true};
}

Action PassSweep::restore(const Entry& entry) {
  live_ = entry.step;
  tape_ = kUnknown;
  live_is_read_ = false;
  return Restore{{.step = entry.step, .place = entry.slot, .room = {entry.slot, 1}}};
}

Action PassSweep::start_from(std::int64_t number) {
  live_ = anchors_.step(number);
  tape_ = kUnknown;
  live_is_read_ = true;
  if (x_0_) return Restore{*x_0_};
  return Restore{{.tier = kDiskTier, .step = live_, .place = number}};
}

// From the newest state up to this one that is kept.
Action PassSweep::start_below(std::int64_t step) {
  const std::int64_t number = newest_anchor(step);
  const auto above =
      std::upper_bound(ram_.begin(), ram_.end(), step,
                       [](std::int64_t at, const Entry& entry) { return at < entry.step; });
  const bool in_ram = above != ram_.begin() && (above - 1)->step > anchors_.step(number);
  return in_ram ? restore(*(above - 1)) : start_from(number);
}

Action PassSweep::restore_tape() {
  tape_ = at_;
  live_ = kUnknown;
  return Restore{tapes_[size(at_)]};
}

Action PassSweep::keep() {
  const Entry entry = {live_, free_.back()};
  free_.pop_back();
  const auto above =
      std::upper_bound(ram_.begin(), ram_.end(), live_,
                       [](std::int64_t at, const Entry& other) { return at < other.step; });
  ram_.insert(above, entry);
  return Keep{{.step = entry.step, .place = entry.slot, .room = {entry.slot, 1}}};
}

Action PassSweep::drop(const Entry& entry) {
  free_.push_back(entry.slot);
  return Drop{{.step = entry.step, .place = entry.slot, .room = {entry.slot, 1}}};
}

// ---- forward ----

Action PassSweep::forward() {
  if (at_ == steps_) {
    done_ = true;
    return Done{};
  }
  if (has_tapes()) return is_there() ? visit() : restore_tape();
  if (record_ && is_there()) return visit();
  const std::int64_t anchor = anchor_at(at_);
  const bool restores = live_ != at_ || (pass_.as_read && anchor >= 0 && !live_is_read_);
  if (restores) {
    const auto kept = ram_at(at_);
    const bool as_read = pass_.as_read && anchor >= 0;  // also where its state is in RAM
    if (kept != ram_.end() && !as_read) return restore(*kept);
    if (anchor >= 0) return start_from(anchor);
    return live_ == kUnknown ? start_below(at_) : advance(at_, false);
  }
  while (next_target_ < targets_.size() && targets_[next_target_] < at_) ++next_target_;
  const bool due =
      next_target_ < targets_.size() && targets_[next_target_] == at_ && ram_at(at_) == ram_.end();
  if (due && !free_.empty()) return keep();
  if (due && next_victim_ < victims_.size() && victims_[next_victim_].step < at_) {
    const Entry victim = victims_[next_victim_++];
    ram_.erase(ram_at(victim.step));
    return drop(victim);
  }
  return record_ ? advance(at_ + 1, true) : visit();
}

Action PassSweep::visit() {
  if (record_) tape_ = kUnknown;
  return Visit{at_++};
}

// ---- reverse ----

void PassSweep::give_up_above(std::int64_t step) {
  for (; !ram_.empty() && ram_.back().step > step; ram_.pop_back()) spare_.push_back(ram_.back());
}

Action PassSweep::reverse() {
  if (!turned_ && (!turn_has_x_n_ || live_ == steps_)) {
    turned_ = true;
    live_ = kUnknown;
    return Turn{.step = steps_, .again = !turn_has_x_n_};
  }
  if (turned_ && at_ < 0) return end();
  if (turned_ && is_there()) {
    if (serves_later()) return keep();
    live_ = tape_ = kUnknown;
    return Adjoint{.step = at_--};
  }
  if (has_tapes() && turned_) return restore_tape();
  const auto x_n = turned_ ? ram_.cend() : ram_at(steps_);
  if (x_n != ram_.end()) return restore(*x_n);
  const std::int64_t target = this->target();
  give_up_above(target);
  while (active_ > 1 && anchors_.step(active_ - 1) > target) {
    if (is_lost(--active_)) continue;
    return Drop{{.tier = kDiskTier, .step = anchors_.step(active_), .place = active_}};
  }
  if (live_ == kUnknown) return start_below(target);
  return live_ == target ? advance(target + 1, true) : by_revolve(target);
}

// The state to reach: x_n, for TURN, or that of the step to be adjoined.
std::int64_t PassSweep::target() const {
  const bool x_n = !turned_ && turn_has_x_n_ && (!record_ || steps_ == 0);
  return x_n ? steps_ : at_;
}

// As StackSweep, but for what is given up: it is dropped where its place is needed.
Action PassSweep::by_revolve(std::int64_t target) {
  const std::int64_t in_ram = ram_.empty() ? 0 : ram_.back().step;
  const std::int64_t top = std::max(in_ram, anchors_.step(newest_anchor(target)));
  if (live_ == top)
    return advance(live_ + splitter_.advance(target - live_ + 1, free_units() + 1), false);
  if (!free_.empty()) return keep();
  if (spare_.empty()) return advance(target, false);
  const Entry given_up = spare_.back();
  spare_.pop_back();
  return drop(given_up);
}

// A place that nobody needs: the state is there for a pass forward.
bool PassSweep::serves_later() const {
  if (record_ || free_.empty() || at_ == 0 || ram_at(at_) != ram_.end()) return false;
  return anchors_.step(newest_anchor(at_)) != at_;
}

Action PassSweep::end() {
  done_ = record_ || live_ == 0;
  if (done_) return Done{};
  return start_from(0);
}

bool PassSweep::lose(std::int64_t number) {
  live_ = tape_ = kUnknown;
  if (number < 1 || !anchors_stay_ || std::ssize(lost_) == kMostLost) return false;
  const std::int64_t block = number / pass_.states_per_block;
  lost_.insert(std::upper_bound(lost_.begin(), lost_.end(), block), block);
  return true;
}

}  // namespace anadrome::schedule

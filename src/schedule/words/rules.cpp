// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/words/rules.h"

#include <algorithm>

#include "base/error.h"
#include "base/index.h"

namespace anadrome::schedule {

Rules::Rules(RuleOptions options)
    : options_(std::move(options)),
      run_before_(options_.steps.size(), 0),
      to_adjoin_(options_.steps) {
  if (options_.branches) live_ = kNone;
  if (!options_.turn) ended_ = turned_ = {0};
}

void Rules::require(bool holds, const char* rule) const {
  if (holds) return;
  throw Error(ANADROME_ERR_INTERNAL, "action " + std::to_string(played_) + " (" + doing_ +
                                         "), live " + std::to_string(live_.second) + ": " + rule);
}

std::int64_t& Rules::at(std::vector<std::int64_t>& values, std::int64_t branch) {
  require(0 <= branch && size(branch) < values.size(), "no such branch");
  return values[size(branch)];
}

std::int64_t Rules::units_of(const Kept& kept) const {
  if (kept.what == What::kTape) return options_.tape_units;
  return options_.state_units ? options_.state_units(kept.step) : 1;
}

void Rules::play(const Action& action) {
  static constexpr const char* kNames[] = {"start", "advance", "keep", "restore", "drop",  "write",
                                           "read",  "decide",  "turn", "adjoint", "visit", "done"};
  doing_ = kNames[action.index()];
  ++played_;
  require(!done_, "something comes after the end");
  std::visit([this](const auto& what) { play(what); }, action);
  const bool progress = std::holds_alternative<Advance>(action) ||
                        std::holds_alternative<Adjoint>(action) ||
                        std::holds_alternative<Visit>(action);
  const auto kept = static_cast<std::int64_t>(ram_.size() + disk_.size() + 8 * to_adjoin_.size());
  idle_ = progress ? 0 : idle_ + 1;
  if (progress) kept_at_progress_ = kept;
  require(idle_ <= 16 + 2 * std::max(kept, kept_at_progress_), "nothing goes on");
}

// ---- forward and back ----

void Rules::play(const Start& start) {
  const bool again = started_.contains(start.branch);
  require(at(to_adjoin_, start.branch) >= 0 && start.again == again, "`again` is wrong");
  require(!again || options_.starts_free, "x_0 was to be kept");
  started_.insert(start.branch);
  live_ = {start.branch, 0};
  tape_ = kNone;
}

void Rules::play(const Advance& advance) {
  const std::int64_t n = at(options_.steps, advance.branch);
  std::int64_t& run_before = at(run_before_, advance.branch);
  require(live_ == State(advance.branch, advance.first), "its state is not live");
  require(advance.first < advance.last, "an advance over nothing");
  require(n == kUnknown || advance.last <= n, "beyond the end");
  require(!advance.record || options_.record, "nobody asked for a tape");
  const bool again_fits = advance.again ? advance.last <= run_before : advance.first >= run_before;
  require(again_fits, "`again` is wrong");
  const std::int64_t steps = advance.last - advance.first;
  taken_.recorded += advance.record ? 1 : 0;
  taken_.advances += steps - (advance.record ? 1 : 0);
  run_before = std::max(run_before, advance.last);
  live_.second = advance.last;
  tape_ = advance.record ? State(advance.branch, advance.last - 1) : kNone;
}

void Rules::play(const Decide& decide) {
  require(live_.second == decide.step && turned_.empty(), "a decision elsewhere");
  ++taken_.decisions;
}

void Rules::play(const Turn& turn) {
  require(what_ != Played::kForward, "a turn in a pass forward");
  const bool of_pass = what_ == Played::kReverse;
  require(of_pass || live_ == State(turn.branch, turn.step), "its state is not live");
  require(turn.step == at(options_.steps, turn.branch), "not the end");
  const bool all_ended = ended_.size() == to_adjoin_.size();
  require(turn.again == (of_pass || (options_.branches && all_ended)), "`again` is wrong");
  require(ended_.insert(turn.branch).second || turn.again, "a second turn");
  if (turn.again || !options_.branches) {
    require(turned_.insert(turn.branch).second, "a second turn");
  }
  live_ = kNone;  // the caller may write to it; a tape stays as it is
}

void Rules::play(const Adjoint& adjoint) {
  std::int64_t& to_adjoin = at(to_adjoin_, adjoint.branch);
  require(turned_.contains(adjoint.branch), "an adjoint before the turn");
  require(!options_.ends_first || turned_.size() == to_adjoin_.size(), "before all ends were seen");
  require(adjoint.step == to_adjoin - 1, "adjoints come once, in order");
  const State needed = {adjoint.branch, adjoint.step};
  require((options_.record ? tape_ : live_) == needed, "what it needs is not there");
  live_ = tape_ = kNone;
  --to_adjoin;
  ++taken_.adjoints;
}

void Rules::play(const Visit& visit) {
  require(what_ == Played::kForward, "a visit in no pass forward");
  require(visit.step == to_visit_, "visits come once, in order");
  require((options_.record ? tape_ : live_) == State(0, visit.step), "what it needs is not there");
  ++to_visit_;
  ++taken_.visits;
}

void Rules::play(const Done&) {
  done_ = true;
  if (what_ == Played::kForward) {
    return require(to_visit_ == options_.steps[0], "visits are missing");
  }
  require(turned_.size() == to_adjoin_.size(), "no turn");
  for (const std::int64_t left : to_adjoin_) require(left == 0, "adjoints are missing");
  const bool needs_x_0 = !options_.branches && !options_.record && options_.turn;
  require(!needs_x_0 || live_ == State(0, 0), "x_0 is not live at the end");
  require(!options_.branches || ram_.empty(), "slots are left");
}

// ---- in RAM ----

void Rules::take_room(const Kept& kept) {
  const std::int64_t begin = kept.room.begin, units = units_of(kept);
  require(kept.room.units == units, "its room is not as large as it is");
  require(begin >= 0 && begin <= options_.units - units, "beyond the memory");
  const auto apart = [&](const Room& other) {
    return other.begin + other.units <= begin || begin + units <= other.begin;
  };
  for (const auto& [place, held] : ram_) require(apart(held.room), "the memory is in use");
  for (const auto& [number, held] : disk_) {
    require(!held.in_memory || apart(held.room), "the memory is in use by a state on disk");
  }
  units_used_ += units;
  taken_.most_units = std::max(taken_.most_units, units_used_);
}

void Rules::play(const Keep& kept) {
  if (kept.tier == kDiskTier) return keep_anchor(kept);
  const bool tape = kept.what == What::kTape;
  require(!tape || options_.tape_units > 0, "nobody asked for tapes to be kept");
  require((tape ? tape_ : live_).second == kept.step, "it is not there to be kept");
  take_room(kept);
  const State state = tape ? tape_ : live_;
  require(ram_.try_emplace(kept.place, InRam{kept.what, state, kept.room}).second,
          "the slot is not free");
  ++taken_.keeps;
}

Rules::InRam& Rules::in_ram(const Kept& kept) {
  const auto held = ram_.find(kept.place);
  require(held != ram_.end() && held->second.what == kept.what &&
              held->second.state.second == kept.step,
          "it is not kept there");
  return held->second;
}

void Rules::play(const Restore& kept) {
  if (kept.tier == kDiskTier) {
    const OnDisk& held = on_disk(kept);
    require(!options_.transfers || held.in_memory, "it is not in memory");
    live_ = held.state;
    tape_ = kNone;
    ++taken_.anchor_restores;
    return;
  }
  const InRam& held = in_ram(kept);
  ++taken_.restores;
  const State state = held.state;
  live_ = tape_ = kNone;
  (held.what == What::kTape ? tape_ : live_) = state;
  if (held.what == What::kTape && options_.tape_restarts) live_ = {state.first, state.second + 1};
}

void Rules::play(const Drop& kept) {
  if (kept.tier == kDiskTier) {
    OnDisk& held = on_disk(kept);
    if (options_.transfers) {
      require(held.in_memory, "it is not in memory");
      held.in_memory = false;
      units_used_ -= held.room.units;
    } else if (options_.anchors_stay) {
      held.dropped = true;
    } else {
      disk_.erase(kept.place);
    }
    return;
  }
  units_used_ -= in_ram(kept).room.units;
  ram_.erase(kept.place);
  ++taken_.drops;
}

// ---- on disk ----

void Rules::keep_anchor(const Keep& kept) {
  require(live_.second == kept.step, "its state is not live");
  require(kept.place >= 0 && kept.place < options_.disk_slots, "no such place on disk");
  const auto held = disk_.find(kept.place);
  if (options_.transfers) {
    require(held == disk_.end() || !held->second.in_memory, "it is kept already");
    take_room(kept);
  } else if (options_.anchors_stay) {
    require(turned_.empty(), "an anchor in the reverse sweep");
    require(kept.place == std::ssize(disk_), "anchors are numbered on");
    require(disk_.empty() || disk_.rbegin()->second.state.second < kept.step, "out of order");
  } else {
    require(held == disk_.end(), "the place on disk is not free");
  }
  disk_[kept.place] = {live_, options_.transfers, false, false, kept.room};
  taken_.most_disk_slots = std::max(taken_.most_disk_slots, std::ssize(disk_));
  ++taken_.anchors;
}

Rules::OnDisk& Rules::on_disk(const Kept& kept) {
  const auto held = disk_.find(kept.place);
  require(held != disk_.end() && held->second.state.second == kept.step, "it is not on disk");
  require(!held->second.dropped, "it was dropped");
  return held->second;
}

void Rules::play(const Write& kept) {
  OnDisk& held = on_disk(kept);
  require(options_.transfers && held.in_memory, "it is not in memory to be written");
  held.written = true;
  ++taken_.writes;
}

void Rules::play(const Read& kept) {
  OnDisk& held = on_disk(kept);
  require(options_.transfers && held.written && !held.in_memory, "it is not to be read");
  take_room(kept);
  held.in_memory = true;
  held.room = kept.room;
  ++taken_.reads;
}

// ---- what the caller does ----

void Rules::end_is(std::int64_t steps) {
  require(options_.steps[0] == kUnknown && steps <= live_.second, "the end is known");
  taken_.advances -= live_.second - steps;
  options_.steps[0] = to_adjoin_[0] = run_before_[0] = live_.second = steps;
  if (tape_.second >= steps) {  // the step that was to be recorded did not come
    tape_ = kNone;
    --taken_.recorded;
    ++taken_.advances;
  }
}

void Rules::lose(std::int64_t number) {
  idle_ = 0;
  live_ = tape_ = kNone;
  const auto lost = disk_.find(number);
  require(lost != disk_.end(), "what was lost was not on disk");
  if (options_.anchors_stay && what_ == Played::kSweep) {
    for (auto held = lost; held != disk_.end(); ++held) held->second.dropped = true;
    return;
  }
  if (lost->second.in_memory) units_used_ -= lost->second.room.units;
  disk_.erase(lost);
}

void Rules::remain(const Remains& remains) {
  options_.steps = to_adjoin_ = run_before_ = {remains.course.steps};
  options_.units = remains.units;
  options_.record = remains.record;
  options_.anchors_stay = !remains.anchors.empty();
  options_.disk_slots = remains.anchors.count();
  live_ = tape_ = kNone;
  done_ = true;
  for (const Kept& kept : remains.in_ram) {
    const bool tape = kept.what == What::kTape;
    if (tape) options_.tape_units = kept.room.units;
    take_room(kept);
    ram_[kept.place] = {kept.what, {0, kept.step}, kept.room};
  }
  for (std::int64_t number = 0; number < remains.anchors.count(); ++number) {
    disk_[number].state = {0, remains.anchors.step(number)};
  }
}

void Rules::begin_pass(const Pass& pass) {
  rewind(pass.restorable);
  what_ = pass.direction == Direction::kForward ? Played::kForward : Played::kReverse;
  to_visit_ = 0;
}

void Rules::rewind(std::int64_t restorable) {
  require(done_, "the sweep is not done");
  done_ = false;
  what_ = Played::kSweep;
  live_ = tape_ = kNone;
  to_adjoin_ = options_.steps;
  ended_.clear();
  turned_.clear();
  taken_ = {};
  if (!options_.anchors_stay) return;
  disk_.erase(disk_.lower_bound(restorable), disk_.end());
  for (auto& [number, held] : disk_) held.dropped = false;
}

}  // namespace anadrome::schedule

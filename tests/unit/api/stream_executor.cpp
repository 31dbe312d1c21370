// SPDX-License-Identifier: BSD-2-Clause
#include "stream_executor.h"

#include <algorithm>
#include <stdexcept>

namespace {

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9E3779B97F4A7C15U;
  return a ^ (a >> 29);
}

std::uint64_t start_of(std::int64_t branch) {
  return mixed(1, static_cast<std::uint64_t>(branch) + 1);
}

std::uint64_t after_step(std::uint64_t state, std::int64_t step) {
  return mixed(state, static_cast<std::uint64_t>(step) + 1);
}

std::int64_t at(const std::vector<std::int64_t>& values, std::int64_t index) {
  return values.at(static_cast<std::size_t>(index));
}

}  // namespace

StreamExecutor::StreamExecutor(Limits limits)
    : limits_(std::move(limits)), run_before_(limits_.steps.size()), to_adjoin_(limits_.steps) {
  if (limits_.steps.size() == 1) live_ = {0, 0, start_of(0)};
}

void StreamExecutor::require(bool holds, const std::string& rule) const {
  if (!holds) throw std::logic_error(doing_ + ": " + rule);
}

void StreamExecutor::play(const anadrome_schedule_action& action) {
  doing_ = "kind " + std::to_string(action.kind) + ", " + std::to_string(action.first) + " to " +
           std::to_string(action.last) + ", slot " + std::to_string(action.slot);
  require(!done_, "after DONE");
  switch (action.kind) {
    case ANADROME_SCHEDULE_START:
      require(started_.insert(action.branch).second == (action.again == 0), "`again`");
      live_ = {action.branch, 0, start_of(action.branch)};
      tape_ = {};
      break;
    case ANADROME_SCHEDULE_ADVANCE:
      return advance(action);
    case ANADROME_SCHEDULE_TURN:
      return turn(action);
    case ANADROME_SCHEDULE_ADJOINT:
      return adjoint(action);
    case ANADROME_SCHEDULE_KEEP:
      return keep(action);
    case ANADROME_SCHEDULE_RESTORE:
      return restore(action);
    case ANADROME_SCHEDULE_DROP:
      return drop(action);
    case ANADROME_SCHEDULE_WRITE:
    case ANADROME_SCHEDULE_READ:
      return transfer(action);
    case ANADROME_SCHEDULE_DONE:
      for (const std::int64_t left : to_adjoin_) require(left == 0, "adjoints are missing");
      require(turned_.size() == to_adjoin_.size(), "no TURN");
      done_ = true;
      break;
    default:
      require(false, "no such kind");
  }
}

void StreamExecutor::advance(const anadrome_schedule_action& action) {
  require(live_.exists() && live_.branch == action.branch && live_.step == action.first,
          "its state is not live");
  require(action.first < action.last && action.last <= at(limits_.steps, action.branch),
          "not within the sweep");
  require(action.record == 0 || limits_.record, "nobody asked for a tape");
  std::int64_t& run_before = run_before_[static_cast<std::size_t>(action.branch)];
  require(action.again != 0 ? action.last <= run_before : action.first >= run_before, "`again`");
  run_before = std::max(run_before, action.last);
  advances_ += action.last - action.first;
  tape_ = {};
  for (; live_.step < action.last; ++live_.step) {
    if (action.record != 0 && live_.step == action.last - 1) tape_ = live_;
    live_.number = after_step(live_.number, live_.step);
  }
}

void StreamExecutor::turn(const anadrome_schedule_action& action) {
  require(action.first == at(limits_.steps, action.branch) && live_.branch == action.branch &&
              live_.step == action.first,
          "x_n is not live");
  const bool all_ended = limits_.steps.size() > 1 && ended_.size() == limits_.steps.size();
  require((action.again != 0) == all_ended, "`again`");
  ended_.insert(action.branch);
  if (all_ended || limits_.steps.size() == 1) {
    require(turned_.insert(action.branch).second, "a second TURN");
  }
  live_ = {};
}

void StreamExecutor::adjoint(const anadrome_schedule_action& action) {
  std::int64_t& left = to_adjoin_[static_cast<std::size_t>(action.branch)];
  require(turned_.contains(action.branch), "before TURN");
  require(action.first == left - 1 && action.last == left, "not the next one");
  const Value& needed = limits_.record ? tape_ : live_;
  require(needed.branch == action.branch && needed.step == action.first,
          "what it needs is not there");
  --left;
  gradient_ += mixed(needed.number, static_cast<std::uint64_t>(action.first));
  live_ = tape_ = {};
}

std::int64_t StreamExecutor::units_of(const Held& held) const {
  if (held.is_tape) return limits_.tape_units;
  return limits_.bytes.empty() ? 1 : at(limits_.bytes, held.value.step);
}

void StreamExecutor::note_use() {
  std::int64_t units = 0, on_disk = 0;
  for (const auto& [place, held] : kept_) {
    const bool in_memory = place.first == 0 || (limits_.transfers && held.in_memory);
    units += in_memory ? units_of(held) : 0;
    on_disk += place.first == 1 ? 1 : 0;
  }
  require(units <= limits_.units, std::to_string(units) + " units in memory");
  require(on_disk <= limits_.disk_slots, std::to_string(on_disk) + " states on disk");
  most_units_ = std::max(most_units_, units);
  most_on_disk_ = std::max(most_on_disk_, on_disk);
}

void StreamExecutor::keep(const anadrome_schedule_action& action) {
  const Place place = {action.tier, action.slot};
  Held held;
  held.is_tape = action.what == ANADROME_SCHEDULE_TAPE;
  held.value = held.is_tape ? tape_ : live_;
  held.begin = action.begin;
  held.units = action.units;
  require(held.value.exists() && held.value.step == action.first, "it is not there to be kept");
  require(action.slot >= 0 && (action.tier == 0 || action.tier == 1), "no such place");
  require(action.tier == 0 || action.slot < limits_.disk_slots, "no such slot on disk");
  const auto before = kept_.find(place);
  const bool overwrites = action.tier == 1 && limits_.transfers;
  require(before == kept_.end() || (overwrites && !before->second.in_memory), "the slot is in use");
  if (action.tier == 0 || limits_.transfers) {
    require(held.begin >= 0 && held.begin + held.units <= limits_.units, "beyond the memory");
    require(held.units >= units_of(held), "less room than it takes");
  }
  for (const auto& [other, in_use] : kept_) {  // units that several states share
    const bool has_units = other.first == 0 || (limits_.transfers && in_use.in_memory);
    if (!has_units || (action.tier == 1 && !limits_.transfers)) continue;
    require(in_use.begin + in_use.units <= held.begin || held.begin + held.units <= in_use.begin,
            "the memory is in use");
  }
  kept_[place] = held;
  note_use();
}

StreamExecutor::Held& StreamExecutor::held(const anadrome_schedule_action& action) {
  const auto found = kept_.find({action.tier, action.slot});
  require(found != kept_.end() && found->second.value.step == action.first &&
              found->second.is_tape == (action.what == ANADROME_SCHEDULE_TAPE),
          "it is not kept there");
  return found->second;
}

void StreamExecutor::restore(const anadrome_schedule_action& action) {
  Held& found = held(action);
  require(found.in_memory, "it is not in memory");
  if (action.tier == 1) most_restores_ = std::max(most_restores_, ++found.restores);
  live_ = tape_ = {};
  (found.is_tape ? tape_ : live_) = found.value;
  if (!found.is_tape || !limits_.stiff) return;
  live_ = found.value;
  live_.number = after_step(live_.number, live_.step);
  ++live_.step;
}

void StreamExecutor::drop(const anadrome_schedule_action& action) {
  Held& found = held(action);
  if (action.tier == 0 || !limits_.transfers) {
    if (action.tier == 0 || !limits_.anchors_stay) kept_.erase({action.tier, action.slot});
    return;
  }
  require(found.in_memory, "it is not in memory");
  found.in_memory = false;
  if (!found.on_disk) kept_.erase({action.tier, action.slot});
}

void StreamExecutor::transfer(const anadrome_schedule_action& action) {
  require(limits_.transfers && action.tier == 1, "a transfer");
  ++transfers_;
  Held& found = held(action);
  if (action.kind == ANADROME_SCHEDULE_WRITE) {
    require(found.in_memory && !found.on_disk, "a write of what is not in memory, or written");
    found.on_disk = true;
    return;
  }
  require(found.on_disk && !found.in_memory, "a read of what is not on disk, or in memory");
  found.in_memory = true;
  found.begin = action.begin;
  note_use();
}

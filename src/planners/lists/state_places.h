// SPDX-License-Identifier: BSD-2-Clause
// Where the states of a plan of overlapped.h are: which of them on disk, under which number, and
// where in memory, each in a region of its own from the action that keeps or reads it to its drop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/index.h"
#include "planners/lists/overlapped.h"

namespace anadrome::schedule {

/// A place on disk in the `slot` of an action, told apart from RAM slots.
constexpr std::int32_t disk_place(std::int32_t number) { return ~number; }
constexpr bool is_disk_place(std::int32_t slot) { return slot < 0; }
constexpr std::int32_t disk_number(std::int32_t slot) { return ~slot; }

/// The time that a state spends in a slot, from the action that keeps or reads it to the one that
/// drops it.
struct Stay {
  std::size_t begin, end;
  bool with_disk;  ///< it is written then, or was read
};
struct Stays {
  std::vector<Stay> all;
  std::vector<std::int32_t> of_action;  ///< -1: the action has no slot
};
Stays stays_of(const std::vector<OverlapAction>& actions);

/// Gives every state that is written, or was read, a number on disk in place of its slot, the
/// lowest that is free from its first to its last use; 0 is x_0's and nobody else's, since the
/// engine has a copy of number 0. Returns how many numbers there are: states on disk at a time.
std::int64_t number_disk_states(std::vector<OverlapAction>& actions);

/// The units of a chain's states.
class StateUnits {
 public:
  StateUnits() = default;  ///< one unit each
  explicit StateUnits(std::vector<std::int64_t> units) : units_(std::move(units)) {
    if (units_.empty()) return;
    const auto [least, most] = std::minmax_element(units_.begin(), units_.end());
    largest_ = *most;
    equal_ = *least == *most;
  }

  std::int64_t of(std::int64_t step) const { return units_.empty() ? 1 : units_[at(step)]; }
  std::int64_t largest() const { return largest_; }
  bool equal() const { return equal_; }

 private:
  std::vector<std::int64_t> units_;
  std::int64_t largest_ = 1;
  bool equal_ = true;
};

/// For each action with a slot, the first unit of its state's region becomes its `last`: every slot
/// has room for the largest state.
void place_slots(std::vector<OverlapAction>& actions, const StateUnits& units);

/// place_slots with regions as large as their states, whatever the slots are. Returns how many
/// units are needed: the least of several ways of packing (dynamic storage allocation, known from
/// beginning to end), at least the units of all states that are there at a time, and as many where
/// they nest. O(m) regions at a time for each of m, and m^2 up to 4096.
std::int64_t place_states(std::vector<OverlapAction>& actions, const StateUnits& units);

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// Where the states of a plan of overlapped.h lie in memory: each in a region of its own, from the
// action that keeps or reads it to the one that drops it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/index.h"
#include "planners/lists/overlapped.h"

namespace anadrome::schedule {

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

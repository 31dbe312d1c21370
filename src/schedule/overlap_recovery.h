// SPDX-License-Identifier: BSD-2-Clause
// The way on when a state that a plan counts on is lost.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "schedule/overlapped.h"
#include "schedule/state_places.h"

namespace anadrome::schedule {

/// States that can still be had: places of overlap_places.h, by step.
struct StatesLeft {
  struct InMemory {
    std::int32_t place = 0;
    std::int64_t begin = 0;  ///< of its region
  };
  std::map<std::int64_t, InMemory> in_memory;
  std::map<std::int64_t, std::int32_t> on_disk;
};

/// The states that a plan has left behind after `count` actions.
StatesLeft states_left(const std::vector<OverlapAction>& actions, std::size_t count);

/// Reverses the steps below `steps` in a memory of so many units: from the highest of the states to
/// the lowest, each with Revolve in the slots for the largest state that have room between those
/// below it. Nothing is live. The actions have their regions. Empty if there is no state to start
/// from.
std::vector<OverlapAction> recover(std::int64_t steps, std::int64_t memory, const StateUnits& units,
                                   const StatesLeft& left);

}  // namespace anadrome::schedule

// What is done when a state that a plan counts on is lost.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "schedule/overlapped.h"

namespace anadrome::schedule {

/// States that can still be had: places of overlap_places.h, by step.
struct StatesLeft {
  std::map<std::int64_t, std::int32_t> in_memory;
  std::map<std::int64_t, std::int32_t> on_disk;
};

/// What a plan has left behind after `count` actions.
StatesLeft states_left(const std::vector<OverlapAction>& actions, std::size_t count);

/// Reverses the steps below `steps`: from the highest of the states to the lowest, each with
/// Revolve in the slots that those below it do not take. Nothing is live. Empty if there is no
/// state to start from.
std::vector<OverlapAction> recover(std::int64_t steps, std::int64_t slots, const StatesLeft& left);

}  // namespace anadrome::schedule

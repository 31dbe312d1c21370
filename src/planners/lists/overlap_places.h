// SPDX-License-Identifier: BSD-2-Clause
// Which states of a plan of overlapped.h are on disk, and where: a state that is never written or
// read is a checkpoint in RAM and nothing else.
#pragma once

#include <cstdint>
#include <vector>

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

}  // namespace anadrome::schedule

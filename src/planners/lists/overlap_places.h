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

/// Gives every state that is written, or was read, a number on disk in place of its slot, the
/// lowest that is free from its first to its last use; 0 is x_0's and nobody else's, since the
/// engine has a copy of number 0. Returns how many numbers there are: states on disk at a time.
std::int64_t number_disk_states(std::vector<OverlapAction>& actions);

}  // namespace anadrome::schedule

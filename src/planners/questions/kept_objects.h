// SPDX-License-Identifier: BSD-2-Clause
// Memories that hold states or tapes or both, and in which x_0 takes room or not (Gruslys et al.
// 2016, arXiv 1606.03401). Each of the problems is one that has a closed form already: Revolve's,
// or that of tape_levels.h. docs/theory-memory.md says which.
#pragma once

#include <memory>

#include "schedule/stack/tape_levels.h"
#include "schedule/words/placement.h"

namespace anadrome::questions {

enum class Objects : std::uint8_t {
  kStates,  ///< HSM
  kTapes,   ///< ISM; the tape of step k must hold x_{k+1}
  kMixed,   ///< MSM
};

struct KeptObjects {
  Objects objects = Objects::kMixed;
  std::int64_t tape_units = 1;  ///< of a kept tape, where a state takes 1; any for kStates
  bool tape_restarts = false;   ///< the tape of step k holds x_{k+1}
  /// x_0 is restored from elsewhere at no cost: a file, or the program makes it anew. StackSweep
  /// takes a disk slot for it. The tape that was just recorded never takes room.
  bool free_start = false;
};

/// The least forward steps, recorded ones included, that reverse `steps` steps with `units` of
/// memory. Throws ERR_ARGUMENT unless 0 <= steps <= 2^62, and where nothing can be kept that is
/// needed: x_0, or a tape to go on from.
schedule::uint128 forwards_of(std::int64_t steps, std::int64_t units, const KeptObjects& kept);

/// A planner for StackOptions with `record`, the same tapes, and one disk slot if free_start.
/// Throws ERR_ARGUMENT unless tape_units >= 1, and on kTapes without tape_restarts.
std::unique_ptr<schedule::Planner> planner_for(const KeptObjects& kept);

}  // namespace anadrome::questions

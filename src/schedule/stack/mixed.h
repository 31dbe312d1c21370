// SPDX-License-Identifier: BSD-2-Clause
// States and tapes in one memory: Maddison 2023 (a tape takes as much as a state), generalised to
// tapes of several units (Zhang & Constantinescu 2023) and to giving up a state at its last visit.
// Optimal, in closed form; exact for steps <= 2^62.
#pragma once

#include "schedule/stack/tape_levels.h"
#include "schedule/words/placement.h"

namespace anadrome::schedule {

/// The least advances, recorded steps not counted, that reverse `steps` steps from a live x_0 with
/// `units` of memory, where a state takes 1 and the tape of a step `tape_units`. `tape_restarts`:
/// the tape of step k holds x_{k+1}. Throws ERR_ARGUMENT unless 0 <= steps <= 2^62, tape_units >= 1
/// and units >= 1 (>= 0 for one step).
uint128 mixed_advances(std::int64_t steps, std::int64_t units, std::int64_t tape_units,
                       bool tape_restarts);

/// A planner for StackOptions with the same tape_units and tape_restarts. It puts nothing on disk,
/// and reverses what another planner put there.
class MixedPlanner final : public Planner {
 public:
  /// Throws ERR_ARGUMENT unless tape_units >= 1.
  MixedPlanner(std::int64_t tape_units, bool tape_restarts);

  /// Throws ERR_ARGUMENT if there is no unit for x_first.
  Placement place(const Segment& segment) override;
  uint128 advances(const Segment& segment) override;

 private:
  TapeLevels levels_;
};

}  // namespace anadrome::schedule

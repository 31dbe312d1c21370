// SPDX-License-Identifier: BSD-2-Clause
// The optimum of a sweep and the passes after it, by breadth-first search over (part, next step,
// live state, states in RAM), for every set of anchors. It knows what a machine can do, and no
// schedule.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/words/sweep.h"

namespace anadrome::schedule {

struct SmallPasses {
  int steps = 1;                  ///< n <= 9
  int slots = 1;                  ///< states in RAM, x_0 among them unless it is an anchor
  int anchors = 0;                ///< states on disk, x_0 among them: kept in the first sweep
  std::vector<Direction> passes;  ///< after the sweep forward, its TURN at x_n, and back
};

/// The fewest forward steps of all of it.
std::int64_t fewest_steps(const SmallPasses& problem);

}  // namespace anadrome::schedule

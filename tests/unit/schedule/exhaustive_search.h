// SPDX-License-Identifier: BSD-2-Clause
// The optimum of a small reversal, by Dijkstra over (step to adjoin, live state, states kept, tapes
// kept, states on disk). It knows what a machine can do, and no schedule.
#pragma once

#include <cstdint>
#include <vector>

namespace anadrome::schedule {

struct SmallReversal {
  int steps = 1;                               ///< n <= 10, with tapes <= 8
  std::int64_t units = 1;                      ///< of memory for states and tapes
  std::vector<std::int64_t> step_cost = {};    ///< of n steps; empty: 1 each
  std::vector<std::int64_t> state_units = {};  ///< of x_0 .. x_{n-1}; empty: 1 each
  std::int64_t tape_units = 0;                 ///< 0: tapes are not kept
  bool tape_restarts = false;                  ///< the tape of step k holds x_{k+1}
  bool start_is_free = false;                  ///< x_0 can always be restored and takes no memory
  bool states_are_kept = true;                 ///< false: but x_0, if that is free
  std::int64_t disk_slots = 0;                 ///< states on disk
  std::int64_t write = 0, read = 0;            ///< what one costs
};

/// The least cost of all forward steps beyond the one recorded run of each step, and of transfers;
/// x_0 is live at first, the adjoint of step n-1 comes first. -1: it cannot be done.
std::int64_t least_extra_cost(const SmallReversal& problem);

}  // namespace anadrome::schedule

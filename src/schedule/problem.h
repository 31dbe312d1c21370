// SPDX-License-Identifier: BSD-2-Clause
// The problem that a schedule's row makes a sweep of: the steps, the memory as it was cut, the
// disk, the options and the times. All ranks have the same, so all of them make the same sweep.
#pragma once

#include <cstdint>

#include "schedule/anchored/interval_problem.h"
#include "schedule/words/placement.h"

namespace anadrome::schedule {

struct Sizing {
  std::int64_t steps = 0;     ///< n, or kUnknown
  bool record = false;        ///< the adjoint of a step needs its tape
  std::int64_t interval = 0;  ///< steps between anchors; 0: not given

  bool end_known() const { return steps != kUnknown; }
  /// Steps that are reversed: TURN is one, unless a tape is what adjoint steps need.
  std::int64_t chain() const { return steps + (record ? 0 : 1) > 1 ? steps + (record ? 0 : 1) : 1; }
};

struct Problem {
  Sizing sizing;

  std::int64_t slots = 1;       ///< states in memory at a time; kept tapes take some of them
  std::int64_t read_ahead = 0;  ///< blocks of memory that are for reading ahead
  SharedMemory shared;          ///< the memory that these two are cut from
  bool large_states = true;     ///< a block holds one
  bool tape_restarts = false;   ///< the tape of step k holds x_{k+1}

  std::int64_t blocks_on_disk = 0;  ///< that the disk may hold; 0: there is none
  bool disk_is_full = false;        ///< it takes no state but x_0
  bool all_anchors = false;         ///< to the end, as for files that somebody will read
  bool leaves_states = false;       ///< in RAM, for a pass after the sweep
  /// Nothing is in memory but what was kept there, and there is one reverse sweep.
  bool in_the_abstract = false;
  std::int64_t checkpoints = -1;  ///< most slots, as the option says; -1: all there are

  StepCosts costs;  ///< seconds; `adjoint` without the step that records a tape
  const IntervalTimes* interval_times = nullptr;  ///< of intervals that were measured
};

}  // namespace anadrome::schedule

// Which intervals a run of double checkpointing takes, once it knows what a step and a transfer
// take.
#pragma once

#include <cstdint>
#include <memory>

#include "schedule/double_sweep.h"

namespace anadrome::schedule {

struct DoubleChoice {
  std::int64_t steps = kMostSteps;  ///< that are reversed; kMostSteps if n is unknown
  std::int64_t lead = 0;            ///< steps that are run before the first full interval
  std::int64_t disk_slots = 1;      ///< states on disk at a time
  std::int64_t interval = 0;        ///< 0: the one that takes the least time
  DoubleMemory memory;
  bool record = false;       ///< the adjoint of a step needs its tape
  bool reads_ahead = false;  ///< there is memory for it

  bool end_known() const { return steps < kMostSteps; }
  /// Shorter intervals would be too many for the disk.
  std::int64_t least_interval() const;
  /// The same on all ranks for the same times. May lack the memory.
  std::unique_ptr<Planner> planner(const StepCosts& costs) const;
};

}  // namespace anadrome::schedule

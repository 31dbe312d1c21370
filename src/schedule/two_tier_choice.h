// Which planner a run takes for RAM and disk, once it knows what a step and a transfer take.
#pragma once

#include <cstdint>
#include <memory>

#include "schedule/interval.h"
#include "schedule/placement.h"

namespace anadrome::schedule {

struct TwoTierChoice {
  std::int64_t steps = 0;       ///< that are reversed, TURN among them
  std::int64_t units = 1;       ///< states in RAM
  std::int64_t disk_slots = 1;  ///< states on disk at a time, x_0 among them
  bool unbounded = false;       ///< by Disk-Revolve, if its states fit all the same

  /// The same on all ranks for the same times. May lack the memory.
  std::unique_ptr<Planner> planner(const StepCosts& costs) const;
};

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// The seconds that a sweep of known length is expected to take, by schedule and measured times, for
// a choice between them. Transfers run beside the computation, as they do in a run.
#pragma once

#include <cstdint>
#include <optional>

#include "schedule/clock.h"
#include "schedule/interval.h"
#include "schedule/overlapped.h"
#include "schedule/placement.h"

namespace anadrome::schedule {

/// RAM and disk as a planner of nested schedules has them.
struct TwoTierMemory {
  std::int64_t units = 1;       ///< states in RAM
  std::int64_t disk_slots = 1;  ///< states on disk at a time
  DiskUse disk;
};

/// `steps`: with TURN. Each state is read while what lies above it is reversed, from RAM. Nothing
/// if the planner puts so many states on disk that counting would take long.
std::optional<double> seconds_of_two_tier(const StepCosts& costs, const TwoTierMemory& memory,
                                          std::int64_t steps, Planner& planner);

/// The seconds of the plan, and those that its transfers take from the caller.
double seconds_of_overlapped(const StepCosts& costs, const OverlappedPlan& plan);

}  // namespace anadrome::schedule

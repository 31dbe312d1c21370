// SPDX-License-Identifier: BSD-2-Clause
// The machine of schedule/overlapped.h, twice, and with no code of the planner: one that carries
// out a plan and breaks on any rule, and one that tries everything there is.
#pragma once

#include <cstdint>

#include "schedule/overlapped.h"

namespace anadrome::schedule {

/// Carries the plan out; std::logic_error for a rule broken. Seconds.
double execute(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
               const OverlappedPlan& plan);

/// Whole numbers; forward = 1.
struct WholeTimes {
  int write, read, adjoint;
};

/// The optimal makespan by breadth-first search over all states of the machine, one unit of time
/// after the other. `most` is a makespan that can be reached. steps <= 8, times <= 15.
int exhaustive_optimum(int steps, int slots, const WholeTimes& times, int most);

}  // namespace anadrome::schedule

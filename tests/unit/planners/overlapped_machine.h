// SPDX-License-Identifier: BSD-2-Clause
// The machine of planners/lists/overlapped.h, with no code of the planner: it carries out a plan
// and breaks on any rule.
#pragma once

#include <cstdint>

#include "planners/lists/overlapped.h"

namespace anadrome::schedule {

/// Carries the plan out; std::logic_error for a rule broken. Seconds.
double execute(std::int64_t steps, std::int64_t slots, const OverlapTimes& times,
               const OverlappedPlan& plan);

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// What passes take after the sweep of a schedule: the sweep of a run is played, and passes as a run
// plays them, forward and in reverse in turns.
#pragma once

#include <cstdint>

#include "tool/schedules/schedule.h"

namespace anadrome::tool {

/// As many steps are played within seconds.
inline constexpr std::int64_t kMostStepsOfPasses = 1'000'000;

/// Fills in what is said of passes in `estimate`, a row that runs. question.passes > 0.
void add_passes(Estimate& estimate, const WhatIf& question, const RunProblem& run);

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
// The times of passes over a trajectory with an anchor every so many steps.
#pragma once

#include <cstdint>

#include "schedule/words/costs.h"

namespace anadrome::schedule {

/// Predicted seconds per step of a pass forward that reads the anchors of every `stride`-th block,
/// and runs all other steps.
double forward_pass_seconds(const StepCosts& costs, std::int64_t interval, bool reads_overlap,
                            std::int64_t stride = 1);

/// The stride that takes the least time; 1 unless another one gains something.
std::int64_t best_stride(const StepCosts& costs, std::int64_t interval, bool reads_overlap);
/// The same of `steps` steps with so many anchors, as many of them apart as there are on average.
std::int64_t best_stride(const StepCosts& costs, std::int64_t steps, std::int64_t anchors,
                         bool reads_overlap);

}  // namespace anadrome::schedule

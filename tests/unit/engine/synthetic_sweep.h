// SPDX-License-Identifier: BSD-2-Clause
// The events of a whole sweep, as a run would record them, with made-up times.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/sweep/trace.h"

namespace anadrome::engine {

struct SyntheticSteps {
  std::int64_t steps = 1000;  ///< with an anchor at every tenth
};

std::vector<TraceEvent> synthetic_sweep(const SyntheticSteps& of);

}  // namespace anadrome::engine

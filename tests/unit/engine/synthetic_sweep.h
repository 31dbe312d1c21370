// SPDX-License-Identifier: BSD-2-Clause
// The events of a whole sweep, as a run would record them: the real schedule with made-up times.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/sweep/trace.h"

namespace anadrome::engine {

struct SyntheticCosts {
  std::int64_t steps = 1000, slots = 8, interval = 10;  ///< interval 0: no disk
  double advance = 10e-3, adjoint = 20e-3, copy = 1e-3, write = 50e-3, read = 60e-3;
  double agree = 0.3e-3;
  int blocks_in_flight = 2;  ///< writes and reads ahead before the solver waits
  double jitter = 0.1;       ///< of every time
  std::uint64_t seed = 1;
};

std::vector<TraceEvent> synthetic_sweep(const SyntheticCosts& costs);

}  // namespace anadrome::engine

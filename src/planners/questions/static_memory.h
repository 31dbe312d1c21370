// SPDX-License-Identifier: BSD-2-Clause
// The least memory of Hong et al. 2025 (planners/memory/least_memory.h) where kept states stay to
// the end.
#pragma once

#include <cstdint>

#include "planners/memory/least_memory.h"

namespace anadrome::questions {

/// The peak is c_0 + all kept + the largest segment beside them. O(n) for each bound on the largest
/// segment that is tried: all that matter while they are few, otherwise until `most_visits` states
/// were looked at, the most promising first. Throws as schedule::least_memory does.
schedule::LeastMemory least_static_memory(const schedule::ChainSizes& sizes,
                                          std::int64_t most_visits = std::int64_t{1} << 27);

}  // namespace anadrome::questions

// SPDX-License-Identifier: BSD-2-Clause
// The plan of schedule=offload: the fastest of those that several planners make.
#pragma once

#include <cstdint>

#include "planners/lists/overlapped.h"
#include "planners/offload/offload_chain.h"

namespace anadrome::schedule {

/// The best plan found whose states have regions in `memory` units (state_places.h); of the chain,
/// fast_memory is not looked at. Plans of plan_offload are tried where they are not too long, and
/// what plan_overlapped makes of the mean times with slots for the largest state. Deterministic.
/// Throws as these do.
OverlappedPlan plan_offloaded(OffloadChain chain, std::int64_t memory,
                              std::int64_t most_ops = 6'000'000);

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// The plan of schedule=offload: the fastest of those that several planners make, as the list of
// actions that a ListSweep plays, one after the other where the machine of offload_chain.h did them
// beside each other.
#pragma once

#include <cstdint>
#include <vector>

#include "planners/lists/overlapped.h"
#include "planners/offload/offload_chain.h"
#include "planners/offload/offload_planner.h"

namespace anadrome::schedule {

/// The actions of a plan that ends. A state that is only passed, and stays live until it is needed,
/// has no slot; regions have to be given to the others.
std::vector<OverlapAction> actions_of(const OffloadPlan& plan);

/// The time of a list of actions in the chain's unit, each step counted by itself and each state in
/// the region it was given (state_places.h).
std::int64_t played_time(const OffloadChain& chain, const std::vector<OverlapAction>& actions);

/// The best plan found whose states have regions in `memory` units (state_places.h); of the chain,
/// fast_memory is not looked at. Plans of plan_offload are tried where they are not too long, and
/// what plan_overlapped makes of the mean times with slots for the largest state. Deterministic.
/// Throws as these do.
OverlappedPlan plan_offloaded(OffloadChain chain, std::int64_t memory,
                              std::int64_t most_ops = 6'000'000);

}  // namespace anadrome::schedule

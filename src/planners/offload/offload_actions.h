// SPDX-License-Identifier: BSD-2-Clause
// A plan of keeping, offloading and recomputing, as the list of actions that a ListSweep
// plays: what the machine of offload_chain.h did beside each other, one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "planners/lists/overlapped.h"
#include "planners/offload/offload_planner.h"

namespace anadrome::schedule {

struct OffloadActions {
  OverlappedPlan plan;     ///< makespan in the chain's unit
  std::int64_t slots = 0;  ///< that its actions use
};

/// The actions of a plan that ends. A state that is only passed, and stays live until it is needed,
/// has no slot; regions have to be given to the others.
OffloadActions actions_of(const OffloadPlan& plan);

/// The time of a list of actions in the chain's unit, each step counted by itself and each state in
/// the region it was given (state_places.h).
std::int64_t played_time(const OffloadChain& chain, const std::vector<OverlapAction>& actions);

}  // namespace anadrome::schedule

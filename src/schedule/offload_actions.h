// A plan of keeping, offloading and recomputing, as the list of actions that an OverlappedSweep
// plays: what the machine of offload_chain.h did beside each other, one after the other.
#pragma once

#include <cstdint>

#include "schedule/offload_planner.h"
#include "schedule/overlapped.h"

namespace anadrome::schedule {

struct OffloadActions {
  OverlappedPlan plan;     ///< makespan in the chain's unit
  std::int64_t slots = 0;  ///< that its actions use
};

/// Of a plan that ends, for states that take one slot each. A state that is only passed, and stays
/// live until it is needed, takes none.
OffloadActions actions_of(const OffloadPlan& plan);

/// The best plan found whose actions use at most `slots` slots, for a chain with states of one unit
/// each; its memory is not looked at. Deterministic. Throws as plan_offload does.
OverlappedPlan plan_offloaded(OffloadChain chain, std::int64_t slots, std::int64_t most_ops);

}  // namespace anadrome::schedule

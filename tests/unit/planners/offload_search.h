// SPDX-License-Identifier: BSD-2-Clause
// The least time of a small chain with offloading, by search over everything that a solver and a
// link can do next. It knows no fates, no runs and no order of transfers.
#pragma once

#include "planners/offload/offload_chain.h"
#include "planners/offload/offload_planner.h"

namespace anadrome::schedule {

/// At most 5 steps, one link. -1: it cannot be done.
std::int64_t least_makespan(const OffloadChain& chain, const OffloadMeans& means);

}  // namespace anadrome::schedule

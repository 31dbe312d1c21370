// SPDX-License-Identifier: BSD-2-Clause
// Keep, offload or recompute: the fate of each state of an uneven chain, and when it moves.
//
// Every state has a fate. The first sweep makes all states up to the last stored one and drops the
// discarded ones; then, from the last stored state down, the steps between it and the next one are
// reversed by recomputation in the memory that is left. Writes go in order, reads in the opposite
// one. The time of such a plan is played (offload_chain.h), and the fates are searched.
#pragma once

#include <cstdint>
#include <vector>

#include "planners/offload/offload_chain.h"

namespace anadrome::schedule {

struct OffloadMeans {
  bool offload = true, recompute = true;
};

struct OffloadPlan {
  std::vector<Fate> fates;
  OffloadLists lists;
  OffloadRun run;  ///< with its spans; makespan -1: none of the plans that were tried ends
  std::int64_t lower_bound = 0;  ///< every step and every adjoint step once, without waiting
};

/// All fates where n <= 8; otherwise kept or offloaded prefixes, periodic offloading with every
/// period, and what changes of one state's fate at a time improve, until `most_ops` ops were
/// played. Throws ERR_ARGUMENT on what check() refuses, if both means are off and the states do not
/// fit, or if n > 20000.
OffloadPlan plan_offload(const OffloadChain& chain, const OffloadMeans& means = {},
                         std::int64_t most_ops = 60'000'000);

}  // namespace anadrome::schedule

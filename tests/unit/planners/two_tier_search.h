// SPDX-License-Identifier: BSD-2-Clause
// The least cost of a sweep by exhaustive search, which knows no schedule, and by the recurrences
// of the papers, every split looked at.
#pragma once

#include <cstdint>
#include <vector>

#include "planners/two_tier/two_tier_costs.h"

namespace anadrome::schedule {

/// A level of storage below RAM; writes and reads cost as in TwoTierCosts.
struct StorageLevel {
  std::int64_t slots = 0, write = 0, read = 0;
};

/// Dijkstra over (steps left, live state, set of states kept at each level). RAM costs nothing.
/// At most 10 steps and three levels, RAM included.
std::int64_t least_cost_by_search(int steps, std::int64_t ram_slots,
                                  const std::vector<StorageLevel>& levels, std::int64_t advance,
                                  std::int64_t adjoint);

/// H-Revolve of 0 .. steps steps; adjoints do not count. 2^40 and more: it cannot be done.
std::vector<std::int64_t> costs_by_recurrence(std::int64_t steps, std::int64_t ram_slots,
                                              const std::vector<StorageLevel>& levels,
                                              std::int64_t advance);

/// Disk-Revolve: any number of slots on disk.
std::vector<std::int64_t> costs_by_recurrence_unbounded(std::int64_t steps, std::int64_t ram_slots,
                                                        const TwoTierCosts& costs);

}  // namespace anadrome::schedule

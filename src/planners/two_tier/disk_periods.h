// SPDX-License-Identifier: BSD-2-Clause
// Where a state on disk pays, and how far ahead of the next one: the bounds that make the table of
// Disk-Revolve short. docs/theory-two-tier.md has the proofs.
#pragma once

#include <cstdint>
#include <vector>

#include "planners/two_tier/disk_rows.h"
#include "planners/two_tier/two_tier_costs.h"

namespace anadrome::schedule {

inline constexpr std::int64_t kMostDiskRows = std::int64_t{1} << 25;

/// With x_0 in RAM and any number of slots on disk no sweep is cheaper than Revolve in RAM.
bool ram_is_enough(std::int64_t steps, std::int64_t ram_slots, const TwoTierCosts& costs);

/// The steps between a state that is put on disk and the next one, or the first in RAM.
struct DiskIntervals {
  DiskRow rereads;  ///< Opt1D of 0 .. longest steps; longer intervals are as cheap in two
  CostRow cost;     ///< write + read + advance + rereads of 1 .. longest
  std::vector<std::int64_t> enough;  ///< intervals of these lengths, and one more of any length,
                                     ///< are enough for an optimal sweep
  std::int64_t period = 1;           ///< the cheapest per step
  std::int64_t table_end = 0;        ///< a longer sweep begins with an interval of period steps

  std::int64_t longest() const { return std::ssize(cost) - 1; }
};

/// Throws ERR_ARGUMENT if it would take more than kMostDiskRows steps.
DiskIntervals disk_intervals(std::int64_t steps, std::int64_t ram_slots, const TwoTierCosts& costs);

/// The cheapest sweeps of 0 .. table_end steps.
struct DiskSweeps {
  CostRow cost;                      ///< x_0 is live
  std::vector<std::uint32_t> first;  ///< interval on disk to begin with; 0: none, RAM is enough
};

/// `ram`: the costs in RAM, as far as the table.
DiskSweeps disk_sweeps(const DiskIntervals& intervals, const CostRow& ram, std::int64_t ram_slots);

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// Rows of the recurrences of Disk-Revolve and H-Revolve (Aupy, Herrmann, Hovland, Robert 2016;
// Herrmann & Pallez 2020), each found without a look at every split, and the bounds that make the
// table of Disk-Revolve short. docs/theory-two-tier.md has the proofs.
#pragma once

#include <cstdint>
#include <vector>

#include "planners/two_tier/two_tier_costs.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {

/// Costs of reversing 0, 1, .. steps; adjoints do not count.
using CostRow = std::vector<uint128>;

/// The cost of the impossible; the sum of two such costs fits.
inline constexpr uint128 kImpossible = uint128{1} << 126;

/// From a state in RAM, with `ram_slots` slots, its own included: Revolve. `steps` < 2^30.
CostRow ram_row(std::int64_t steps, std::int64_t ram_slots, std::int64_t advance);

/// From a state on disk, which can be read again.
struct DiskRow {
  CostRow cost;
  std::vector<std::uint32_t> split;  ///< steps to the next kept state; 0: keep x_0 one level below
};

/// Opt1D: no further state is put on disk. O(n log n).
DiskRow one_disk_state(const CostRow& ram, std::int64_t ram_slots, std::int64_t advance,
                       std::int64_t read);

/// Splits that are looked at before planning is given up: some minutes.
inline constexpr std::int64_t kMostCandidates = std::int64_t{1} << 38;

/// Takes `count` from `candidates`; throws ERR_ARGUMENT if so many are not left.
void spend(std::int64_t& candidates, std::int64_t count);

/// D(n) = min( below(n), min_j j uf + right(n - j) + read + D(j) ). O(n k), k the number of places
/// where `right` or D grows faster than before. Throws as spend does.
DiskRow disk_row(const CostRow& below, const CostRow& right, std::int64_t advance,
                 std::int64_t read, std::int64_t& candidates);

/// Q(n) = min( below(n), write + D(n) ): x_0 is live only.
CostRow if_live(const CostRow& below, const CostRow& from_disk, std::int64_t write);

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

// SPDX-License-Identifier: BSD-2-Clause
// The cost of a sweep with RAM and disk when the solver waits for the disk: the measure by which
// Disk-Revolve and H-Revolve are optimal. Copies within RAM are free.
#pragma once

#include <cstdint>

#include "schedule/words/revolve.h"

namespace anadrome::schedule {

/// Whole ticks of any unit: integers, so that costs are compared exactly, however many are added.
/// 0 <= each <= 2^62.
struct TwoTierCosts {
  std::int64_t advance = 1;  ///< uf: a step whose tape is not recorded
  std::int64_t adjoint = 0;  ///< ub: the adjoint of a step with the recording step before it
  std::int64_t write = 0;    ///< a state to disk
  std::int64_t read = 0;     ///< a state from disk
};

/// How often a sweep does what costs.
struct TwoTierUse {
  uint128 advances = 0, writes = 0, reads = 0;
  friend bool operator==(const TwoTierUse&, const TwoTierUse&) = default;
};

/// Throws ERR_ARGUMENT unless 0 <= steps <= 2^62, slots >= 0, one slot for two steps or more, and
/// costs are in their range.
void check_two_tier(std::int64_t steps, std::int64_t ram_slots, std::int64_t disk_slots,
                    const TwoTierCosts& costs);

/// Adds count * each to `sum`. Throws ERR_ARGUMENT if that takes more than 128 bits.
void add_cost(uint128& sum, uint128 count, uint128 each);

/// Throws as add_cost does.
uint128 two_tier_cost(std::int64_t steps, const TwoTierUse& use, const TwoTierCosts& costs);

/// Measured seconds in ticks: 2^20 of them for an advance (or for the least of the others, if
/// advances take no time), and 2^62 for what takes longer than that. Throws ERR_ARGUMENT on what
/// is negative or not a finite number.
TwoTierCosts costs_in_ticks(double advance_seconds, double adjoint_seconds, double write_seconds,
                            double read_seconds);

}  // namespace anadrome::schedule

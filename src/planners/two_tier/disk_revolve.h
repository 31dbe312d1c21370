// SPDX-License-Identifier: BSD-2-Clause
// Disk-Revolve (Aupy, Herrmann, Hovland, Robert 2016): the cheapest sweep with RAM slots and any
// number of states on disk, each read as often as it pays, if the solver waits for the disk.
#pragma once

#include <cstdint>
#include <vector>

#include "base/index.h"
#include "planners/two_tier/disk_rows.h"
#include "planners/two_tier/two_tier_costs.h"
#include "schedule/stack/plain_planners.h"
#include "schedule/words/placement.h"

namespace anadrome::schedule {

/// The plan is periodic from some length on that does not depend on n: the table ends there.
class DiskRevolvePlanner final : public Planner {
 public:
  /// `steps`: those of the longest segment, n + 1 where TURN is one of them. `ram_slots`: the units
  /// of RAM. Throws ERR_ARGUMENT also if the table would have more than 2^25 rows.
  DiskRevolvePlanner(std::int64_t steps, std::int64_t ram_slots, const TwoTierCosts& costs);

  Placement place(const Segment& segment) override;
  uint128 advances(const Segment& segment) override;

  /// Ticks of the sweep, steps * adjoint included. Throws ERR_ARGUMENT if it takes more than 128
  /// bits.
  uint128 cost() const;
  /// States on disk at a time, at most, also in every shorter segment that begins with x_0 live.
  std::int64_t disk_slots() const;

 private:
  struct Row {
    std::int64_t advances;      ///< from x_0 on disk
    std::int64_t ram_advances;  ///< from x_0 in RAM
    std::uint32_t split;        ///< from x_0 on disk; 0: keep it in RAM
    std::uint32_t disk_slots;   ///< from x_0 on disk, beside its own
    bool write;                 ///< x_0, if it is live only
  };
  /// Once a state is kept in RAM, what is above it is left to Revolve.
  bool in_ram(const Segment& segment) const {
    return segment.held == Place::kRam || segment.units < ram_slots_;
  }
  void tabulate();
  const Row& row(std::int64_t steps) const { return rows_[at(steps)]; }
  std::int64_t periods(std::int64_t steps) const;
  std::int64_t advances_if_live(std::int64_t steps) const;
  std::uint32_t slots_if_live(std::int64_t steps) const;

  std::int64_t steps_, ram_slots_;
  TwoTierCosts costs_;
  RevolvePlanner ram_;
  std::vector<Row> rows_;  ///< by steps; empty: nothing is put on disk
  std::int64_t period_ = 0;
  std::uint32_t most_slots_ = 0;  ///< in any row, x_0's included
  uint128 overhead_ = 0;          ///< the cost without adjoints
};

}  // namespace anadrome::schedule

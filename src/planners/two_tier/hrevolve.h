// SPDX-License-Identifier: BSD-2-Clause
// H-Revolve (Herrmann & Pallez 2020): the cheapest sweep with slots in RAM and a number of slots on
// disk, each state read as often as it pays, if the solver waits for the disk.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/index.h"
#include "planners/two_tier/disk_revolve.h"
#include "planners/two_tier/two_tier_costs.h"
#include "schedule/stack/plain_planners.h"
#include "schedule/words/placement.h"

namespace anadrome::schedule {

class HRevolvePlanner final : public Planner {
 public:
  /// `steps`: those of the longest segment, n + 1 where TURN is one of them. The slots: all that
  /// there are, x_0's own included. Throws ERR_ARGUMENT also if the table would have more than
  /// 2^26 entries; there is none if RAM alone is as good, and Disk-Revolve's if `disk_slots` are
  /// as many as that uses.
  /// `most_splits`: how many may be looked at. Where they do not do for all slots on disk, no more
  /// than disk_slots() are used.
  HRevolvePlanner(std::int64_t steps, std::int64_t ram_slots, std::int64_t disk_slots,
                  const TwoTierCosts& costs, std::int64_t most_splits = kAllSplits);
  static constexpr std::int64_t kAllSplits = std::numeric_limits<std::int64_t>::max();

  std::int64_t disk_slots() const { return disk_slots_; }

  Placement place(const Segment& segment) override;
  uint128 advances(const Segment& segment) override;

  /// Ticks of the sweep, steps * adjoint included. Throws ERR_ARGUMENT if it takes more than 128
  /// bits.
  uint128 cost() const;

 private:
  struct Entry {
    std::int64_t advances;  ///< from x_0 on disk
    std::uint32_t split;    ///< from x_0 on disk; 0: keep it in RAM
    bool write;             ///< x_0, if it is live only
  };

  /// Once a state is kept in RAM, what is above it is left to Revolve.
  bool in_ram(const Segment& segment) const {
    return segment.held == Place::kRam || segment.units < ram_slots_;
  }
  void tabulate(std::int64_t most_splits);
  const Entry& entry(std::int64_t steps, std::int64_t disk_slots) const {
    return table_[at(disk_slots - 1)][at(steps)];
  }
  std::int64_t advances_if_live(std::int64_t steps, std::int64_t disk_slots) const;

  std::int64_t steps_, ram_slots_, disk_slots_;
  TwoTierCosts costs_;
  RevolvePlanner ram_;
  std::optional<DiskRevolvePlanner> unbounded_;  ///< where the disk slots suffice for Disk-Revolve
  std::vector<std::vector<Entry>> table_;        ///< by disk slots from 1 on, x_0's included
  std::vector<std::int64_t> ram_advances_;       ///< by steps
  uint128 overhead_ = 0;                         ///< the cost without adjoints
};

}  // namespace anadrome::schedule

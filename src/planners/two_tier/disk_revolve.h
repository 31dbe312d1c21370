// SPDX-License-Identifier: BSD-2-Clause
// The cheapest sweeps with slots in RAM and states on disk, each read as often as it pays, if the
// solver waits for the disk: Disk-Revolve (Aupy, Herrmann, Hovland, Robert 2016) where the disk
// holds any number, H-Revolve (Herrmann & Pallez 2020) where it holds a few.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/index.h"
#include "planners/two_tier/disk_rows.h"
#include "planners/two_tier/two_tier_costs.h"
#include "schedule/stack/plain_planners.h"
#include "schedule/words/placement.h"

namespace anadrome::schedule {

class TwoTierPlanner : public Planner {
 public:
  /// Ticks of the sweep, steps * adjoint included. Throws ERR_ARGUMENT if it takes more than 128
  /// bits.
  uint128 cost() const;
  /// Without adjoints.
  uint128 overhead() const { return overhead_; }

 protected:
  /// `steps`: those of the longest segment, n + 1 where TURN is one of them. Slots: all that there
  /// are, x_0's own included. Throws ERR_ARGUMENT.
  TwoTierPlanner(std::int64_t steps, std::int64_t ram_slots, std::int64_t disk_slots,
                 const TwoTierCosts& costs);

  /// Once a state is kept in RAM, what is above it is left to Revolve.
  bool in_ram(const Segment& segment) const {
    return segment.held == Place::kRam || segment.units < ram_slots_;
  }

  std::int64_t steps_, ram_slots_;
  TwoTierCosts costs_;
  RevolvePlanner ram_;
  bool ram_is_enough_;    ///< then there is no table
  uint128 overhead_ = 0;  ///< that of RAM alone until there is a table
};

/// The plan is periodic from some length on that does not depend on n: the table ends there.
class DiskRevolvePlanner final : public TwoTierPlanner {
 public:
  /// Throws ERR_ARGUMENT also if the table would have more than 2^25 rows.
  DiskRevolvePlanner(std::int64_t steps, std::int64_t ram_slots, const TwoTierCosts& costs);

  Placement place(const Segment& segment) override;
  uint128 advances(const Segment& segment) override;

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
  void tabulate();
  const Row& row(std::int64_t steps) const { return rows_[at(steps)]; }
  std::int64_t periods(std::int64_t steps) const;
  std::int64_t advances_if_live(std::int64_t steps) const;
  std::uint32_t slots_if_live(std::int64_t steps) const;

  std::vector<Row> rows_;  ///< by steps; empty: nothing is put on disk
  std::int64_t period_ = 0;
  std::uint32_t most_slots_ = 0;  ///< in any row, x_0's included
};

class HRevolvePlanner final : public TwoTierPlanner {
 public:
  /// Throws ERR_ARGUMENT also if the table would have more than 2^26 entries; it is Disk-Revolve's
  /// if `disk_slots` are as many as that uses.
  /// `most_splits`: how many may be looked at. Where they do not do for all slots on disk, no more
  /// than disk_slots() are used.
  HRevolvePlanner(std::int64_t steps, std::int64_t ram_slots, std::int64_t disk_slots,
                  const TwoTierCosts& costs, std::int64_t most_splits = kAllSplits);
  static constexpr std::int64_t kAllSplits = std::numeric_limits<std::int64_t>::max();

  std::int64_t disk_slots() const { return disk_slots_; }

  Placement place(const Segment& segment) override;
  uint128 advances(const Segment& segment) override;

 private:
  struct Entry {
    std::int64_t advances;  ///< from x_0 on disk
    std::uint32_t split;    ///< from x_0 on disk; 0: keep it in RAM
    bool write;             ///< x_0, if it is live only
  };

  void tabulate(std::int64_t most_splits);
  const Entry& entry(std::int64_t steps, std::int64_t disk_slots) const {
    return table_[at(disk_slots - 1)][at(steps)];
  }
  std::int64_t advances_if_live(std::int64_t steps, std::int64_t disk_slots) const;

  std::int64_t disk_slots_;
  std::optional<DiskRevolvePlanner> unbounded_;  ///< where the disk slots suffice for Disk-Revolve
  std::vector<std::vector<Entry>> table_;        ///< by disk slots from 1 on, x_0's included
  std::vector<std::int64_t> ram_advances_;       ///< by steps
};

}  // namespace anadrome::schedule

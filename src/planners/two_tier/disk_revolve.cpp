// SPDX-License-Identifier: BSD-2-Clause
#include "planners/two_tier/disk_revolve.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/index.h"
#include "planners/two_tier/disk_rows.h"

namespace anadrome::schedule {

TwoTierPlanner::TwoTierPlanner(std::int64_t steps, std::int64_t ram_slots, std::int64_t disk_slots,
                               const TwoTierCosts& costs)
    : steps_(steps), ram_slots_(ram_slots), costs_(costs) {
  check_two_tier(steps, ram_slots, disk_slots, costs);
  ram_is_enough_ = disk_slots == 0 || ram_is_enough(steps, ram_slots, costs);
  if (!ram_is_enough_) return;
  overhead_ = two_tier_cost(0, {extra_advances(steps, ram_slots), 0, 0}, costs);
}

uint128 TwoTierPlanner::cost() const {
  uint128 sum = overhead_;
  add_cost(sum, wide(steps_), wide(costs_.adjoint));
  return sum;
}

DiskRevolvePlanner::DiskRevolvePlanner(std::int64_t steps, std::int64_t ram_slots,
                                       const TwoTierCosts& costs)
    : TwoTierPlanner(steps, ram_slots, 1, costs) {
  if (!ram_is_enough_) tabulate();
}

void DiskRevolvePlanner::tabulate() {
  const DiskIntervals intervals = disk_intervals(steps_, ram_slots_, costs_);
  const std::int64_t end = intervals.table_end;
  const DiskSweeps sweeps =
      disk_sweeps(intervals, ram_row(end, ram_slots_, costs_.advance), ram_slots_);
  const CostRow ram_advances = ram_row(end, ram_slots_, 1);
  period_ = intervals.period;
  rows_.resize(size(end) + 1);
  for (std::int64_t n = 1; n <= end; ++n) {
    const auto at = size(n);
    Row& row = rows_[at];
    row.ram_advances = static_cast<std::int64_t>(ram_advances[at]);
    row.write = sweeps.first[at] != 0;
    row.split = sweeps.first[at];
    if (!row.write && n <= intervals.longest()) row.split = intervals.rereads.split[at];
    row.advances = row.ram_advances;
    row.disk_slots = 0;
    if (row.split == 0) continue;
    const std::int64_t right = n - row.split;
    const Row& left = this->row(row.split);
    row.advances = row.split + advances_if_live(right) + left.advances;
    row.disk_slots = std::max(slots_if_live(right), left.disk_slots);
    most_slots_ = std::max(most_slots_, row.disk_slots + 1);
  }
  overhead_ = sweeps.cost[size(steps_ - periods(steps_) * period_)];
  add_cost(overhead_, wide(periods(steps_)), intervals.cost[size(period_)]);
}

std::int64_t DiskRevolvePlanner::advances_if_live(std::int64_t steps) const {
  return row(steps).write ? row(steps).advances : row(steps).ram_advances;
}

std::uint32_t DiskRevolvePlanner::slots_if_live(std::int64_t steps) const {
  return row(steps).write ? row(steps).disk_slots + 1 : 0;
}

// How many to go before the rest is in the table.
std::int64_t DiskRevolvePlanner::periods(std::int64_t steps) const {
  if (rows_.empty()) return 0;
  const std::int64_t end = std::ssize(rows_) - 1;
  return steps <= end ? 0 : (steps - end + period_ - 1) / period_;
}

Placement DiskRevolvePlanner::place(const Segment& segment) {
  if (in_ram(segment)) return ram_.place(segment);
  if (rows_.empty()) return {Place::kRam, 0};
  const std::int64_t steps = segment.last - segment.first;
  const bool periodic = periods(steps) > 0;
  if (segment.held == Place::kNowhere) {
    return {periodic || row(steps).write ? Place::kDisk : Place::kRam, 0};
  }
  const std::int64_t split = periodic ? period_ : row(steps).split;
  return split == 0 ? Placement{Place::kRam, 0} : Placement{Place::kNowhere, split};
}

uint128 DiskRevolvePlanner::advances(const Segment& segment) {
  if (in_ram(segment)) return ram_.advances(segment);
  const std::int64_t steps = segment.last - segment.first;
  if (rows_.empty()) return extra_advances(steps, ram_slots_);
  const std::int64_t before = periods(steps);
  const std::int64_t rest = steps - before * period_;
  if (before == 0 && segment.held == Place::kDisk) return wide(row(rest).advances);
  const auto each = wide(row(period_).advances + period_);
  return wide(before) * each + wide(advances_if_live(rest));
}

std::int64_t DiskRevolvePlanner::disk_slots() const { return periods(steps_) + most_slots_; }

// ---- H-Revolve ----

namespace {

constexpr std::int64_t kMostEntries = std::int64_t{1} << 26;

void require_entries(std::int64_t steps, std::int64_t slots) {
  if (steps <= kMostEntries / slots && steps <= kMostDiskRows) return;
  throw Error(ANADROME_ERR_ARGUMENT, "hrevolve: the plan of " + std::to_string(steps) +
                                         " steps with " + std::to_string(slots) +
                                         " slots on disk takes a table of more than " +
                                         std::to_string(kMostEntries) +
                                         " entries: grant fewer or many more slots on disk");
}

}  // namespace

HRevolvePlanner::HRevolvePlanner(std::int64_t steps, std::int64_t ram_slots,
                                 std::int64_t disk_slots, const TwoTierCosts& costs,
                                 std::int64_t most_splits)
    : TwoTierPlanner(steps, ram_slots, disk_slots, costs), disk_slots_(disk_slots) {
  if (ram_is_enough_) return;
  unbounded_.emplace(steps, ram_slots, costs);
  overhead_ = unbounded_->overhead();
  // One is spared for an x_0 that is on disk whatever the plan says.
  if (unbounded_->disk_slots() < disk_slots) return;
  unbounded_.reset();
  if (most_splits != kAllSplits) {  // every slot takes memory, too
    constexpr std::int64_t kSplitsPerEntry = 32;
    disk_slots_ = std::clamp<std::int64_t>(most_splits / kSplitsPerEntry / steps, 1, disk_slots);
  }
  require_entries(steps, disk_slots_);
  tabulate(most_splits);
}

void HRevolvePlanner::tabulate(std::int64_t most_splits) {
  const CostRow ram = ram_row(steps_, ram_slots_, costs_.advance);
  const CostRow ram_advances = ram_row(steps_, ram_slots_, 1);
  ram_advances_.assign(ram_advances.begin(), ram_advances.end());
  CostRow right = ram;  // Q with a slot less
  std::int64_t splits = std::min(most_splits, kMostCandidates);
  const auto row_of = [&](std::int64_t slots) {
    return slots == 1 ? one_disk_state(ram, ram_slots_, costs_.advance, costs_.read)
                      : disk_row(ram, right, costs_.advance, costs_.read, splits);
  };
  for (std::int64_t slots = 1; slots <= disk_slots_; ++slots) {
    DiskRow row;
    try {
      row = row_of(slots);
    } catch (const Error&) {
      if (most_splits == kAllSplits) throw;
      disk_slots_ = slots - 1;
      break;
    }
    right = if_live(ram, row.cost, costs_.write);
    std::vector<Entry>& entries = table_.emplace_back(ram.size());
    for (std::int64_t n = 1; n <= steps_; ++n) {
      const auto at = size(n);
      Entry& entry = entries[at];
      entry = {ram_advances_[at], row.split[at], right[at] < ram[at]};
      if (entry.split == 0) continue;
      entry.advances = entry.split + advances_if_live(n - entry.split, slots - 1) +
                       entries[entry.split].advances;
    }
  }
  overhead_ = right.back();
}

std::int64_t HRevolvePlanner::advances_if_live(std::int64_t steps, std::int64_t disk_slots) const {
  const bool write = disk_slots > 0 && entry(steps, disk_slots).write;
  return write ? entry(steps, disk_slots).advances : ram_advances_[size(steps)];
}

Placement HRevolvePlanner::place(const Segment& segment) {
  if (unbounded_) return unbounded_->place(segment);
  if (in_ram(segment)) return ram_.place(segment);
  if (table_.empty()) return {Place::kRam, 0};
  const std::int64_t steps = segment.last - segment.first;
  const std::int64_t free = segment.disk_slots;
  if (segment.held == Place::kNowhere) {
    return {free > 0 && entry(steps, free).write ? Place::kDisk : Place::kRam, 0};
  }
  const std::int64_t split = entry(steps, free + 1).split;
  return split == 0 ? Placement{Place::kRam, 0} : Placement{Place::kNowhere, split};
}

uint128 HRevolvePlanner::advances(const Segment& segment) {
  if (unbounded_) return unbounded_->advances(segment);
  if (in_ram(segment)) return ram_.advances(segment);
  const std::int64_t steps = segment.last - segment.first;
  if (table_.empty()) return extra_advances(steps, ram_slots_);
  return wide(segment.held == Place::kDisk ? entry(steps, segment.disk_slots + 1).advances
                                           : advances_if_live(steps, segment.disk_slots));
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/two_tier/disk_revolve.h"

#include <algorithm>

#include "base/index.h"
#include "planners/two_tier/disk_rows.h"

namespace anadrome::schedule {

DiskRevolvePlanner::DiskRevolvePlanner(std::int64_t steps, std::int64_t ram_slots,
                                       const TwoTierCosts& costs)
    : steps_(steps), ram_slots_(ram_slots), costs_(costs) {
  check_two_tier(steps, ram_slots, 1, costs);
  if (ram_is_enough(steps, ram_slots, costs)) {
    overhead_ = two_tier_cost(0, {extra_advances(steps, ram_slots), 0, 0}, costs);
    return;
  }
  tabulate();
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

uint128 DiskRevolvePlanner::cost() const {
  uint128 sum = overhead_;
  add_cost(sum, wide(steps_), wide(costs_.adjoint));
  return sum;
}

std::int64_t DiskRevolvePlanner::disk_slots() const { return periods(steps_) + most_slots_; }

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/two_tier/hrevolve.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/index.h"
#include "planners/two_tier/disk_rows.h"

namespace anadrome::schedule {
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
    : steps_(steps), ram_slots_(ram_slots), disk_slots_(disk_slots), costs_(costs) {
  check_two_tier(steps, ram_slots, disk_slots, costs);
  if (disk_slots == 0 || ram_is_enough(steps, ram_slots, costs)) {
    overhead_ = two_tier_cost(0, {extra_advances(steps, ram_slots), 0, 0}, costs);
    return;
  }
  unbounded_.emplace(steps, ram_slots, costs);
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

uint128 HRevolvePlanner::cost() const {
  if (unbounded_) return unbounded_->cost();
  uint128 sum = overhead_;
  add_cost(sum, wide(steps_), wide(costs_.adjoint));
  return sum;
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "questions/hrevolve_levels.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/error.h"
#include "schedule/disk_periods.h"
#include "schedule/disk_rows.h"

namespace anadrome::questions {
namespace {

using schedule::CostRow;
using schedule::DiskRow;
using schedule::StorageLevel;
using schedule::TwoTierCosts;
using schedule::uint128;

// Rows are searched one after the other, and not kept.
void require_rows(std::int64_t steps, std::int64_t rows) {
  constexpr std::int64_t kMostSearched = std::int64_t{1} << 30;
  if (steps <= kMostSearched / rows && steps <= schedule::kMostDiskRows) return;
  throw Error(ANADROME_ERR_ARGUMENT, "hrevolve: the cost of " + std::to_string(steps) +
                                         " steps takes " + std::to_string(rows) +
                                         " rows or more to find: grant fewer slots");
}

}  // namespace

uint128 hrevolve_cost(std::int64_t steps, std::int64_t ram_slots,
                      std::span<const StorageLevel> levels, std::int64_t advance,
                      std::int64_t adjoint) {
  TwoTierCosts cheapest{advance, adjoint, 0, 0};
  std::int64_t most_slots = 0;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const TwoTierCosts costs{advance, adjoint, levels[k].write, levels[k].read};
    schedule::check_two_tier(0, ram_slots, levels[k].slots, costs);
    if (k == 0) cheapest = costs;
    if (k > 0 && (levels[k].write < levels[k - 1].write || levels[k].read < levels[k - 1].read)) {
      throw Error(ANADROME_ERR_ARGUMENT, "hrevolve: a level is cheaper than the one before");
    }
    most_slots = std::max(most_slots, levels[k].slots);
  }
  schedule::check_two_tier(steps, ram_slots, most_slots, cheapest);
  if (most_slots == 0 || schedule::ram_is_enough(steps, ram_slots, cheapest)) {
    return schedule::two_tier_cost(steps, {schedule::extra_advances(steps, ram_slots), 0, 0},
                                   cheapest);
  }
  require_rows(steps, 1);
  std::int64_t rows = 0, candidates = schedule::kMostCandidates;
  CostRow live = schedule::ram_row(steps, ram_slots, advance);
  bool only_ram = true;
  for (const StorageLevel& level : levels) {
    const CostRow below = live;
    for (std::int64_t slots = 1; slots <= level.slots; ++slots) {
      require_rows(steps, ++rows);
      const DiskRow row = only_ram
                              ? schedule::one_disk_state(below, ram_slots, advance, level.read)
                              : schedule::disk_row(below, live, advance, level.read, candidates);
      only_ram = false;
      CostRow next = schedule::if_live(below, row.cost, level.write);
      if (next == live) break;  // further slots change nothing either
      live = std::move(next);
    }
  }
  uint128 sum = live.back();
  schedule::add_cost(sum, static_cast<uint128>(steps), static_cast<uint128>(adjoint));
  return sum;
}

}  // namespace anadrome::questions

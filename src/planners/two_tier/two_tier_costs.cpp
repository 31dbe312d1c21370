// SPDX-License-Identifier: BSD-2-Clause
#include "planners/two_tier/two_tier_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/index.h"
#include "base/text_out.h"

namespace anadrome::schedule {
namespace {

constexpr std::int64_t kMostTicks = std::int64_t{1} << 62;

std::int64_t ticks(double seconds, double tick) {
  const double count = std::round(seconds / tick);
  return count < real(kMostTicks) ? static_cast<std::int64_t>(count) : kMostTicks;
}

}  // namespace

void check_two_tier(std::int64_t steps, std::int64_t ram_slots, std::int64_t disk_slots,
                    const TwoTierCosts& costs) {
  if (steps < 0 || steps > kMostSteps) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "a schedule needs 0 <= steps <= 2^62, not " + std::to_string(steps));
  }
  if (ram_slots < 0 || disk_slots < 0 || (steps > 1 && ram_slots == 0 && disk_slots == 0)) {
    throw Error(ANADROME_ERR_ARGUMENT, "a schedule needs a slot in RAM or on disk, not " +
                                           std::to_string(ram_slots) + " and " +
                                           std::to_string(disk_slots));
  }
  for (const std::int64_t cost : {costs.advance, costs.adjoint, costs.write, costs.read}) {
    if (cost < 0 || cost > kMostTicks) {
      throw Error(ANADROME_ERR_ARGUMENT,
                  "a cost must be between 0 and 2^62 ticks, not " + std::to_string(cost));
    }
  }
}

void add_cost(uint128& sum, uint128 count, uint128 each) {
  uint128 product;
  if (__builtin_mul_overflow(count, each, &product) || __builtin_add_overflow(sum, product, &sum)) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "the cost of the sweep needs more than 128 bits: give costs in a coarser unit");
  }
}

uint128 two_tier_cost(std::int64_t steps, const TwoTierUse& use, const TwoTierCosts& costs) {
  uint128 sum = 0;
  add_cost(sum, use.advances, wide(costs.advance));
  add_cost(sum, use.writes, wide(costs.write));
  add_cost(sum, use.reads, wide(costs.read));
  add_cost(sum, wide(steps), wide(costs.adjoint));
  return sum;
}

TwoTierCosts costs_in_ticks(double advance_seconds, double adjoint_seconds, double write_seconds,
                            double read_seconds) {
  double least = 0;
  for (const double seconds : {read_seconds, write_seconds, adjoint_seconds, advance_seconds}) {
    if (!std::isfinite(seconds) || seconds < 0) {
      throw Error(ANADROME_ERR_ARGUMENT,
                  "a cost must be finite seconds >= 0, not " + format_in_full(seconds));
    }
    if (seconds > 0 && (least == 0 || seconds < least)) least = seconds;
  }
  if (advance_seconds > 0) least = advance_seconds;
  if (least == 0) return {0, 0, 0, 0};
  const double tick = std::max(least / (1 << 20), std::numeric_limits<double>::min());
  return {ticks(advance_seconds, tick), ticks(adjoint_seconds, tick), ticks(write_seconds, tick),
          ticks(read_seconds, tick)};
}

}  // namespace anadrome::schedule

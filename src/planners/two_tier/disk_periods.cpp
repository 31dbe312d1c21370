// SPDX-License-Identifier: BSD-2-Clause
#include "planners/two_tier/disk_periods.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/error.h"
#include "base/index.h"
#include "planners/memory/convex_splits.h"

namespace anadrome::schedule {
namespace {

// The least number in (low, high] for which `holds`, which stays true; high + 1 if there is none.
template <class Predicate>
std::int64_t least(std::int64_t low, std::int64_t high, Predicate holds) {
  std::int64_t end = high + 1;
  while (low + 1 < end) {
    const std::int64_t middle = low + (end - low) / 2;
    (holds(middle) ? end : low) = middle;
  }
  return end;
}

void require_table(std::int64_t rows, std::int64_t steps) {
  if (rows <= kMostDiskRows) return;
  throw Error(ANADROME_ERR_ARGUMENT,
              "the plan of " + std::to_string(steps) + " steps takes a table of more than " +
                  std::to_string(kMostDiskRows) +
                  " rows; with more slots in RAM or a cheaper disk it is shorter");
}

// An interval that begins with an advance of j' >= write / uf steps, or ends with i steps from RAM
// that are as cheap in two halves and one more write and read, is as cheap in two.
std::int64_t longest_interval(std::int64_t steps, std::int64_t ram_slots,
                              const TwoTierCosts& costs) {
  const auto uf = wide(costs.advance);
  const uint128 transfers = wide(costs.write) + wide(costs.read);
  const std::int64_t in_ram =
      ram_slots == 0 ? 1 : least(1, std::min(steps, kMostDiskRows + 1), [&](std::int64_t i) {
                             const uint128 halves = extra_advances(i / 2, ram_slots) +
                                                    extra_advances(i - i / 2, ram_slots);
                             return (extra_advances(i, ram_slots) - halves) * uf >= transfers;
                           }) - 1;
  const std::int64_t before = costs.write == 0     ? 0
                              : costs.advance == 0 ? steps
                                                   : (costs.write - 1) / costs.advance;
  return before >= steps - in_ram ? steps : before + in_ram;
}

bool cheaper_per_step(const CostRow& cost, std::size_t a, std::size_t b) {
  const uint128 whole_a = cost[a] / a, whole_b = cost[b] / b;
  if (whole_a != whole_b) return whole_a < whole_b;
  return cost[a] % a * b < cost[b] % b * a;
}

// Where the cost of an interval is strictly convex, without those that are as cheap in two.
std::vector<std::int64_t> enough_intervals(const CostRow& cost) {
  std::vector<std::int64_t> enough;
  for (std::size_t j = 1; j < cost.size(); ++j) {
    const bool inside = j > 1 && j + 1 < cost.size();
    if (inside && cost[j + 1] + cost[j - 1] <= 2 * cost[j]) continue;
    const bool in_two = std::any_of(enough.begin(), enough.end(), [&](std::int64_t a) {
      const auto first = size(a);
      return cost[first] + cost[j - first] <= cost[j];
    });
    if (!in_two) enough.push_back(static_cast<std::int64_t>(j));
  }
  return enough;
}

}  // namespace

bool ram_is_enough(std::int64_t steps, std::int64_t ram_slots, const TwoTierCosts& costs) {
  if (steps <= 1) return true;
  if (ram_slots == 0) return false;
  // With the disk: one write, one read, and every step but the last at least once.
  const auto uf = wide(costs.advance);
  const uint128 spared = extra_advances(steps, ram_slots) - wide(steps - 1);
  const uint128 transfers = wide(costs.write) + wide(costs.read);
  return uf == 0 || spared <= transfers / uf;
}

DiskIntervals disk_intervals(std::int64_t steps, std::int64_t ram_slots,
                             const TwoTierCosts& costs) {
  const std::int64_t longest = longest_interval(steps, ram_slots, costs);
  require_table(longest, steps);
  DiskIntervals intervals;
  const auto uf = wide(costs.advance);
  intervals.rereads = one_disk_state(ram_row(longest, ram_slots, costs.advance), ram_slots,
                                     costs.advance, costs.read);
  intervals.cost = intervals.rereads.cost;
  const uint128 transfers = wide(costs.write) + wide(costs.read);
  std::size_t period = 1;
  for (std::size_t j = 1; j < intervals.cost.size(); ++j) {
    intervals.cost[j] += transfers + j * uf;
    if (cheaper_per_step(intervals.cost, j, period)) period = j;
  }
  intervals.enough = enough_intervals(intervals.cost);
  intervals.period = static_cast<std::int64_t>(period);

  // The end of a sweep is reversed from RAM. From this length on it is as cheap with one period on
  // disk before it.
  const std::int64_t p = intervals.period;
  const std::int64_t most_in_ram =
      ram_slots == 0
          ? 1
          : least(p, std::max(p, std::min(steps, kMostDiskRows + 1)), [&](std::int64_t i) {
              return (extra_advances(i, ram_slots) - extra_advances(i - p, ram_slots)) * uf >=
                     intervals.cost[period];
            }) - 1;
  // Among `period` intervals are some whose sum is a multiple of the period: they are as cheap as
  // periods, so that fewer than that are enough.
  const std::int64_t end = std::max(longest, (p - 1) * longest + most_in_ram);
  intervals.table_end = std::min(steps, end);
  require_table(intervals.table_end, steps);
  std::int64_t candidates = kMostCandidates;
  spend(candidates, intervals.table_end * std::ssize(intervals.enough));
  return intervals;
}

// A sweep is any number of intervals on disk, in any order, and an end in RAM. With two intervals
// or more, one of them is among `enough`.
DiskSweeps disk_sweeps(const DiskIntervals& intervals, const CostRow& ram, std::int64_t ram_slots) {
  DiskSweeps sweeps{ram, std::vector<std::uint32_t>(ram.size(), 0)};
  const auto longest = size(intervals.longest());
  ConvexSplits one_interval(ram);
  for (std::size_t n = 2; n < ram.size(); ++n) {
    const auto offer = [&](uint128 cost, std::size_t first) {
      if (cost >= sweeps.cost[n]) return;
      sweeps.cost[n] = cost;
      sweeps.first[n] = static_cast<std::uint32_t>(first);
    };
    if (ram_slots > 0) {
      if (n - 1 <= longest) {
        one_interval.add(static_cast<std::int64_t>(n - 1), intervals.cost[n - 1]);
      }
      const ConvexSplits::Best best = one_interval.best(static_cast<std::int64_t>(n));
      offer(best.cost, size(best.at));
    } else if (n - 1 <= longest) {  // no more than a step can be reversed without a slot
      offer(intervals.cost[n - 1], n - 1);
    }
    for (const std::int64_t length : intervals.enough) {
      const auto first = size(length);
      if (first >= n) break;
      offer(intervals.cost[first] + sweeps.cost[n - first], first);
    }
  }
  return sweeps;
}

}  // namespace anadrome::schedule

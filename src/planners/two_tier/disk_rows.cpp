// SPDX-License-Identifier: BSD-2-Clause
#include "planners/two_tier/disk_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/index.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
namespace {

// The least of a(j) + e(n - j) over j < n, for growing n and a convex e, in O(log n) each: once a
// later j is cheaper it stays so, and the candidates are a queue, each with the n from which it is
// the cheapest (Galil & Giancarlo 1989, concave least-weight subsequences).
class ConvexSplits {
 public:
  struct Best {
    std::int64_t at = 0;
    uint128 cost = 0;
  };

  /// `convex`: e(0) .. e(end - 1), convex from e(1) on. Not copied.
  explicit ConvexSplits(const std::vector<uint128>& convex) : convex_(convex) {}

  /// A candidate j = `at` with a(at) = `cost`; `at` grows from call to call.
  void add(std::int64_t at, uint128 cost) {
    Candidate candidate{at, cost, 0};
    while (queue_.size() > front_) {
      candidate.from = takes_over(queue_.back(), candidate);
      if (candidate.from >= end()) return;
      if (queue_.size() == front_ + 1 || candidate.from > queue_.back().from) break;
      queue_.pop_back();
    }
    queue_.push_back(candidate);
  }

  /// The least j among the cheapest; 0 < n < end, larger than every candidate, and growing.
  Best best(std::int64_t n) {
    while (front_ + 1 < queue_.size() && queue_[front_ + 1].from <= n) ++front_;
    return {queue_[front_].at, cost(queue_[front_], n)};
  }

 private:
  struct Candidate {
    std::int64_t at;
    uint128 cost;
    std::int64_t from;  ///< the first n at which it is cheaper than the one before
  };

  std::int64_t end() const { return std::ssize(convex_); }
  uint128 cost(const Candidate& candidate, std::int64_t n) const {
    return candidate.cost + convex_[size(n - candidate.at)];
  }
  /// The first n at which `newer` is cheaper; end() if there is none.
  std::int64_t takes_over(const Candidate& older, const Candidate& newer) const {
    std::int64_t low = newer.at + 1, high = end();
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (cost(newer, middle) < cost(older, middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  const std::vector<uint128>& convex_;
  std::vector<Candidate> queue_;
  std::size_t front_ = 0;
};

// Where a row is strictly convex, in order, and its values there.
template <class Cost>
struct Kinks {
  std::vector<std::uint32_t> at;
  std::vector<Cost> cost;

  // If row[n - 1] is one, which takes row[n].
  void note(const std::vector<Cost>& row, std::size_t n) {
    if (n < 3 || row[n] + row[n - 2] <= 2 * row[n - 1]) return;
    at.push_back(static_cast<std::uint32_t>(n - 1));
    cost.push_back(row[n - 1]);
  }
};

// With h(j) = left(j) + right(n - j), left(j) = j uf + read + D(j), the least j among the cheapest
// is 1, or h grows from it on while it fell before: left is strictly convex at j, or right at n -
// j, or j = n - 1. No other j is looked at.
template <class Cost>
DiskRow search_row(const std::vector<Cost>& below, const std::vector<Cost>& right, Cost uf, Cost r,
                   std::int64_t& candidates) {
  const std::size_t end = below.size();
  DiskRow row{CostRow(end, 0), std::vector<std::uint32_t>(end, 0)};
  Kinks<Cost> of_right, of_left;
  for (std::size_t n = 3; n < end; ++n) of_right.note(right, n);
  std::size_t within = 0;  // kinks of `right` at less than n
  std::vector<Cost> left(end, 0);
  if (end > 1) left[1] = uf + r;
  for (std::size_t n = 2; n < end; ++n) {
    Cost best = below[n];
    std::size_t split = 0;
    const auto offer = [&](Cost cost, std::size_t at) {
      if (cost >= best) return;
      best = cost;
      split = at;
    };
    offer(left[1] + right[n - 1], 1);
    offer(left[n - 1] + right[1], n - 1);
    while (within < of_right.at.size() && of_right.at[within] < n) ++within;
    spend(candidates, static_cast<std::int64_t>(within + of_left.at.size()));
    for (std::size_t k = 0; k < within; ++k) {
      const std::size_t at = n - of_right.at[k];
      offer(left[at] + of_right.cost[k], at);
    }
    for (std::size_t k = 0; k < of_left.at.size(); ++k) {
      const std::size_t at = of_left.at[k];
      offer(of_left.cost[k] + right[n - at], at);
    }
    row.cost[n] = best;
    row.split[n] = static_cast<std::uint32_t>(split);
    left[n] = static_cast<Cost>(n) * uf + r + best;
    of_left.note(left, n);
  }
  return row;
}

// A larger cost is never the least: see disk_row.
constexpr std::uint64_t kLargest = std::uint64_t{1} << 61;

std::vector<std::uint64_t> in_64_bits(const CostRow& row) {
  std::vector<std::uint64_t> narrow(row.size());
  std::transform(row.begin(), row.end(), narrow.begin(), [](uint128 cost) {
    return static_cast<std::uint64_t>(std::min<uint128>(cost, kLargest));
  });
  return narrow;
}

}  // namespace

CostRow ram_row(std::int64_t steps, std::int64_t ram_slots, std::int64_t advance) {
  CostRow row(size(steps) + 1, 0);
  if (ram_slots == 0) {
    std::fill(row.begin() + std::min<std::ptrdiff_t>(2, steps + 1), row.end(), kImpossible);
    return row;
  }
  // E(n) - E(n - 1) = r, the least with beta = C(s + r, s) >= n.
  const auto s = wide(std::min(ram_slots, steps));
  uint128 r = 0, beta = 1;
  for (std::size_t n = 2; n < row.size(); ++n) {
    while (beta < n) {
      ++r;
      beta = beta * (s + r) / r;
    }
    row[n] = row[n - 1] + r * wide(advance);
  }
  return row;
}

DiskRow one_disk_state(const CostRow& ram, std::int64_t ram_slots, std::int64_t advance,
                       std::int64_t read) {
  DiskRow row{CostRow(ram.size(), 0), std::vector<std::uint32_t>(ram.size(), 0)};
  const auto uf = wide(advance), r = wide(read);
  ConvexSplits splits(ram);
  splits.add(0, 0);  // x_0 is kept in RAM
  for (std::size_t n = 1; n < ram.size(); ++n) {
    if (ram_slots == 0) {  // one step at a time
      row.split[n] = static_cast<std::uint32_t>(n - 1);
      row.cost[n] = n == 1 ? 0 : row.cost[n - 1] + (n - 1) * uf + r;
      continue;
    }
    const ConvexSplits::Best best = splits.best(static_cast<std::int64_t>(n));
    row.split[n] = static_cast<std::uint32_t>(best.at);
    row.cost[n] = best.cost;
    splits.add(static_cast<std::int64_t>(n), n * uf + r + best.cost);
  }
  return row;
}

void spend(std::int64_t& candidates, std::int64_t count) {
  candidates -= count;
  if (candidates >= 0) return;
  throw Error(ANADROME_ERR_ARGUMENT,
              "planning takes too long: fewer steps, more slots in RAM, or fewer on disk");
}

DiskRow disk_row(const CostRow& below, const CostRow& right, std::int64_t advance,
                 std::int64_t read, std::int64_t& candidates) {
  const auto uf = wide(advance), r = wide(read);
  // D(n) <= below(n), and <= the cost of reading x_0 again for every step. If these are small, so
  // is all that is compared, and half as wide a number is several times as fast.
  const auto n = wide(std::ssize(below));
  const uint128 most = std::min(below.back(), n * n * uf + n * r);
  if (most + n * uf + r >= kLargest || right.back() >= kLargest) {
    return search_row<uint128>(below, right, uf, r, candidates);
  }
  return search_row<std::uint64_t>(in_64_bits(below), in_64_bits(right),
                                   static_cast<std::uint64_t>(uf), static_cast<std::uint64_t>(r),
                                   candidates);
}

CostRow if_live(const CostRow& below, const CostRow& from_disk, std::int64_t write) {
  CostRow row = below;
  for (std::size_t n = 2; n < row.size(); ++n) {
    row[n] = std::min(row[n], wide(write) + from_disk[n]);
  }
  return row;
}

// ---- periods ----

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

// Where the cost of an interval is strictly convex, without those that are as cheap in two. Each of
// them is looked at in every row of the table: throws as spend does.
std::vector<std::int64_t> enough_intervals(const CostRow& cost, std::int64_t rows) {
  std::int64_t candidates = kMostCandidates;
  std::vector<std::int64_t> enough;
  for (std::size_t j = 1; j < cost.size(); ++j) {
    const bool inside = j > 1 && j + 1 < cost.size();
    if (inside && cost[j + 1] + cost[j - 1] <= 2 * cost[j]) continue;
    const bool in_two = std::any_of(enough.begin(), enough.end(), [&](std::int64_t a) {
      const auto first = size(a);
      return cost[first] + cost[j - first] <= cost[j];
    });
    if (in_two) continue;
    enough.push_back(static_cast<std::int64_t>(j));
    spend(candidates, rows);
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
  intervals.enough = enough_intervals(intervals.cost, intervals.table_end);
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

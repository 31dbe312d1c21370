// SPDX-License-Identifier: BSD-2-Clause
#include "planners/two_tier/disk_rows.h"

#include <algorithm>
#include <cstddef>

#include "base/error.h"
#include "base/index.h"
#include "planners/memory/convex_splits.h"

namespace anadrome::schedule {
namespace {

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

}  // namespace anadrome::schedule

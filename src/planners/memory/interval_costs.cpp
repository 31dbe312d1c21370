// SPDX-License-Identifier: BSD-2-Clause
#include "planners/memory/interval_costs.h"

#include <algorithm>
#include <cmath>

#include "base/index.h"

namespace anadrome::schedule {

ChainCosts::ChainCosts(const std::vector<std::int64_t>& costs) {
  sums_.reserve(costs.size() + 1);
  moments_.reserve(costs.size() + 1);
  for (std::size_t k = 0; k < costs.size(); ++k) {
    sums_.push_back(sums_.back() + costs[k]);
    moments_.push_back(moments_.back() + static_cast<std::int64_t>(k) * costs[k]);
  }
}

bool Items::equal_units() const {
  return std::all_of(units.begin(), units.end(), [](std::int64_t w) { return w == 1; });
}

std::int64_t IntervalCosts::most_items(std::int64_t table_bytes, std::int64_t units) {
  const double entries = real(table_bytes) / 8 / real(units + 1);
  return static_cast<std::int64_t>((std::sqrt(1 + 8 * std::max(entries, 0.0)) - 1) / 2);
}

IntervalCosts::IntervalCosts(const ChainCosts& steps, const Items& items, std::int64_t units,
                             const Inside& inside)
    : steps_(steps), items_(items), layer_(items.count() * (items.count() + 1) / 2) {
  const std::int64_t count = items.count();
  const bool equal = items.equal_units();
  cost_.resize(size((units + 1) * layer_));
  const auto ends = size(count) + 1;
  std::vector<std::int64_t> splits(ends);  // by j: of i+1 .. j, then of i .. j
  std::vector<std::int64_t> row(ends);     // by j: F(i, j, b), next to each other
  for (std::int64_t b = 0; b <= units; ++b) {
    for (std::int64_t i = count - 1; i >= 0; --i) {
      const std::int64_t alone = items.length(i) == 1 ? 0 : inside(i, b);
      cost_[index(i, i + 1, b)] = row[size(i) + 1] = alone;
      std::int64_t before = i + 1;  // the split of i .. j-1
      for (std::int64_t j = i + 2; j <= count; ++j) {
        std::int64_t& beside = splits[size(j)];
        // With equal units F satisfies the quadrangle inequality, being a (min, +) product of
        // matrices that do, and splits are between those of both neighbours (Knuth 1971, Yao 1980).
        const bool bounded = equal && j > i + 2;
        const std::int64_t from = b == 0 ? j - 1 : (bounded ? before : i + 1);
        const std::int64_t to = bounded ? std::max(from, beside) : j - 1;
        std::int64_t split = i;
        const std::int64_t cost = least(i, j, b, from, to, row, split);
        cost_[index(i, j, b)] = row[size(j)] = cost;
        beside = split == i ? j - 1 : split;
        before = split == i ? from : split;
      }
    }
  }
}

std::int64_t IntervalCosts::least(std::int64_t i, std::int64_t j, std::int64_t b, std::int64_t from,
                                  std::int64_t to, const std::vector<std::int64_t>& row,
                                  std::int64_t& split) const {
  const std::int64_t first = items_.begin(i);
  std::int64_t least = steps_.direct_cost(first, items_.begin(j)) -
                       steps_.direct_cost(first, items_.begin(i + 1)) + row[size(i) + 1];
  split = i;
  for (std::int64_t k = from; k <= to; ++k) {
    const std::int64_t left = b - units_at(k, j);
    if (left < 0) continue;
    const std::int64_t cost = steps_.cost(first, items_.begin(k)) + at(k, j, left) + row[size(k)];
    if (cost <= least) {
      least = cost;
      split = k;
    }
  }
  return least;
}

std::int64_t IntervalCosts::split(std::int64_t i, std::int64_t j, std::int64_t b) const {
  std::vector<std::int64_t> row(size(j) + 1);
  for (std::int64_t k = i + 1; k <= j; ++k) row[size(k)] = at(i, k, b);
  std::int64_t split = i;
  least(i, j, b, i + 1, j - 1, row, split);
  return split;
}

}  // namespace anadrome::schedule

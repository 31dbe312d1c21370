// SPDX-License-Identifier: BSD-2-Clause
// The least cost to reverse every interval of a chain, for every amount of memory: a table.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/index.h"

namespace anadrome::schedule {

/// The cost of advancing along a chain.
class ChainCosts {
 public:
  ChainCosts() = default;
  explicit ChainCosts(const std::vector<std::int64_t>& costs);

  std::int64_t steps() const { return std::ssize(sums_) - 1; }
  std::int64_t cost(std::int64_t first, std::int64_t last) const {
    return at(sums_, last) - at(sums_, first);
  }
  /// Each of the steps first .. last-1 is reached from x_first.
  std::int64_t direct_cost(std::int64_t first, std::int64_t last) const {
    return (last - 1) * cost(first, last) - at(moments_, last) + at(moments_, first);
  }

 private:
  static std::int64_t at(const std::vector<std::int64_t>& values, std::int64_t k) {
    return values[size(k)];
  }
  std::vector<std::int64_t> sums_ = {0}, moments_ = {0};  ///< of cost and of step * cost
};

/// A chain cut into items of one step or more: states are kept where an item begins.
struct Items {
  std::vector<std::int64_t> begins = {};  ///< first step of each, and the end of the last one
  std::vector<std::int64_t> units = {};   ///< of the state that an item begins with, >= 1

  std::int64_t count() const { return std::ssize(units); }
  std::int64_t begin(std::int64_t item) const { return begins[size(item)]; }
  std::int64_t units_of(std::int64_t item) const { return units[size(item)]; }
  std::int64_t length(std::int64_t item) const { return begin(item + 1) - begin(item); }
  bool equal_units() const;
};

/// F(i, j, b) = min( all beyond item i from x_i, min_k cost(i, k) + F(k, j, b - w_k) + F(i, k, b) )
/// over items, where x_i is held beside the b units; the last item needs no w_k if it is one step.
class IntervalCosts {
 public:
  /// `inside(item, b)`: F of the steps within one item of more than one.
  using Inside = std::function<std::int64_t(std::int64_t item, std::int64_t b)>;
  IntervalCosts(const ChainCosts& steps, const Items& items, std::int64_t units,
                const Inside& inside = {});

  /// How many items a table of so many bytes has.
  static std::int64_t most_items(std::int64_t table_bytes, std::int64_t units);

  /// F(i, j, b), i < j.
  std::int64_t at(std::int64_t i, std::int64_t j, std::int64_t b) const {
    return cost_[index(i, j, b)];
  }
  /// An optimal k, i < k < j; i if every step beyond item i is reached from x_i. j - i >= 2.
  std::int64_t split(std::int64_t i, std::int64_t j, std::int64_t b) const;
  /// Units of the state between i .. k-1 and k .. j-1.
  std::int64_t units_at(std::int64_t k, std::int64_t j) const {
    return k == j - 1 && items_.length(k) == 1 ? 0 : items_.units_of(k);
  }
  const Items& items() const { return items_; }

 private:
  std::size_t index(std::int64_t i, std::int64_t j, std::int64_t b) const {
    return size(b * layer_ + j * (j - 1) / 2 + i);
  }
  std::int64_t least(std::int64_t i, std::int64_t j, std::int64_t b, std::int64_t from,
                     std::int64_t to, const std::vector<std::int64_t>& row,
                     std::int64_t& split) const;

  const ChainCosts& steps_;
  const Items& items_;
  std::int64_t layer_;
  std::vector<std::int64_t> cost_;  ///< by b, then j, then i
};

}  // namespace anadrome::schedule

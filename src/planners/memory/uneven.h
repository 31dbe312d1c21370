// SPDX-License-Identifier: BSD-2-Clause
// Steps that cost differently, states that differ in size: where to keep which. By dynamic
// programming; only the plan is kept, not its tables.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/index.h"
#include "schedule/words/placement.h"

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

inline constexpr std::int64_t kMostUnevenSteps = std::int64_t{1} << 20;

struct UnevenSteps {
  std::vector<std::int64_t> costs = {};        ///< of step k, any unit, >= 0
  std::vector<std::int64_t> state_bytes = {};  ///< of x_k, k < n, >= 1; empty: 1 each
  std::int64_t bytes = 1;                      ///< for all kept states
  bool turn_is_a_step = false;                 ///< as in StackSweep with options.turn and no tapes
  std::int64_t table_bytes = std::int64_t{64} << 20;  ///< while planning
};

/// A planner for exactly these steps, RAM only, no tapes: StackOptions::units must be its units().
/// If exact(), the best of the persistent plans, in which a kept state stays until the steps beyond
/// it are done: the optimum where all states have one size. Otherwise the chain is planned in two
/// layers, by sizes that are rounded up, or as Revolve would with slots of the mean size: never
/// more than `bytes` are used, and the plan never costs more than Revolve's with slots of the
/// largest size. Plans are O(n) memory.
class UnevenPlanner final : public Planner {
 public:
  /// Throws ERR_ARGUMENT if x_0 does not fit, if costs or sizes are out of range, if n > 2^20.
  explicit UnevenPlanner(const UnevenSteps& steps);

  std::int64_t units() const { return units_; }
  std::int64_t unit_bytes() const { return unit_bytes_; }
  std::int64_t state_units(std::int64_t step) const override;

  /// Cost of all advances of the plan, recorded steps not counted.
  std::int64_t cost() const { return cost_; }
  bool exact() const { return exact_; }

  Placement place(const Segment& segment) override;
  uint128 advances(const Segment& segment) override;

 private:
  struct Node {
    std::int64_t split, advances;
  };

  struct Taken {
    std::int64_t advances, cost;
  };

  /// Steps first .. last-1 from a kept x_first beside `free` units.
  struct Stretch {
    std::int64_t first, last, free;
  };

  void plan_by_mean_size();
  std::int64_t split_by_mean_size(const Stretch& stretch, std::int64_t units);
  Taken place_by_mean_size(Stretch stretch, const std::vector<std::int64_t>& sums);
  std::optional<std::int64_t> plan_with_tables(std::int64_t table_bytes);
  std::int64_t bytes_of(std::int64_t step) const;
  std::int64_t units_of_bytes(std::int64_t bytes) const;
  void set_unit(std::int64_t unit_bytes, std::int64_t budget);
  Items cut(std::int64_t first, std::int64_t last, std::int64_t count) const;
  Taken extract(const IntervalCosts& table, std::int64_t i, std::int64_t j, std::int64_t b);
  std::int64_t direct_advances(std::int64_t first, std::int64_t last) const;
  std::int64_t item_end(std::int64_t step) const;

  ChainCosts steps_;                       ///< TURN's included, if it is one
  std::vector<std::int64_t> state_bytes_;  ///< as given
  std::int64_t units_ = 0, unit_bytes_ = 1;
  std::int64_t cost_ = 0;
  bool exact_ = true;
  Items items_;               ///< of the upper layer
  std::int64_t by_step_ = 0;  ///< intervals of so few steps are planned step by step
  std::unordered_map<std::uint64_t, Node> nodes_;  ///< by first and last step
  Splitter splitter_;
};

}  // namespace anadrome::schedule

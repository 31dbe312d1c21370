// SPDX-License-Identifier: BSD-2-Clause
// Steps that cost differently, states that differ in size: where to keep which. By dynamic
// programming; only the plan is kept, not its tables.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "planners/memory/interval_costs.h"
#include "schedule/words/placement.h"

namespace anadrome::schedule {

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

// SPDX-License-Identifier: BSD-2-Clause
// A number for each step of a sweep, for schedules whose steps differ: its cost, or the size of its
// state. Given by the caller, or measured on the first sweep of a run and used by the next ones.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/ranks.h"

namespace anadrome::engine {

class StepTable {
 public:
  /// The caller's, on this rank; none: forget them.
  void give(std::span<const double> values) { given_.assign(values.begin(), values.end()); }
  std::int64_t steps_given() const { return static_cast<std::int64_t>(given_.size()); }
  /// The numbers that earlier sweeps measured do not hold any more.
  void forget_measured() { measured_.clear(); }

  /// For the sweep that begins. `wanted`: its numbers are needed; where they are not known of so
  /// many steps, it measures them.
  void begin(std::int64_t steps, bool wanted);
  bool measuring() const { return !measured_now_.empty(); }
  void add(std::int64_t step, double value) {
    measured_now_[static_cast<std::size_t>(step)] = value;
  }
  /// Every step was measured: the largest number of any rank counts. Collective.
  void finish(Ranks& ranks);

  /// Are the numbers of this sweep's steps known? What the caller gave comes first.
  bool known() const { return !in_use_.empty(); }
  bool measured() const { return measured_in_use_; }
  /// The largest over all ranks count from here on. Collective; allocates nothing.
  void share(Ranks& ranks);
  const std::vector<double>& values() const { return in_use_; }

 private:
  bool is_of(const std::vector<double>& table, std::int64_t steps) const {
    return steps > 0 && static_cast<std::int64_t>(table.size()) == steps;
  }

  std::vector<double> given_, measured_;
  std::vector<double> in_use_;  ///< those that the sweep under way uses
  bool measured_in_use_ = false;
  std::vector<double> measured_now_;  ///< or those that it measures
};

}  // namespace anadrome::engine

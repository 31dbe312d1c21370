// SPDX-License-Identifier: BSD-2-Clause
// A model whose state grows and shrinks from step to step, on each rank in its own way. Every
// value of x_k follows from k, the rank and its place, so that each restored state can be checked.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>
#include <vector>

#include "sweep_driver.h"

namespace anadrome::test {

class VaryingModel {
 public:
  /// States have up to `most_cells`, at least 240.
  explicit VaryingModel(std::int64_t most_cells = 250);
  VaryingModel(const VaryingModel&) = delete;
  VaryingModel& operator=(const VaryingModel&) = delete;

  /// `cells`, of changing size, and the number of the step.
  anadrome_status add_fields(anadrome_run* run);
  /// A whole sweep; a state that is not that of its step is a failure of the test.
  anadrome_status sweep(anadrome_run* run, std::int64_t steps, bool unknown = false);
  /// Another reverse sweep of the same.
  anadrome_status sweep_again(anadrome_run* run, std::int64_t steps);
  anadrome_status pass(anadrome_run* run, std::int64_t steps, anadrome_direction direction);

  /// Bytes of x_0 .. x_{steps-1} on this rank.
  std::vector<std::int64_t> bytes(std::int64_t steps) const;
  /// Cells are as many as usual, divided by this.
  std::int64_t divisor = 1;

  /// More cells from this step on than were registered; none: -1.
  std::int64_t outgrows_at = -1;
  std::int64_t advances = 0;  ///< of the last sweep
  std::int64_t visited = 0;   ///< in the last pass

  static std::size_t size(void* self);
  static int pack(void* self, void* buffer, std::size_t bytes);
  static int unpack(void* self, const void* buffer, std::size_t bytes);

 private:
  std::int64_t cells_at(std::int64_t step) const;
  anadrome_status play(anadrome_run* run, std::int64_t steps, bool unknown, bool once_more = false);
  void go_to(std::int64_t step);
  bool holds(std::int64_t step) const;
  void scramble();

  int rank_ = 0;
  std::int64_t most_cells_;
  std::int64_t step_ = 0;
  std::int64_t furthest_ = 0;  // the step that the sweep has reached
  std::vector<double> cells_;
};

}  // namespace anadrome::test

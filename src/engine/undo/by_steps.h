// SPDX-License-Identifier: BSD-2-Clause
// A step undone by steps, for a caller without undo: p <- p + x_{k+1} - step(p), from p = x_{k+1}
// on, as often as made residuals smaller in step 0. Such a step starts from a state that is none of
// the trajectory's: what it adds to adjoint fields is taken back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "engine/ranks/ranks.h"
#include "engine/undo/residual.h"
#include "store/memory/block_layout.h"

namespace anadrome::engine {

class UndoBySteps {
 public:
  UndoBySteps() = default;
  /// `guess`: room for a state. May lack the memory.
  UndoBySteps(std::span<const store::Field> state, std::span<const store::Field> sums,
              std::span<std::byte> guess);

  /// From x_{k+1}. Returns what a callback of an adjoint field met, as the next one does.
  Failure begin(std::span<const std::byte> target);
  Failure take_sums_back() const;
  /// The step made `image` of the guess.
  void correct(std::span<const std::byte> target, std::span<const std::byte> image);
  std::span<const std::byte> guess() const { return guess_; }
  bool is_first() const { return iteration_ == 0; }
  bool is_done() const { return iteration_ == iterations; }

  /// How many iterations are enough is found in the first step that is undone.
  bool chooses() const { return iterations == 0; }
  bool tried_all() const { return iteration_ == kMost; }
  /// Notes how large the residual of `exact` is by now; `room` is for a state.
  void look(const Residual& coding, std::span<const std::byte> exact, std::span<std::byte> room);
  /// Collective.
  void choose(Ranks& ranks);

  std::int64_t iterations = 0;  ///< 0: not chosen

 private:
  static constexpr std::int64_t kMost = 8;

  std::vector<store::Field> state_, sums_;
  std::span<std::byte> guess_;
  std::vector<std::byte> kept_sums_;
  std::vector<std::int64_t> bits_;  ///< of the residual after so many
  std::int64_t iteration_ = 0;
};

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// The error that drifting states cause in the gradient (schedule=undo with compress=lossy and
// probe=on), stated from within a sweep.
//
// Each step is adjoined twice: as it would be anyway, and in a trial, with adjoint fields of its
// own, at a state that is undone beside the caller's: y_k = p + y_{k+1} - step(p), where p is the
// undone y_{k+1}. Errors that undo makes in every step alike are smaller in y_k, so the two
// gradients differ by about the error. Rounding is another one in y_k, and as large: they differ by
// the error times sqrt(2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "engine/ranks/ranks.h"
#include "store/memory/block_layout.h"

namespace anadrome::engine {

class DriftTrial {
 public:
  DriftTrial() = default;
  /// `one` and `other`: room for two states. May lack the memory.
  DriftTrial(std::span<const store::Field> state, std::span<const store::Field> adjoint,
             std::span<std::byte> one, std::span<std::byte> other);

  /// The sweep turns at x_n, with the adjoint fields as they are; one that goes on below has no
  /// trial. This and what else returns a Failure: what a callback of an adjoint field met.
  Failure turn(std::span<const std::byte> x_n);
  bool on() const { return on_; }
  /// y_{k+1}, and y_k once it is corrected.
  std::span<const std::byte> state() const { return state_; }
  std::span<std::byte> guess() { return guess_; }
  /// The step made `image` of the guess.
  void correct(std::span<const std::byte> image);
  /// From a state that was kept.
  void begin_at(std::span<const std::byte> state);

  /// The caller's adjoint fields are kept until they are taken back; the trial's are put there.
  Failure keep_caller_s();
  Failure put_in();
  Failure take_back();
  /// Of the gradient that was kept last, relative. Collective.
  double error(Ranks& ranks) const;

 private:
  std::vector<store::Field> fields_, adjoint_;
  std::span<std::byte> state_, guess_;
  std::vector<std::byte> trial_, caller_s_;
  bool on_ = false;
};

}  // namespace anadrome::engine

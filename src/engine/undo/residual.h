// SPDX-License-Identifier: BSD-2-Clause
// The residual of a state: what is missing from a guess of it, without loss, in a form that
// compresses well.
//
// The bits of each number are taken as an integer, in the order of the numbers: the difference of
// two neighbours is 1, whatever their exponents. Differences of good guesses are small, of either
// sign; so the sign goes into the lowest bit, and the bits of 64 numbers of equal weight follow
// each other. All planes of bits but the lowest are zero then. Sources: Lindstrom & Isenburg 2006
// (IEEE TVCG 12(5), integer differences of floating-point numbers), Masui et al. 2015 (Astronomy
// and Computing 12, transposed bits).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "store/memory/block_layout.h"

namespace anadrome::engine {

class Residual {
 public:
  /// Of states with these fields, which lie one after the other without gaps.
  explicit Residual(std::span<const store::Field> fields);
  Residual() = default;

  /// `guess` becomes what is missing from it to `exact`. Returns about how many bits that takes.
  std::int64_t take(std::span<const std::byte> exact, std::span<std::byte> guess) const;
  /// `residual` becomes the state that `guess` is a guess of.
  void add(std::span<const std::byte> guess, std::span<std::byte> residual) const;

 private:
  struct Part {
    std::int64_t bytes;         ///< of all numbers
    std::int64_t number_bytes;  ///< 4 or 8
    bool real;                  ///< a sign and a magnitude; bytes are taken as such, too
  };
  std::vector<Part> parts_;
};

/// guess <- guess + (exact - image), number by number, where `image` is what a step makes of the
/// guess: the fixed point is what the step makes `exact` of. Numbers that are no reals stay; those
/// whose sum is not finite become those of `exact`.
void correct(std::span<const store::Field> fields, std::span<const std::byte> exact,
             std::span<const std::byte> image, std::span<std::byte> guess);

struct Drift {
  /// The largest difference of two states, of each field relative to its largest magnitude so far;
  /// infinite where a number that is no real, or not finite, differs.
  double most = 0;
  bool within = true;  ///< the tolerance, or the absolute one that a field has of its own
};
/// `largest`: of each field, which `exact` may raise: a wave that has not begun has none.
Drift drift_of(std::span<const store::Field> fields, std::span<const std::byte> exact,
               std::span<const std::byte> other, double tolerance, std::span<double> largest);

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// Revolve (Griewank & Walther 2000, ACM TOMS 26, Algorithm 799): where to put the next checkpoint,
// and what the optimum costs. Closed forms, no tables; exact for 1 <= steps <= 2^62.
#pragma once

#include <cstdint>
#include <limits>

#include "schedule/words/binomial.h"

namespace anadrome::schedule {

inline constexpr std::int64_t kMostSteps = std::int64_t{1} << 62;
inline constexpr std::int64_t kUnknown = -1;  ///< n, or a step, that is not known
inline constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

/// E(n, s): non-recording advances that reverse n steps with s slots, x_0 in one of them.
/// n >= 0; s >= 1 (s >= 0 if n <= 1).
uint128 extra_advances(std::int64_t steps, std::int64_t slots);

/// E(n, s), or INT64_MAX if it does not fit.
std::int64_t extra_advances_clamped(std::int64_t steps, std::int64_t slots);

/// Says where to put the next checkpoint. It remembers the binomial of the last question, so that
/// the questions of a reversal, which differ by little, cost O(1) each.
class Splitter {
 public:
  /// An optimal number of steps to advance before the next checkpoint when `steps` steps are to be
  /// reversed from a kept state and `slots` slots, that state's included, may be used. The longest
  /// one. steps >= 2, slots >= 2.
  std::int64_t split(std::int64_t steps, std::int64_t slots);

  /// Revolve's advance from a kept state, in a reversal of `steps` steps: the split, or at once to
  /// the last step where no other slot is free or nothing lies between. steps >= 2, slots >= 1.
  std::int64_t advance(std::int64_t steps, std::int64_t slots) {
    return slots == 1 || steps == 2 ? steps - 1 : split(steps, slots);
  }

  /// extra_advances, remembering as split does. steps >= 0, slots >= 1.
  uint128 advances(std::int64_t steps, std::int64_t slots);

  /// r(n, s): the least r with beta(s, r) = C(s + r, s) >= n. steps >= 1, slots >= 1.
  std::int64_t repetitions(std::int64_t steps, std::int64_t slots);

  /// beta(s, r) of the last question.
  uint128 beta() const { return beta_; }

 private:
  void seek(std::int64_t steps, std::int64_t slots);
  void seek_from_scratch(std::int64_t steps, std::int64_t slots);
  void settle(std::int64_t steps);

  std::int64_t slots_ = 1;
  std::int64_t repetitions_ = 0;
  uint128 beta_ = 1;
};

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/stack/multistage_split.h"

#include <algorithm>

namespace anadrome::schedule {

std::int64_t multistage_split(Splitter& splitter, std::int64_t steps, std::int64_t slots,
                              MultistageSplits splits) {
  if (slots == 1) return steps - 1;
  if (steps <= slots + 1) return 1;
  const std::int64_t r = splitter.repetitions(steps, slots), s = slots;  // r >= 2
  const uint128 n = wide(steps);
  const uint128 whole = splitter.beta();                    // beta(s, r)
  const uint128 left_most = whole * wide(r) / wide(s + r);  // beta(s, r-1)
  const uint128 left_least = left_most * wide(r - 1) / wide(s + r - 1);
  const uint128 right_most = whole - left_most;  // beta(s-1, r)
  if (splits == MultistageSplits::kShortest) {
    const uint128 least = n > right_most ? n - right_most : 1;
    return static_cast<std::int64_t>(std::max(least, left_least));
  }
  // Griewank & Walther 2000, the rule of Algorithm 799.
  const uint128 right_least = left_most * wide(s) / wide(s + r - 1);  // beta(s-1, r-1)
  const uint128 next_least =
      s == 2 ? 1 : right_least * wide(s - 1) / wide(s + r - 2);              // beta(s-2, r-1)
  const uint128 beta_3 = s < 3 ? 0 : right_most - right_least - next_least;  // beta(s-3, r)
  if (n <= left_most + next_least) return static_cast<std::int64_t>(left_least);
  if (n >= whole - beta_3) return static_cast<std::int64_t>(left_most);
  return static_cast<std::int64_t>(n - right_least - next_least);
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/stack/multistage_split.h"

#include <algorithm>

namespace anadrome::schedule {

std::int64_t multistage_split(Splitter& splitter, std::int64_t steps, std::int64_t slots) {
  if (slots == 1) return steps - 1;
  if (steps <= slots + 1) return 1;
  const std::int64_t r = splitter.repetitions(steps, slots), s = slots;  // r >= 2
  const uint128 n = wide(steps);
  const uint128 whole = splitter.beta();                    // beta(s, r)
  const uint128 left_most = whole * wide(r) / wide(s + r);  // beta(s, r-1)
  const uint128 left_least = left_most * wide(r - 1) / wide(s + r - 1);
  const uint128 right_most = whole - left_most;  // beta(s-1, r)
  const uint128 least = n > right_most ? n - right_most : 1;
  return static_cast<std::int64_t>(std::max(least, left_least));
}

}  // namespace anadrome::schedule

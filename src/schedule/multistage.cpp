// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/multistage.h"

#include <algorithm>

namespace anadrome::schedule {
namespace {

uint128 wide(std::int64_t value) { return static_cast<uint128>(value); }

}  // namespace

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

Placement MultistagePlanner::place(const Segment& segment) {
  if (segment.held == Place::kNowhere) {
    return {segment.disk_slots > 0 ? Place::kDisk : Place::kRam, 0};
  }
  const std::int64_t slots = segment.units + segment.disk_slots + 1;
  return {Place::kNowhere,
          multistage_split(splitter_, segment.last - segment.first, slots, splits_)};
}

uint128 MultistagePlanner::advances(const Segment& segment) {
  const std::int64_t held = segment.held == Place::kNowhere ? 0 : 1;
  return extra_advances(segment.last - segment.first, segment.units + segment.disk_slots + held);
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/two_tier/multistage.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "schedule/stack/multistage_split.h"

namespace anadrome::schedule {
namespace {

uint128 binomial(std::int64_t n, std::int64_t k) {
  k = std::min(k, n - k);
  uint128 value = 1;
  for (std::int64_t i = 1; i <= k; ++i) value = value * wide(n - k + i) / wide(i);
  return value;
}

// The uses of the lowest places of the stack; the recursion is to the left, with fewer repetitions.
class Count {
 public:
  /// `places` of `slots` are on disk; x_0 is only live.
  TwoTierUse of(std::int64_t steps, std::int64_t slots, std::int64_t places) {
    TwoTierUse use;
    for (; steps > 1 && places > 0; --slots, --places) {
      use.writes += 1;
      if (slots == 1) {
        use.reads += wide(steps - 1);
        break;
      }
      if (steps <= slots + 1) {  // every state but the last is kept, and read once
        const uint128 kept = wide(std::min(places, steps - 1));
        use.writes += kept - 1;
        use.reads += kept;
        break;
      }
      const std::int64_t r = splitter_.repetitions(steps, slots);
      if (splitter_.beta() == wide(steps)) {
        // Place p is written C(r + p - 1, p) times and read C(r + p, p + 1) times.
        use.writes += binomial(r + places - 1, places - 1) - 1;
        use.reads += binomial(r + places, places) - 1;
        break;
      }
      if (r > kMostRepetitions || ++splits_done_ > kMostSplits) {
        throw Error(ANADROME_ERR_ARGUMENT,
                    "multistage: to count the use of the disk takes too long: too many steps for "
                    "few slots, or too many slots on disk");
      }
      const std::int64_t left = multistage_split(splitter_, steps, slots);
      const TwoTierUse& part = known(left, slots, places);
      use.writes += part.writes - (left > 1 ? 1 : 0);  // its x_0 was there before
      use.reads += part.reads + 1;
      steps -= left;
    }
    return use;
  }

 private:
  static constexpr std::int64_t kMostRepetitions = 10000, kMostSplits = std::int64_t{1} << 22;

  // As many places as slots are given up from split to split: places follow from slots.
  const TwoTierUse& known(std::int64_t steps, std::int64_t slots, std::int64_t places) {
    const auto found = known_.find({steps, slots});
    if (found != known_.end()) return found->second;
    const TwoTierUse use = of(steps, slots, places);
    return known_[{steps, slots}] = use;
  }

  Splitter splitter_;
  std::map<std::pair<std::int64_t, std::int64_t>, TwoTierUse> known_;
  std::int64_t splits_done_ = 0;
};

}  // namespace

TwoTierUse multistage_use(std::int64_t steps, std::int64_t ram_slots, std::int64_t disk_slots) {
  check_two_tier(steps, ram_slots, disk_slots, {});
  // More slots than steps are of no use.
  const std::int64_t places = std::min(disk_slots, steps);
  const std::int64_t slots = places + std::min(ram_slots, steps - places);
  TwoTierUse use = Count().of(steps, slots, places);
  use.advances = extra_advances(steps, slots);
  return use;
}

}  // namespace anadrome::schedule

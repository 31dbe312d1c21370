#include "schedule/multistage.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"

namespace anadrome::schedule {
namespace {

uint128 wide(std::int64_t value) { return static_cast<uint128>(value); }

// Steps to advance from a kept state; steps >= 2, `slots` with that state's.
std::int64_t split(Splitter& splitter, std::int64_t steps, std::int64_t slots,
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

uint128 binomial(std::int64_t n, std::int64_t k) {
  k = std::min(k, n - k);
  uint128 value = 1;
  for (std::int64_t i = 1; i <= k; ++i) value = value * wide(n - k + i) / wide(i);
  return value;
}

// What the lowest places of the stack are used for; the recursion goes to the left, from where
// repetitions become fewer.
class Count {
 public:
  explicit Count(MultistageSplits splits) : splits_(splits) {}

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
      const std::int64_t left = split(splitter_, steps, slots, splits_);
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

  MultistageSplits splits_;
  Splitter splitter_;
  std::map<std::pair<std::int64_t, std::int64_t>, TwoTierUse> known_;
  std::int64_t splits_done_ = 0;
};

}  // namespace

Placement MultistagePlanner::place(const Segment& segment) {
  if (segment.held == Place::kNowhere) {
    return {segment.disk_slots > 0 ? Place::kDisk : Place::kRam, 0};
  }
  const std::int64_t slots = segment.units + segment.disk_slots + 1;
  return {Place::kNowhere, split(splitter_, segment.last - segment.first, slots, splits_)};
}

uint128 MultistagePlanner::advances(const Segment& segment) {
  const std::int64_t held = segment.held == Place::kNowhere ? 0 : 1;
  return extra_advances(segment.last - segment.first, segment.units + segment.disk_slots + held);
}

TwoTierUse multistage_use(std::int64_t steps, std::int64_t ram_slots, std::int64_t disk_slots,
                          MultistageSplits splits) {
  check_two_tier(steps, ram_slots, disk_slots, {});
  // More slots than steps are of no use.
  const std::int64_t places = std::min(disk_slots, steps);
  const std::int64_t slots = places + std::min(ram_slots, steps - places);
  TwoTierUse use = Count(splits).of(steps, slots, places);
  use.advances = extra_advances(steps, slots);
  return use;
}

uint128 multistage_cost(std::int64_t steps, std::int64_t ram_slots, std::int64_t disk_slots,
                        const TwoTierCosts& costs, MultistageSplits splits) {
  check_two_tier(steps, ram_slots, disk_slots, costs);
  return two_tier_cost(steps, multistage_use(steps, ram_slots, disk_slots, splits), costs);
}

}  // namespace anadrome::schedule

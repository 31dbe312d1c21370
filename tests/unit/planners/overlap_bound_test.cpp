// SPDX-License-Identifier: BSD-2-Clause
#include "overlap_bound.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <queue>
#include <random>
#include <tuple>
#include <vector>

namespace anadrome::bench {
namespace {

using namespace schedule;

// The machine with transfers that are over at once, every way of using it: the cheapest plan if
// what is done before the first adjoint and after it has its own price.
class Relaxed {
 public:
  struct Prices {
    double advance, early_write, late_write, late_read;
  };

  Relaxed(unsigned slots, const Prices& prices) : slots_(slots), prices_(prices) {}

  double cheapest(unsigned steps) {
    steps_ = steps;
    reach({steps, 0, 0, 0}, 0);
    while (!queue_.empty()) {
      const auto [cost, state] = queue_.top();
      queue_.pop();
      if (std::get<0>(state) == 0) return cost;
      if (cost <= least_[state]) leave(state, cost);
    }
    return -1;
  }

 private:
  static constexpr unsigned kNothing = 15;
  using State = std::tuple<unsigned, unsigned, unsigned, unsigned>;  // left, live, RAM, disk
  using Entry = std::pair<double, State>;

  void reach(State state, double cost) {
    const unsigned wanted = (1U << std::get<0>(state)) - 1;
    std::get<2>(state) &= wanted;
    std::get<3>(state) &= wanted;
    const auto [at, is_new] = least_.emplace(state, cost);
    if (!is_new && at->second <= cost) return;
    at->second = cost;
    queue_.push({cost, state});
  }
  void leave(const State& state, double cost) {
    const auto [left, live, ram, disk] = state;
    const bool early = left == steps_;
    const bool room = static_cast<unsigned>(std::popcount(ram)) < slots_;
    if (live != kNothing && live + 1 < left)
      reach({left, live + 1, ram, disk}, cost + (early ? 0 : prices_.advance));
    if (live + 1 == left) reach({left - 1, kNothing, ram, disk}, cost);
    if (live != kNothing && room) reach({left, live, ram | 1U << live, disk}, cost);
    for (unsigned p = 0; p < left; ++p) {
      const unsigned bit = 1U << p;
      if ((ram & bit) != 0) {
        reach({left, live, ram & ~bit, disk}, cost);
        reach({left, p, ram, disk}, cost);
        reach({left, live, ram, disk | bit},
              cost + (early ? prices_.early_write : prices_.late_write));
      } else if ((disk & bit) != 0 && room) {
        reach({left, live, ram | bit, disk}, cost + (early ? 0 : prices_.late_read));
      }
    }
  }

  unsigned slots_, steps_ = 0;
  Prices prices_;
  std::map<State, double> least_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
};

TEST(OverlapBound, IsNoMoreThanTheCheapestPlanOfItsRelaxation) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> share(0, 0.9), seconds(0, 9);
  for (int i = 0; i < 150; ++i) {
    const auto steps = static_cast<unsigned>(2 + random() % 6);
    const auto slots = static_cast<unsigned>(1 + random() % 3);
    const OverlapTimes times{1, 1, seconds(random), seconds(random)};
    const DiskShares shares{share(random), share(random)};
    const double cheapest = (1 - shares.before) * (steps - 1) + (1 - shares.after) * steps +
                            Relaxed(slots, {1 - shares.after, shares.before * times.write,
                                            shares.after * times.write, shares.after * times.read})
                                .cheapest(steps);
    for (const std::int64_t block : {2, 4, 400}) {
      ASSERT_LE(overlapped_lower_bound(steps, slots, times, shares, block), cheapest + 1e-9)
          << "n " << steps << ", c " << slots << ", write " << times.write << ", read "
          << times.read << ", shares " << shares.before << " " << shares.after << ", block "
          << block;
    }
  }
}

TEST(OverlapBound, WithoutADiskToWaitForIsWhatMustBeComputed) {
  EXPECT_DOUBLE_EQ(overlapped_lower_bound(50, 50, {2, 3, 1e6, 1e6}, {0, 0}, 400), 49 * 2 + 50 * 3);
}

TEST(OverlapBound, IsTheOptimumWhereEveryTransferIsHidden) {
  EXPECT_NEAR(overlapped_lower_bound(100, 3, {1, 2, 1, 1}), 299, 0.5);
}

TEST(OverlapBound, OfSeveralBlocksIsALittleLess) {
  const OverlapTimes times{1, 2, 16, 16};
  const double whole = overlapped_lower_bound(600, 4, times, {0.34, 0.04}, 600);
  const double blocks = overlapped_lower_bound(600, 4, times, {0.34, 0.04}, 200);
  EXPECT_LE(blocks, whole);
  EXPECT_GE(blocks, 0.96 * whole);
}

TEST(OverlapBound, OfALongChainIsNearThePlan) {
  const OverlapTimes times{1, 2, 16, 16};
  const double bound = overlapped_lower_bound(10000, 4, times, {0.34, 0.04}, 200);
  const double time = plan_overlapped(10000, 4, times).makespan;
  EXPECT_GE(time, bound);
  EXPECT_LE(time, 1.03 * bound);
}

}  // namespace
}  // namespace anadrome::bench

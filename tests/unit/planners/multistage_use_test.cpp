// SPDX-License-Identifier: BSD-2-Clause

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/error.h"
#include "planners/two_tier/disk_revolve.h"
#include "planners/two_tier/multistage.h"
#include "two_tier_sweep.h"

namespace anadrome::schedule {
namespace {

/// Splits by the rule of Algorithm 799 (Griewank & Walther 2000), as ADOL-C and PETSc do.
class PublishedPlanner final : public Planner {
 public:
  Placement place(const Segment& segment) override {
    const std::int64_t n = segment.last - segment.first;
    const std::int64_t s = segment.units + segment.disk_slots + 1;
    if (segment.held == Place::kNowhere || s == 1 || n <= s + 1) return shortest_.place(segment);
    const std::int64_t r = splitter_.repetitions(n, s);  // r >= 2
    const auto whole = static_cast<std::int64_t>(splitter_.beta());
    const std::int64_t left_most = whole * r / (s + r);                 // beta(s, r-1)
    const std::int64_t left_least = left_most * (r - 1) / (s + r - 1);  // beta(s, r-2)
    const std::int64_t right_least = left_most * s / (s + r - 1);       // beta(s-1, r-1)
    const std::int64_t next = right_least * (s - 1) / (s + r - 2);      // beta(s-2, r-1)
    const std::int64_t rest = whole - left_most - right_least - next;   // beta(s-3, r)
    if (n <= left_most + next) return {Place::kNowhere, left_least};
    if (n >= whole - rest) return {Place::kNowhere, left_most};
    return {Place::kNowhere, n - right_least - next};
  }
  uint128 advances(const Segment& segment) override { return shortest_.advances(segment); }

 private:
  MultistagePlanner shortest_;
  Splitter splitter_;
};

TEST(MultistageUse, IsWhatTheReplayTakes) {
  for (std::int64_t n = 0; n <= 60; ++n) {
    for (std::int64_t c = 0; c <= 6; ++c) {
      for (std::int64_t d = c == 0 ? 1 : 0; d <= 8; ++d) {
        EXPECT_TRUE(replayed({n, c, d}, MultistagePlanner()) == multistage_use(n, c, d))
            << "n " << n << ", RAM " << c << ", disk " << d;
      }
    }
  }
}

RC_GTEST_PROP(MultistageUse, IsWhatTheReplayTakesWithManySteps, ()) {
  const std::int64_t n = *rc::gen::inRange<std::int64_t>(1, 1200);
  const std::int64_t c = *rc::gen::inRange<std::int64_t>(0, 12);
  const std::int64_t d = *rc::gen::inRange<std::int64_t>(1, 20);
  RC_ASSERT(replayed({n, c, d}, MultistagePlanner()) == multistage_use(n, c, d));
}

TEST(MultistageUse, TakesTurnForOneMoreStep) {
  for (std::int64_t n = 1; n <= 40; ++n) {
    for (const std::int64_t c : {0, 2, 5}) {
      for (const std::int64_t d : {1, 3}) {
        StackOptions options = options_of({n, c, d});
        options.turn = true;
        const TwoTierUse run = use_of(replay(options, std::make_unique<MultistagePlanner>()));
        const TwoTierUse expected = multistage_use(n + 1, c, d);
        EXPECT_TRUE(run.advances == expected.advances && run.writes == expected.writes) << n;
        EXPECT_EQ(run.reads, expected.reads + 1) << n;  // x_0 is live again at the end
        options.record = true;
        const Taken taped = replay(options, std::make_unique<MultistagePlanner>());
        EXPECT_TRUE(use_of(taped) == multistage_use(n, c, d)) << n;
        EXPECT_EQ(taped.recorded, n);
      }
    }
  }
}

TEST(MultistageUse, CostsFarMoreThanHRevolveWhereTheDiskIsSlow) {
  const TwoTierCosts slow{1, 0, 20, 20};
  const TwoTierUse published = replayed({100, 5, 10}, PublishedPlanner());
  EXPECT_EQ(two_tier_cost(100, published, slow), uint128{2343});
  EXPECT_EQ(two_tier_cost(100, multistage_use(100, 5, 10), slow), uint128{1783});
  EXPECT_EQ(HRevolvePlanner(100, 5, 10, slow).cost(), uint128{316});
}

TEST(MultistageUse, IsCountedInExtremeCases) {
  const TwoTierUse all = multistage_use(10000, 1000000000, 0);
  EXPECT_TRUE((all == TwoTierUse{9999, 0, 0}));
  const TwoTierUse disk = multistage_use(10000, 5, 1000000000);
  EXPECT_TRUE((disk == TwoTierUse{9999, 9999, 9999}));
  const TwoTierUse much = multistage_use(kMostSteps, kMostSteps, kMostSteps);
  EXPECT_EQ(much.writes, static_cast<uint128>(kMostSteps - 1));
  EXPECT_EQ(multistage_use(kMostSteps, 0, 1).reads, static_cast<uint128>(kMostSteps - 1));
  EXPECT_EQ(multistage_use(kMostSteps, 30, 10).advances, extra_advances(kMostSteps, 40));
  EXPECT_THROW(multistage_use(kMostSteps, 1, 1), Error);
  EXPECT_THROW(multistage_use(5, 0, 0), Error);
  EXPECT_THROW(multistage_use(-1, 1, 0), Error);
}

}  // namespace
}  // namespace anadrome::schedule

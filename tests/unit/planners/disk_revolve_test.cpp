// SPDX-License-Identifier: BSD-2-Clause
#include "planners/two_tier/disk_revolve.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "base/error.h"
#include "two_tier_search.h"
#include "two_tier_sweep.h"

namespace anadrome::schedule {
namespace {

TEST(DiskRevolve, CostsTheLeastThatAnExhaustiveSearchFinds) {
  for (const TwoTierCosts& costs : kTwoTierCosts) {
    for (int n = 1; n <= 7; ++n) {
      for (std::int64_t c = 0; c <= 3; ++c) {
        const std::vector<StorageLevel> disk = {{n, costs.write, costs.read}};
        ASSERT_EQ(
            DiskRevolvePlanner(n, c, costs).cost(),
            static_cast<uint128>(least_cost_by_search(n, c, disk, costs.advance, costs.adjoint)))
            << "n " << n << ", RAM " << c << ", costs " << costs.advance << " " << costs.write
            << " " << costs.read;
      }
    }
  }
}

TEST(DiskRevolve, TakesTurnForOneMoreStep) {
  for (const TwoTierCosts& costs : kTwoTierCosts) {
    for (std::int64_t n = 1; n <= 40; ++n) {
      for (const std::int64_t c : {1, 2, 5}) {
        SCOPED_TRACE("n " + std::to_string(n) + ", RAM " + std::to_string(c));
        const DiskRevolvePlanner turning(n + 1, c, costs), taping(n, c, costs);
        const std::int64_t d = turning.disk_slots();
        expect_turn_is_a_step({n, c, d}, costs, turning, taping);
      }
    }
  }
}

TEST(DiskRevolve, KeepsTheRulesWhereTheFirstStateIsOnDiskAlready) {
  for (const TwoTierCosts& costs : kTwoTierCosts) {
    for (std::int64_t n = 2; n <= 60; ++n) {
      for (const std::int64_t c : {0, 1, 3}) {
        for (const std::int64_t first : {1, 4, 40}) {
          if (first >= n) continue;
          DiskRevolvePlanner planner(n, c, costs);
          const std::int64_t d = planner.disk_slots() + 1;
          EXPECT_NO_THROW(replayed({n, c, d}, FirstOnDisk(first, std::move(planner))))
              << "n " << n << ", RAM " << c << ", first " << first;
        }
      }
    }
  }
}

RC_GTEST_PROP(DiskRevolve, CostsWhatTheRecurrenceCosts, ()) {
  const std::int64_t n = *rc::gen::inRange<std::int64_t>(1, 600);
  const std::int64_t c = *rc::gen::inRange<std::int64_t>(0, 7);
  const std::int64_t scale = *rc::gen::element<std::int64_t>(1, 10, 1000, 100000);
  const TwoTierCosts costs{*rc::gen::inRange<std::int64_t>(0, 30), 0,
                           *rc::gen::inRange<std::int64_t>(0, scale + 1),
                           *rc::gen::inRange<std::int64_t>(0, scale + 1)};
  const std::vector<std::int64_t> costs_by_steps = costs_by_recurrence_unbounded(n, c, costs);
  const uint128 expected = static_cast<uint128>(costs_by_steps.back());
  DiskRevolvePlanner planner(n, c, costs);
  RC_ASSERT(planner.cost() == expected);
  const TwoTierCase given{n, c, planner.disk_slots()};
  RC_ASSERT(two_tier_cost(n, replayed(given, std::move(planner)), costs) == expected);
}

// Far beyond the table: the cost of the periods is that of the recurrence.
RC_GTEST_PROP(DiskRevolve, IsPeriodicFromTheEndOfItsTableOn, ()) {
  const std::int64_t n = *rc::gen::inRange<std::int64_t>(1500, 3000);
  const std::int64_t c = *rc::gen::inRange<std::int64_t>(0, 4);
  const TwoTierCosts costs{*rc::gen::inRange<std::int64_t>(1, 8), 0,
                           *rc::gen::inRange<std::int64_t>(0, 12),
                           *rc::gen::inRange<std::int64_t>(0, 12)};
  const auto expected = static_cast<uint128>(costs_by_recurrence_unbounded(n, c, costs).back());
  RC_ASSERT(DiskRevolvePlanner(n, c, costs).cost() == expected);
}

TEST(DiskRevolve, PlansAnyNumberOfStepsWhereThePeriodIsShort) {
  const TwoTierCosts costs{1, 1, 20, 20};
  const std::int64_t n = kMostSteps - 1;
  DiskRevolvePlanner planner(n, 5, costs);
  const Segment all{0, n, Place::kNowhere, 5, n};
  EXPECT_EQ(planner.place(all).place, Place::kDisk);
  const std::int64_t period = planner.place({0, n, Place::kDisk, 5, n - 1}).advance;
  const std::int64_t few = n % period + 3000 * period;
  const auto more = static_cast<uint128>((n - few) / period);
  DiskRevolvePlanner shorter(few, 5, costs);
  DiskRevolvePlanner next(few + period, 5, costs);
  EXPECT_EQ(planner.cost(), shorter.cost() + more * (next.cost() - shorter.cost()));
  const Segment some{0, few, Place::kNowhere, 5, few};
  const Segment some_more{0, few + period, Place::kNowhere, 5, few};
  EXPECT_EQ(planner.advances(all),
            shorter.advances(some) + more * (next.advances(some_more) - shorter.advances(some)));
}

TEST(DiskRevolve, NeedsNoTableWhereRamIsAsGood) {
  EXPECT_EQ(DiskRevolvePlanner(10000, 1000000000, {1, 0, 2, 2}).cost(), uint128{9999});
  EXPECT_EQ(DiskRevolvePlanner(kMostSteps, kMostSteps, {1, 0, 2, 2}).cost(),
            static_cast<uint128>(kMostSteps - 1));
  EXPECT_EQ(DiskRevolvePlanner(1000000000, 20, {1, 0, kMostSteps, kMostSteps}).cost(),
            extra_advances(1000000000, 20));
  EXPECT_EQ(DiskRevolvePlanner(10000, 1000000000, {1, 0, 2, 2}).disk_slots(), 0);
}

TEST(DiskRevolve, RefusesWhatItCannotPlan) {
  const std::vector<TwoTierCosts> wrong = {{-1, 0, 0, 0},
                                           {1, -1, 0, 0},
                                           {1, 0, -1, 0},
                                           {1, 0, 0, -1},
                                           {1, 0, 0, std::int64_t{1} << 62 | 1}};
  for (const TwoTierCosts& costs : wrong)
    EXPECT_THROW(DiskRevolvePlanner(5, 2, costs).cost(), Error);
  EXPECT_THROW(DiskRevolvePlanner(-1, 2, {}).cost(), Error);
  EXPECT_THROW(DiskRevolvePlanner(kMostSteps + 1, 2, {}).cost(), Error);
  EXPECT_THROW(DiskRevolvePlanner(5, -1, {}).cost(), Error);
  // Too long a table.
  EXPECT_THROW(DiskRevolvePlanner(kMostSteps, 1, {1, 0, 1000000000, 1000000000}).cost(), Error);
  EXPECT_THROW(DiskRevolvePlanner(kMostSteps, 0, {1, 0, kMostSteps, 1}).cost(), Error);
}

TEST(DiskRevolve, AddsUpHugeCosts) {
  const TwoTierCosts huge{kMostSteps, kMostSteps, kMostSteps, kMostSteps};
  EXPECT_EQ(DiskRevolvePlanner(1000000, 2, huge).cost(),
            DiskRevolvePlanner(1000000, 2, {1, 1, 1, 1}).cost() * static_cast<uint128>(kMostSteps));
}

}  // namespace
}  // namespace anadrome::schedule

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

std::string text(std::int64_t n, std::int64_t c, std::int64_t d, const TwoTierCosts& costs) {
  return "n " + std::to_string(n) + ", RAM " + std::to_string(c) + ", disk " + std::to_string(d) +
         ", uf " + std::to_string(costs.advance) + ", w " + std::to_string(costs.write) + ", r " +
         std::to_string(costs.read);
}

TEST(HRevolve, CostsTheLeastThatAnExhaustiveSearchFinds) {
  for (const TwoTierCosts& costs : kTwoTierCosts) {
    for (int n = 1; n <= 8; ++n) {
      for (std::int64_t c = 0; c <= 3; ++c) {
        for (std::int64_t d = c == 0 ? 1 : 0; d <= 2; ++d) {
          const std::vector<StorageLevel> disk = {{d, costs.write, costs.read}};
          ASSERT_EQ(
              HRevolvePlanner(n, c, d, costs).cost(),
              static_cast<uint128>(least_cost_by_search(n, c, disk, costs.advance, costs.adjoint)))
              << text(n, c, d, costs);
        }
      }
    }
  }
}

TEST(HRevolve, TakesTurnForOneMoreStep) {
  for (const TwoTierCosts& costs : kTwoTierCosts) {
    for (std::int64_t n = 1; n <= 40; ++n) {
      for (const std::int64_t c : {0, 1, 3}) {
        for (const std::int64_t d : {1, 2, 5}) {
          SCOPED_TRACE(text(n, c, d, costs));
          expect_turn_is_a_step({n, c, d}, costs, HRevolvePlanner(n + 1, c, d, costs),
                                HRevolvePlanner(n, c, d, costs));
        }
      }
    }
  }
}

TEST(HRevolve, KeepsTheRulesWhereTheFirstStateIsOnDiskAlready) {
  for (const TwoTierCosts& costs : kTwoTierCosts) {
    for (std::int64_t n = 2; n <= 60; ++n) {
      for (const std::int64_t c : {0, 1, 3}) {
        for (std::int64_t d = 1; d <= n; d += 1 + d / 4) {
          for (const std::int64_t first : {1, 4, 40}) {
            if (first >= n || (c == 0 && d == 1)) continue;
            EXPECT_NO_THROW(
                replayed({n, c, d}, FirstOnDisk(first, HRevolvePlanner(n, c, d, costs))))
                << text(n, c, d, costs) << ", first " << first;
          }
        }
      }
    }
  }
}

// The rows of fast and plain search are compared as a whole: that no split is overlooked must hold
// at every length.
RC_GTEST_PROP(HRevolve, CostsWhatTheRecurrenceCosts, ()) {
  const std::int64_t n = *rc::gen::inRange<std::int64_t>(1, 400);
  const std::int64_t c = *rc::gen::inRange<std::int64_t>(0, 7);
  const std::int64_t d = *rc::gen::inRange<std::int64_t>(1, 7);
  const std::int64_t scale = *rc::gen::element<std::int64_t>(1, 10, 1000, 100000);
  const TwoTierCosts costs{*rc::gen::inRange<std::int64_t>(0, 30), 0,
                           *rc::gen::inRange<std::int64_t>(0, scale + 1),
                           *rc::gen::inRange<std::int64_t>(0, scale + 1)};
  const std::vector<StorageLevel> disk = {{d, costs.write, costs.read}};
  const auto expected = static_cast<uint128>(costs_by_recurrence(n, c, disk, costs.advance).back());
  HRevolvePlanner planner(n, c, d, costs);
  RC_ASSERT(planner.cost() == expected);
  RC_ASSERT(two_tier_cost(n, replayed({n, c, d}, std::move(planner)), costs) == expected);
}

// Rows of large costs take 128 bits, others 64.
TEST(HRevolve, AddsUpHugeCosts) {
  constexpr std::int64_t kUnit = std::int64_t{1} << 58;
  for (std::int64_t c = 0; c <= 3; ++c) {
    EXPECT_EQ(HRevolvePlanner(700, c, 3, {kUnit, kUnit, 5 * kUnit, 3 * kUnit}).cost(),
              HRevolvePlanner(700, c, 3, {1, 1, 5, 3}).cost() * static_cast<uint128>(kUnit));
  }
}

TEST(HRevolve, IsDiskRevolveWhereSlotsAreMany) {
  const TwoTierCosts costs{1, 1, 2, 2};
  const std::int64_t writes = DiskRevolvePlanner(1000, 3, costs).disk_slots();
  EXPECT_GT(HRevolvePlanner(1000, 3, writes / 2, costs).cost(),
            DiskRevolvePlanner(1000, 3, costs).cost());
  for (const std::int64_t slots : {writes, std::int64_t{1000000000}, kMostSteps}) {
    EXPECT_EQ(HRevolvePlanner(1000, 3, slots, costs).cost(),
              DiskRevolvePlanner(1000, 3, costs).cost());
  }
  const std::int64_t n = kMostSteps - 1;
  EXPECT_EQ(HRevolvePlanner(n, 3, n, costs).cost(), DiskRevolvePlanner(n, 3, costs).cost());
}

TEST(HRevolve, IsRevolveWithAllSlotsWhereTheDiskCostsNothing) {
  for (std::int64_t n = 1; n <= 200; ++n) {
    for (std::int64_t c = 0; c <= 4; ++c) {
      EXPECT_EQ(HRevolvePlanner(n, c, 3, {1, 0, 0, 0}).cost(), extra_advances(n, c + 3))
          << n << " " << c;
    }
  }
}

TEST(HRevolve, IsRevolveWithoutADisk) {
  EXPECT_EQ(HRevolvePlanner(10000, 1000000000, 10, {1, 0, 2, 2}).cost(), uint128{9999});
  EXPECT_EQ(HRevolvePlanner(kMostSteps, kMostSteps, kMostSteps, {1, 0, 2, 2}).cost(),
            static_cast<uint128>(kMostSteps - 1));
  EXPECT_EQ(HRevolvePlanner(1000000000, 20, 0, {1, 2, 1, 1}).cost(),
            extra_advances(1000000000, 20) + 2000000000);
}

TEST(HRevolve, RefusesWhatItCannotPlan) {
  EXPECT_THROW(HRevolvePlanner(5, 2, 2, {1, 0, -1, 0}).cost(), Error);
  EXPECT_THROW(HRevolvePlanner(-1, 2, 2, {}).cost(), Error);
  EXPECT_THROW(HRevolvePlanner(5, 0, 0, {}).cost(), Error);
  EXPECT_THROW(HRevolvePlanner(5, 1, -1, {}).cost(), Error);
  EXPECT_THROW(HRevolvePlanner(kMostSteps, 1, 10, {1, 0, 2, 2}).cost(), Error);
  EXPECT_THROW(HRevolvePlanner(1000000000, 1, 10, {1, 0, 2, 2}).cost(), Error);
  EXPECT_THROW(HRevolvePlanner(kMostSteps, 1, 0, {kMostSteps, 0, 0, 0}).cost(), Error);
}

}  // namespace
}  // namespace anadrome::schedule

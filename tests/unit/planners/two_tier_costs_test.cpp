// SPDX-License-Identifier: BSD-2-Clause
#include "planners/two_tier/two_tier_costs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace anadrome::schedule {
namespace {

constexpr std::int64_t kTick = std::int64_t{1} << 20;

TEST(TwoTierCosts, AddUp) {
  EXPECT_EQ(two_tier_cost(10, {100, 20, 30}, {7, 5, 3, 2}), uint128{700 + 60 + 60 + 50});
}

TEST(TwoTierCosts, SayWhereTheirSumIsTooLarge) {
  const uint128 many = uint128{1} << 100;
  EXPECT_THROW(two_tier_cost(0, {many, 0, 0}, {kMostSteps, 0, 0, 0}), Error);
  EXPECT_THROW(two_tier_cost(0, {~uint128{0}, 1, 0}, {1, 0, 1, 0}), Error);
  EXPECT_EQ(two_tier_cost(0, {~uint128{0}, 1, 0}, {1, 0, 0, 0}), ~uint128{0});
}

TEST(TwoTierCosts, AreMeasuredInPartsOfAStep) {
  const TwoTierCosts costs = costs_in_ticks(0.5, 1.5, 2.0, 0.25);
  EXPECT_EQ(costs.advance, kTick);
  EXPECT_EQ(costs.adjoint, 3 * kTick);
  EXPECT_EQ(costs.write, 4 * kTick);
  EXPECT_EQ(costs.read, kTick / 2);
}

TEST(TwoTierCosts, AreMeasuredInPartsOfTheLeastWhereAStepTakesNoTime) {
  const TwoTierCosts costs = costs_in_ticks(0, 0, 2.0, 0.5);
  EXPECT_EQ(costs.advance, 0);
  EXPECT_EQ(costs.write, 4 * kTick);
  EXPECT_EQ(costs.read, kTick);
  EXPECT_EQ(costs_in_ticks(0, 0, 0, 0).write, 0);
}

TEST(TwoTierCosts, OfHugeTimesAreTheLargest) {
  const double huge = std::numeric_limits<double>::max();
  EXPECT_EQ(costs_in_ticks(1, 1, huge, 1e300).write, std::int64_t{1} << 62);
  EXPECT_EQ(costs_in_ticks(std::numeric_limits<double>::denorm_min(), 0, 1, 1).write,
            std::int64_t{1} << 62);
}

TEST(TwoTierCosts, AreFiniteTimes) {
  EXPECT_THROW(costs_in_ticks(-1, 1, 1, 1), Error);
  EXPECT_THROW(costs_in_ticks(1, std::nan(""), 1, 1), Error);
  EXPECT_THROW(costs_in_ticks(1, 1, std::numeric_limits<double>::infinity(), 1), Error);
}

}  // namespace
}  // namespace anadrome::schedule

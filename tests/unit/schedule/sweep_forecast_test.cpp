// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/sweep_forecast.h"

#include <gtest/gtest.h>

#include "schedule/disk_revolve.h"
#include "schedule/hrevolve.h"
#include "schedule/revolve.h"

namespace anadrome::schedule {
namespace {

constexpr double kForecastRounding = 1e-9;
const StepCosts kStepCosts = {1, 2, 8, 6, 0, 0};
constexpr TwoTierCosts kTicks = {1, 2, 8, 6};

TwoTierMemory memory_of(std::int64_t units, std::int64_t disk_slots, bool overlaps) {
  return {units, disk_slots, {overlaps, units + 2, true}};
}

TEST(SweepForecast, ASolverThatWaitsForTheDiskTakesThePlannersCost) {
  for (const std::int64_t steps : {2, 20, 150, 400}) {
    for (const std::int64_t slots : {1, 3, 8}) {
      DiskRevolvePlanner disk(steps, slots, kTicks);
      const auto seconds =
          seconds_of_two_tier(kStepCosts, memory_of(slots, steps, false), steps, disk);
      ASSERT_TRUE(seconds.has_value());
      EXPECT_NEAR(*seconds + kStepCosts.adjoint, static_cast<double>(disk.cost()),
                  kForecastRounding * *seconds);
      HRevolvePlanner few(steps, slots, 3, kTicks);
      const auto with_few = seconds_of_two_tier(kStepCosts, memory_of(slots, 3, false), steps, few);
      ASSERT_TRUE(with_few.has_value());
      EXPECT_NEAR(*with_few + kStepCosts.adjoint, static_cast<double>(few.cost()),
                  kForecastRounding * *with_few);
    }
  }
}

TEST(SweepForecast, HiddenTransfersTakeNoLongerThanOthersAndTheStepsNoLess) {
  for (const std::int64_t steps : {20, 150, 400}) {
    DiskRevolvePlanner planner(steps, 4, kTicks);
    const auto waiting =
        seconds_of_two_tier(kStepCosts, memory_of(4, steps, false), steps, planner);
    const auto hidden = seconds_of_two_tier(kStepCosts, memory_of(4, steps, true), steps, planner);
    ASSERT_TRUE(waiting.has_value() && hidden.has_value());
    EXPECT_LE(*hidden, *waiting);
    EXPECT_GE(*hidden, 3.0 * static_cast<double>(steps - 1));
  }
}

TEST(SweepForecast, TransfersTakeWhatTheyTakeOfTheCaller) {
  const OverlappedPlan plan = plan_overlapped(100, 3, {1, 2, 8, 6}, OverlapSearch::kQuick);
  StepCosts costs = kStepCosts;
  const double free = seconds_of_overlapped(costs, plan);
  EXPECT_DOUBLE_EQ(free, plan.makespan - 2);
  costs.write_taken = costs.read_taken = 0.1;
  EXPECT_GT(seconds_of_overlapped(costs, plan), free);
}

}  // namespace
}  // namespace anadrome::schedule

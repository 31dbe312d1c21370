// SPDX-License-Identifier: BSD-2-Clause
// What rows of the catalogue forecast, where the schedule's own tests do not say.
#include "schedule/rows.h"

#include <gtest/gtest.h>

#include "schedule/anchored/anchored_sweep.h"
#include "schedule/stack/mixed.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
namespace {

Problem row_problem(std::int64_t steps, std::int64_t blocks) {
  Problem problem;
  problem.sizing.steps = steps;
  problem.costs = {1, 2, 8, 6, 0, 0};
  problem.shared.blocks = blocks;
  problem.blocks_on_disk = 1000;
  problem.read_ahead = 1;
  problem.slots = problem.shared.slots(1);
  return problem;
}

TEST(ForecastRevolve, CountsItsAdvances) {
  Problem problem = row_problem(100, 10);
  EXPECT_DOUBLE_EQ(forecast_revolve(problem),
                   static_cast<double>(extra_advances(101, problem.slots)) + 200);
  problem.sizing.record = true;  // every step once more
  EXPECT_DOUBLE_EQ(forecast_revolve(problem),
                   100 + static_cast<double>(extra_advances(100, problem.slots)) + 200);
}

TEST(ForecastStoreAll, RunsStepsAgainOnlyForTapesThatAreNotKept) {
  Problem problem = row_problem(100, 102);
  EXPECT_DOUBLE_EQ(forecast_store_all(problem), 300);
  problem.sizing.record = true;
  EXPECT_DOUBLE_EQ(forecast_store_all(problem), 300 + 99);
  problem.shared.tape_units = 1;
  EXPECT_DOUBLE_EQ(forecast_store_all(problem), 300);
}

TEST(ForecastMixed, CountsItsAdvances) {
  Problem problem = row_problem(100, 10);
  problem.sizing.record = true;
  problem.shared.tape_units = 2;
  EXPECT_DOUBLE_EQ(forecast_mixed(problem),
                   100 + static_cast<double>(mixed_advances(100, problem.slots, 2, false)) + 200);
}

TEST(ForecastAsync, TakesTheIntervalThatIsGiven) {
  Problem problem = row_problem(1000, 6);
  const double best = forecast_async(problem);
  problem.sizing.interval = 50;
  EXPECT_EQ(plan_of_async(problem).interval, 50);
  const double given = forecast_async(problem);
  EXPECT_GT(given, 1.1 * best);
  EXPECT_DOUBLE_EQ(given, anchored_sweep(intervals_of(problem), plan_of_async(problem)).seconds);
}

TEST(ForecastAsync, HasEveryAnchorWhereAllAreWanted) {
  Problem problem = row_problem(1000, 6);
  problem.sizing.interval = 2;
  const auto written = [&] {
    return anchored_sweep(intervals_of(problem), plan_of_async(problem)).written;
  };
  problem.all_anchors = true;
  EXPECT_EQ(written(), 499);
  problem.all_anchors = false;
  EXPECT_LT(written(), 499) << "Revolve reverses the last ones as cheaply";
}

TEST(ForecastAsync, HasAnchorsOnASlowDiskOnlyWhereSomebodyWantsThem) {
  Problem problem = row_problem(100, 30);
  problem.costs.write = problem.costs.read = 1000;
  EXPECT_TRUE(plan_of_async(problem).ends_in_ram);
  problem.all_anchors = true;
  EXPECT_FALSE(plan_of_async(problem).ends_in_ram);
}

}  // namespace
}  // namespace anadrome::schedule

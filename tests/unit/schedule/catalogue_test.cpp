// SPDX-License-Identifier: BSD-2-Clause
// The catalogue: its rows, and what they forecast where the schedule's own tests do not say.
#include "schedule/catalogue.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "schedule/anchored/anchored_sweep.h"
#include "schedule/rows.h"
#include "schedule/stack/mixed.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
namespace {

TEST(Catalogue, FindsEveryScheduleByItsNameAndNoOther) {
  std::set<std::string> names;
  for (const Entry& entry : catalogue()) {
    EXPECT_EQ(find_schedule(entry.name), &entry);
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name << " has two rows";
  }
  EXPECT_EQ(find_schedule("auto"), nullptr) << "is a question, not a schedule";
  EXPECT_EQ(find_schedule("revolv"), nullptr);
  // On disk a run has anchors, in the order of their steps; in memory a stack.
  EXPECT_EQ(names, (std::set<std::string>{"store_all", "revolve", "async", "mixed", "undo"}));
}

TEST(Catalogue, HasOneScheduleForEachCaseOfAuto) {
  for (const InAuto in_auto : {InAuto::kEveryStateFits, InAuto::kNoDisk, InAuto::kByDefault}) {
    int rows = 0;
    for (const Entry& entry : catalogue()) rows += entry.in_auto == in_auto ? 1 : 0;
    EXPECT_EQ(rows, 1);
  }
}

// An unknown n, files that are kept and a run that goes on all end in the schedule by default.
TEST(Catalogue, DefaultNeedsNeitherTheNumberOfStepsNorTapes) {
  const Needs& needs = schedule_for(InAuto::kByDefault).needs;
  EXPECT_FALSE(needs.steps);
  EXPECT_FALSE(needs.tape);
  EXPECT_EQ(needs.on_disk, OnDisk::kAnchors);
}

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

TEST(Forecasts, CountAdvancesAndAdjoints) {
  Problem problem = row_problem(100, 10);
  const auto count = [](uint128 advances) { return static_cast<double>(advances); };
  EXPECT_DOUBLE_EQ(forecast_revolve(problem), count(extra_advances(101, problem.slots)) + 200);
  problem.sizing.record = true;  // every step once more
  EXPECT_DOUBLE_EQ(forecast_revolve(problem), count(extra_advances(100, problem.slots)) + 300);
  problem.shared.tape_units = 2;
  EXPECT_DOUBLE_EQ(forecast_mixed(problem),
                   count(mixed_advances(100, problem.slots, 2, false)) + 300);
  problem = row_problem(100, 102);
  EXPECT_DOUBLE_EQ(forecast_store_all(problem), 300);
  problem.sizing.record = true;  // steps are run again only for tapes that are not kept
  EXPECT_DOUBLE_EQ(forecast_store_all(problem), 300 + 99);
  problem.shared.tape_units = 1;
  EXPECT_DOUBLE_EQ(forecast_store_all(problem), 300);
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
  EXPECT_LT(written(), 499) << "Revolve reverses the last ones as cheaply";
  problem.all_anchors = true;
  EXPECT_EQ(written(), 499);
  problem = row_problem(100, 30);
  problem.costs.write = problem.costs.read = 1000;
  EXPECT_TRUE(plan_of_async(problem).ends_in_ram);
  problem.all_anchors = true;
  EXPECT_FALSE(plan_of_async(problem).ends_in_ram);
}

}  // namespace
}  // namespace anadrome::schedule

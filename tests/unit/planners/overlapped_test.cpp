// SPDX-License-Identifier: BSD-2-Clause
// Plans with overlapped transfers, carried out on a machine of their own.
#include "planners/lists/overlapped.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>

#include "base/error.h"
#include "overlapped_machine.h"
#include "reference_table.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
namespace {

struct OverlapCase {
  std::int64_t steps, slots;
  OverlapTimes times;
};

std::ostream& operator<<(std::ostream& out, const OverlapCase& p) {
  return out << "n " << p.steps << ", c " << p.slots << ", forward " << p.times.forward
             << ", adjoint " << p.times.adjoint << ", write " << p.times.write << ", read "
             << p.times.read;
}

struct Row {
  OverlapCase problem;
  int optimum, revolve;
};

// async_optimum.csv: n, c, write, read, adjoint, optimum, Revolve.
std::vector<Row> table() {
  std::vector<Row> rows;
  for (const auto& cells : reference_rows("async_optimum.csv", 7)) {
    const OverlapTimes times{1, static_cast<double>(cells[4]), static_cast<double>(cells[2]),
                             static_cast<double>(cells[3])};
    rows.push_back(
        {{cells[0], cells[1], times}, static_cast<int>(cells[5]), static_cast<int>(cells[6])});
  }
  return rows;
}

double revolve(const OverlapCase& p) {
  return static_cast<double>(extra_advances(p.steps, p.slots)) * p.times.forward +
         static_cast<double>(p.steps) * p.times.adjoint;
}

// The best of all intervals that can be: a shorter one than half the published one waits for the
// disk, a longer one than that and a few saves no waiting.
double best_periodic(const OverlapCase& p) {
  double best = std::numeric_limits<double>::infinity();
  const auto published = static_cast<std::int64_t>(p.times.write);
  const std::int64_t by = published / 40 + 1;
  for (std::int64_t interval = published / 2; interval <= published + 5; interval += by) {
    for (const bool read_ahead : {false, true}) {
      if (interval < 1 || (read_ahead && p.slots == 1)) continue;
      best =
          std::min(best, periodic_plan(p.steps, p.slots, p.times, interval, read_ahead).makespan);
    }
  }
  return best;
}

const std::vector<OverlapCase>& long_chains() {
  static const std::vector<OverlapCase> problems{
      {100, 2, {1, 2, 8, 8}},    {100, 4, {1, 2, 16, 16}},    {100, 8, {1, 1, 30, 30}},
      {300, 3, {1, 1, 4, 4}},    {1000, 2, {1, 1, 4, 4}},     {1000, 3, {1, 2, 16, 16}},
      {1000, 8, {1, 2, 64, 64}}, {2000, 1, {1, 2, 16, 16}},   {2000, 3, {1, 1.5, 2.5, 5}},
      {3000, 4, {1, 2, 16, 16}}, {3000, 16, {1, 2, 100, 100}}};
  return problems;
}

// Every action of an optimal plan is needed, but for a drop of a slot that is not used again.
TEST(OverlappedMachine, BreaksOnAPlanThatLacksAnAction) {
  const OverlapCase p{7, 2, {1, 2, 3, 3}};
  const OverlappedPlan plan = plan_overlapped(p.steps, p.slots, p.times);
  int writes = 0;
  for (std::size_t i = 0; i < plan.actions.size(); ++i) {
    if (plan.actions[i].kind == OverlapKind::kDrop) continue;
    writes += plan.actions[i].kind == OverlapKind::kWrite ? 1 : 0;
    OverlappedPlan other = plan;
    other.actions.erase(other.actions.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THROW(execute(p.steps, p.slots, p.times, other), std::logic_error) << "action " << i;
  }
  EXPECT_GT(writes, 0);
  EXPECT_THROW(execute(p.steps, 1, p.times, plan), std::logic_error);
  EXPECT_THROW(execute(p.steps + 1, p.slots, p.times, plan), std::logic_error);
}

TEST(Overlapped, PlansAreOptimalWhereTheOptimumIsKnown) {
  double sum = 0, worst = 1;
  int overlapped = 0;
  for (const Row& row : table()) {
    const OverlapCase& p = row.problem;
    const OverlappedPlan plan = plan_overlapped(p.steps, p.slots, p.times);
    const double time = execute(p.steps, p.slots, p.times, plan);
    ASSERT_EQ(time, plan.makespan) << p;
    ASSERT_GE(time, row.optimum) << p;
    ASSERT_LE(time, row.revolve) << p;
    if (row.optimum == row.revolve) continue;
    ++overlapped;
    sum += time / row.optimum;
    worst = std::max(worst, time / row.optimum);
  }
  EXPECT_EQ(overlapped, 108);
  EXPECT_EQ(sum, overlapped);
  EXPECT_EQ(worst, 1);
}

TEST(Overlapped, LongChainsAreFasterThanThePeriodicPlanAndRevolve) {
  for (const OverlapCase& p : long_chains()) {
    const OverlappedPlan plan = plan_overlapped(p.steps, p.slots, p.times);
    const double time = execute(p.steps, p.slots, p.times, plan);
    EXPECT_EQ(time, plan.makespan) << p;
    EXPECT_LT(time, best_periodic(p)) << p;
    EXPECT_LT(time, revolve(p)) << p;
  }
}

TEST(Overlapped, IsNeverSlowerThanTheOthersAndBreaksNoRule) {
  std::mt19937 random(20240131);
  std::uniform_real_distribution<double> seconds(0, 12);
  for (int i = 0; i < 30; ++i) {
    const OverlapCase p{std::int64_t{1} + static_cast<std::int64_t>(random() % 18),
                        std::int64_t{1} + static_cast<std::int64_t>(random() % 5),
                        {0.1 + seconds(random), seconds(random), seconds(random), seconds(random)}};
    const OverlappedPlan plan = plan_overlapped(p.steps, p.slots, p.times);
    const double time = execute(p.steps, p.slots, p.times, plan);
    constexpr double kNearly = 1e-9;
    ASSERT_NEAR(time, plan.makespan, kNearly * time) << p;
    ASSERT_LE(time, revolve(p) * (1 + kNearly)) << p;
    for (const bool read_ahead : {false, true}) {
      if (read_ahead && p.slots == 1) continue;
      for (const std::int64_t interval :
           periodic_intervals(p.steps, p.slots, p.times, read_ahead)) {
        const OverlappedPlan other = periodic_plan(p.steps, p.slots, p.times, interval, read_ahead);
        ASSERT_LE(time, execute(p.steps, p.slots, p.times, other) * (1 + kNearly)) << p;
      }
    }
  }
}

TEST(Overlapped, TransfersThatTakeNoTimeLeaveNoRecomputationOnAShortChain) {
  const OverlappedPlan plan = plan_overlapped(30, 2, {2, 3, 0, 0});
  EXPECT_EQ(plan.makespan, 29 * 2 + 30 * 3);
}

TEST(Overlapped, AdjointsThatTakeNoTimeAndEndlessTransfersAreRevolve) {
  EXPECT_EQ(plan_overlapped(30, 3, {1, 0, 1e9, 1e9}).makespan,
            static_cast<double>(extra_advances(30, 3)));
}

TEST(Overlapped, ListsActionsInProportionToTheSteps) {
  const auto shorter = plan_overlapped(5'000, 4, {1, 2, 16, 16}).actions.size();
  const auto longer = plan_overlapped(50'000, 4, {1, 2, 16, 16}).actions.size();
  EXPECT_LE(shorter, 5'000 * 8);
  EXPECT_LE(longer, 11 * shorter);
}

TEST(Overlapped, ManySlotsAndNoStepsAreFine) {
  EXPECT_TRUE(plan_overlapped(0, 1, {}).actions.empty());
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(plan_overlapped(1000, most, {1, 1, 5, 5}).makespan, 1999);
}

TEST(Overlapped, RefusesWhatMakesNoSense) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_THROW(plan_overlapped(-1, 1, {}), Error);
  EXPECT_THROW(plan_overlapped(kMostOverlappedSteps + 1, 1, {}), Error);
  EXPECT_THROW(plan_overlapped(10, 0, {}), Error);
  for (const OverlapTimes& times :
       {OverlapTimes{0, 1, 1, 1}, OverlapTimes{-1, 1, 1, 1}, OverlapTimes{1, infinite, 1, 1},
        OverlapTimes{1, 1, -1, 1}, OverlapTimes{1, 1, 1, std::nan("")},
        OverlapTimes{1e-300, 1, 1e300, 1}}) {
    EXPECT_THROW(plan_overlapped(10, 2, times), Error);
  }
}

}  // namespace
}  // namespace anadrome::schedule

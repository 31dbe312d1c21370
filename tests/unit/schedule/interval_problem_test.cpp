// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/interval_problem.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace anadrome::schedule {
namespace {

IntervalProblem problem_of(const StepCosts& costs, std::int64_t blocks, std::int64_t steps) {
  IntervalProblem problem;
  problem.costs = costs;
  problem.memory.blocks = blocks;
  problem.steps = steps;
  return problem;
}

TEST(PlanIntervals, StaysUnlessAnotherPlanGainsSomething) {
  std::mt19937 random(18);
  std::uniform_real_distribution<double> seconds(0, 40);
  for (int i = 0; i < 500; ++i) {
    const StepCosts costs{1, seconds(random), seconds(random), seconds(random), 0, 0};
    const auto blocks = 3 + static_cast<std::int64_t>(random() % 8);
    IntervalProblem problem = problem_of(costs, blocks, kUnknown);
    problem.may_end_in_ram = false;
    const AsyncPlan first = plan_intervals(problem);
    problem.now = first;
    const AsyncPlan again = plan_intervals(problem);
    EXPECT_EQ(again.interval, first.interval);
    EXPECT_EQ(again.prefetch_depth, first.prefetch_depth);
  }
}

// Anchors or memory alone: what whole sweeps took decides, once both are known, and both are tried
// where the model is not sure.
TEST(PlanIntervals, BelievesSweepsMoreThanTheModel) {
  const AsyncPlan with_anchors = {.interval = 4}, alone = {.ends_in_ram = true};
  IntervalProblem problem = problem_of({1, 2, 0.9, 0.9, 0.9, 0.9}, 8, 30);
  ASSERT_TRUE(plan_intervals(problem).ends_in_ram);
  problem.took.note(alone, 100);
  EXPECT_FALSE(plan_intervals(problem).ends_in_ram) << "once, to see";
  problem.took.note(with_anchors, 90);
  EXPECT_FALSE(plan_intervals(problem).ends_in_ram);
  problem.took.note(with_anchors, 110);
  EXPECT_TRUE(plan_intervals(problem).ends_in_ram);
  problem.newest_anchor = 2;
  problem.costs = {1, 2, 0.1, 0.1, 0, 0};
  EXPECT_FALSE(plan_intervals(problem).ends_in_ram) << "sweeps say nothing of a rest";
  problem.newest_anchor = 0;
  problem.costs = {1, 2, 40, 40, 40, 40};
  problem.took = {};
  problem.took.note(alone, 100);
  EXPECT_TRUE(plan_intervals(problem).ends_in_ram) << "there is no doubt";
}

// Seven of twelve states can wait in memory to be written, and four are there at TURN: with an
// anchor at every step nothing is waited for, and nothing run again.
TEST(PlanIntervals, WritesMoreOftenWhereMemoryHoldsMuchOfTheSweep) {
  IntervalProblem problem = problem_of({1, 1.2, 1.67, 1.67, 0, 0}, 8, 12);
  const AsyncPlan plan = plan_intervals(problem);
  EXPECT_FALSE(plan.ends_in_ram);
  EXPECT_EQ(plan.interval, 1);
  EXPECT_EQ(plan.prefetch_depth, 4);
  EXPECT_NEAR(plan.seconds_per_step, 2.2, 1e-9);
  problem.steps = 12'000;
  EXPECT_EQ(plan_intervals(problem).interval, 2);
}

// What waits to be written already, and what lies below, count where the sweep is under way.
TEST(PlanIntervals, KnowsWhatWaitsForTheDiskAlready) {
  IntervalProblem problem = problem_of({1, 1.1, 3.2, 3.2, 0.05, 0.05}, 8, 12);
  problem.newest_anchor = 2;
  problem.anchors_below = 1;
  AsyncPlan every = {.interval = 1, .prefetch_depth = 4, .slots = problem.memory.slots(4)};
  problem.now = every;
  const AsyncPlan plan = plan_intervals(problem);
  EXPECT_TRUE(plan.ends_in_ram || plan.interval > 1) << "one of three reads would be waited for";
}

TEST(PlanIntervals, GoesBackToAPlanWhoseSweepsWereFaster) {
  IntervalProblem problem = problem_of({1, 2, 4, 4, 0, 0}, 8, 1000);
  problem.may_end_in_ram = false;
  const AsyncPlan modelled = plan_intervals(problem);
  AsyncPlan other = modelled;
  other.interval = 2 * modelled.interval;
  const auto interval = [&] { return plan_intervals(problem).interval; };
  problem.took.note(other, 100);
  EXPECT_EQ(interval(), modelled.interval) << "it is tried";
  problem.took.note(modelled, 110);
  EXPECT_EQ(interval(), other.interval);
  problem.now = modelled;
  EXPECT_EQ(interval(), other.interval);
  problem.took.note(modelled, 101);
  EXPECT_EQ(interval(), modelled.interval) << "as good as equal";
  problem.took.note(modelled, 110);
  problem.anchors_left = 1000 / (other.interval + 1);
  EXPECT_GT(interval(), other.interval) << "the disk has no place for so many";
}

// Writes were measured at a slow moment. The interval that follows is modelled to take longer than
// an earlier sweep of this run took, and that sweep's stays. In a long sweep the model decides.
TEST(PlanIntervals, TakesNoIntervalModelledSlowerThanAShortSweepWas) {
  IntervalProblem problem = problem_of({1, 2, 8, 8, 0, 0}, 8, 72);
  AsyncPlan every = {.interval = 1, .prefetch_depth = 4};
  every.slots = problem.memory.slots(every.prefetch_depth);
  const AsyncPlan modelled = plan_intervals(problem);
  ASSERT_FALSE(modelled.ends_in_ram);
  ASSERT_GT(modelled.interval, 1);
  const double promised = modelled.seconds_per_step * 72;
  const auto interval = [&] { return plan_intervals(problem).interval; };
  problem.took.note(every, 0.95 * promised);
  EXPECT_EQ(interval(), 1);
  problem.newest_anchor = 36;
  problem.anchors_below = 36;
  EXPECT_EQ(interval(), 1) << "half-way, too";
  problem.newest_anchor = problem.anchors_below = 0;
  problem.took.note(every, 1.05 * promised);
  EXPECT_EQ(interval(), modelled.interval) << "it is tried";
  problem.steps = 72'000;
  const AsyncPlan in_long_one = plan_intervals(problem);
  problem.took.note(every, 0.95 * in_long_one.seconds_per_step * 72'000);
  EXPECT_EQ(interval(), in_long_one.interval);
}

// The plan in force was made when steps seemed slower: what it takes is reckoned with the times of
// now, as what memory alone would take.
TEST(PlanIntervals, WeighsThePlanInForceWithTheTimesOfNow) {
  IntervalProblem problem = problem_of({1, 2, 4, 4, 0, 0}, 8, 1000);
  problem.newest_anchor = 200;
  problem.anchors_below = 50;
  problem.now = plan_intervals(problem);
  ASSERT_FALSE(problem.now.ends_in_ram);
  problem.now.seconds_per_step = 100;
  EXPECT_FALSE(plan_intervals(problem).ends_in_ram);
}

// A rest that is reversed from memory leaves the blocks that anchors below it are read into.
TEST(PlanIntervals, ReadsAheadBelowARestThatIsReversedFromMemory) {
  IntervalProblem problem = problem_of({1, 2, 4, 4, 0, 0}, 8, 1000);
  problem.newest_anchor = 990;
  const AsyncPlan alone = plan_intervals(problem);
  ASSERT_TRUE(alone.ends_in_ram);
  EXPECT_EQ(alone.prefetch_depth, 0);
  problem.anchors_below = 200;
  const AsyncPlan above_anchors = plan_intervals(problem);
  EXPECT_GT(above_anchors.prefetch_depth, 0);
}

// Where places are few, and all but the last of them are taken, their states are still to be read.
TEST(PlanIntervals, ReadsAheadToTheEndOfASmallDisk) {
  IntervalProblem problem = problem_of({1, 2, 2, 2}, 7, 80);
  for (problem.newest_anchor = 40; problem.newest_anchor < 76; ++problem.newest_anchor) {
    for (problem.anchors_left = 1; problem.anchors_left < 4; ++problem.anchors_left) {
      problem.anchors_below = 18;
      EXPECT_GT(plan_intervals(problem).prefetch_depth, 0)
          << problem.newest_anchor << ", " << problem.anchors_left;
    }
  }
}

// Blocks that are read to later are slots of all intervals, of those below the newest anchor, too.
TEST(PlanIntervals, KeepsTheSlotsOfIntervalsBelowOnASmallDisk) {
  IntervalProblem problem = problem_of({1, 2, 0.8, 0.8}, 9, 200);
  for (std::int64_t anchor = 0; anchor <= 12; ++anchor) {
    problem.newest_anchor = 12 * anchor;
    problem.anchors_below = anchor;
    problem.anchors_left = 13 - anchor;
    EXPECT_EQ(plan_intervals(problem).prefetch_depth, 0) << anchor;
  }
}

}  // namespace
}  // namespace anadrome::schedule

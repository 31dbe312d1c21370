// SPDX-License-Identifier: BSD-2-Clause
// The questions of schedule=async: how long intervals are, for a sweep, and for passes after it.
#include "schedule/anchored/interval_problem.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "schedule/anchored/anchored_sweep.h"
#include "schedule/passes/pass_times.h"

namespace anadrome::schedule {
namespace {

IntervalProblem problem_of(const StepCosts& costs, std::int64_t blocks, std::int64_t steps) {
  IntervalProblem problem;
  problem.costs = costs;
  problem.memory.blocks = blocks;
  problem.steps = steps;
  return problem;
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
  const AsyncPlan plan = plan_intervals(problem);
  EXPECT_TRUE(plan.ends_in_ram || plan.interval > 1) << "one of three reads would be waited for";
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
  // Waiting looks a little cheaper: that is too little, as reads are priced by writes.
  problem.anchors_below = 100;
  problem.costs.read_taken = 3;
  EXPECT_GT(plan_intervals(problem).prefetch_depth, 0);
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

// Levels in a machine whose transfers take three seconds of the steps beside each, up to two
// intervals of a level; a step takes one.
IntervalTimes measured_at(std::initializer_list<int> levels) {
  IntervalTimes times;
  for (const int level : levels) {
    const double steps = static_cast<double>(IntervalTimes::interval(level));
    for (int i = 0; i < 12; ++i) times.add(steps, 1, steps + 3, 0);
  }
  return times;
}

TEST(NextLevel, IsNeverOneThatTheDiskHasNoPlacesFor) {
  const IntervalTimes times = measured_at({0, 1, 2, 3});
  IntervalProblem problem = problem_of({1, 2, 0.5, 0.5}, 8, 1000);
  problem.times = &times;
  problem.anchors_left = 99;
  for (const int now : {0, 3, 5}) {
    const NextLevel next = next_level(problem, now);
    EXPECT_GE(IntervalTimes::interval(next.best + 1), 10);
    EXPECT_GE(IntervalTimes::interval(next.next + 1), 10);
  }
  EXPECT_EQ(plan_with_anchors(problem, 3).interval, 10) << "as even as they can be";
}

TEST(NextLevel, IsNotBeyondTheBestIfNothingWereHidden) {
  IntervalTimes times;
  for (int i = 0; i < 12; ++i) times.add(1, 1, 1.001, 0);
  IntervalProblem problem = problem_of({1, 2, 0.1, 0.1}, 8, 1000);
  problem.times = &times;
  EXPECT_EQ(first_level(problem), 0) << "nothing longer can pay";
  EXPECT_EQ(next_level(problem, 0).next, 0);
}

TEST(FirstLevel, IsWhatWasMeasuredToBeBest) {
  const IntervalTimes times = measured_at({0, 1, 2, 3, 4});
  IntervalProblem problem = problem_of({1, 2, 4, 4}, 8, 1000);
  EXPECT_EQ(first_level(problem), kNoLevel) << "nothing can be measured";
  problem.times = &times;
  const int first = first_level(problem);
  EXPECT_EQ(first, known_level(problem));
  EXPECT_EQ(first, next_level(problem, first).best);
  EXPECT_GE(first, 2) << "transfers are dear";
  problem.steps = 20;
  EXPECT_EQ(first_level(problem), kNoLevel) << "too few steps";
  problem.steps = 1000;
  problem.costs.passes = 4;
  EXPECT_EQ(first_level(problem), kNoLevel);
}

// The disk became slow. Of the levels that are known none pays any more, and longer ones would.
TEST(PlanIntervals, TakeMemoryAloneOnlyWhereNoLengthCanPay) {
  const IntervalTimes times = measured_at({0, 1});
  IntervalProblem problem = problem_of({1, 2, 25, 25}, 6, 1000);
  problem.times = &times;
  problem.newest_anchor = 250;
  problem.anchors_below = 125;
  const NextLevel next = next_level(problem, 1);
  EXPECT_FALSE(plan_intervals(problem, next.best).ends_in_ram);
  EXPECT_EQ(next_level(problem, next.best).next, 2);
  problem.newest_anchor = 996;
  EXPECT_TRUE(plan_intervals(problem, next.best).ends_in_ram);
}

// What lies below is read whatever follows, and says nothing of the intervals to come.
TEST(NextLevel, DoesNotDependOnWhatLiesBelow) {
  const IntervalTimes times = measured_at({0, 1, 2, 3, 4});
  IntervalProblem problem = problem_of({1, 2, 0.5, 0.5}, 8, 1000);
  problem.times = &times;
  problem.newest_anchor = 500;
  const int alone = next_level(problem, 2).best;
  problem.anchors_below = 400;
  EXPECT_EQ(next_level(problem, 2).best, alone);
}

TEST(AnchoredSweep, WithoutAnchorsIsRevolve) {
  const IntervalProblem problem = problem_of({1, 2, 8, 6, 0, 0}, 6, 99);
  const AsyncPlan in_ram = plan_in_ram(problem.costs, problem.memory, 99, false, 0);
  const AnchoredSweep sweep = anchored_sweep(problem, in_ram);
  EXPECT_EQ(sweep.written, 0);
  EXPECT_EQ(sweep.advances, extra_advances(100, 6));
  EXPECT_NEAR(sweep.seconds, static_cast<double>(sweep.advances) + 2.0 * 99, 1e-6);
}

TEST(AnchoredSweep, IsNoFasterWithFewerAnchors) {
  IntervalProblem problem = problem_of({1, 2, 8, 6, 0, 0}, 4, 500);
  const AsyncPlan plan = best_plan(problem.costs, problem.memory, 1, 500);
  const AnchoredSweep many = anchored_sweep(problem, plan);
  problem.anchors_left = 4;
  const AnchoredSweep few = anchored_sweep(problem, plan);
  EXPECT_LE(few.written, 4);
  EXPECT_LT(many.seconds, few.seconds);
}

StepCosts with_visits(double forward, double visit, double read) {
  StepCosts costs;
  costs.forward = forward;
  costs.adjoint = 2 * forward;
  costs.write = costs.read = read;
  costs.visit = visit;
  return costs;
}

TEST(PassTimes, ReadEveryAnchorThatIsHiddenBehindVisits) {
  EXPECT_EQ(best_stride(with_visits(1, 1, 0.9), 1, true), 1);
  EXPECT_DOUBLE_EQ(forward_pass_seconds(with_visits(1, 1, 0.9), 1, true), 1);
}

TEST(PassTimes, RunStepsWhereThatIsFasterThanReading) {
  const std::int64_t stride = best_stride(with_visits(0.1, 1, 20), 1, true);
  EXPECT_GT(stride, 1);
  EXPECT_LT(forward_pass_seconds(with_visits(0.1, 1, 20), 1, true, stride),
            0.2 * forward_pass_seconds(with_visits(0.1, 1, 20), 1, true));
}

TEST(PassTimes, GoByTheMeanDistanceOfAnchors) {
  EXPECT_EQ(best_stride(with_visits(0.1, 1, 20), 100, 50, true),
            best_stride(with_visits(0.1, 1, 20), 2, true));
  EXPECT_EQ(best_stride(with_visits(0.1, 1, 20), 100, 1, true), 1) << "x_0 is the only one";
}

TEST(PassTimes, WithoutAKnownVisitTakeItForAStep) {
  EXPECT_EQ(forward_pass_seconds(with_visits(1, 0, 0.5), 3, true),
            forward_pass_seconds(with_visits(1, 1, 0.5), 3, true));
}

// The more passes are to come, the shorter an interval is worth its writes.
TEST(PassTimes, MakeIntervalsShorterTheMorePassesFollow) {
  IntervalProblem problem;
  problem.costs = with_visits(1, 1, 4);
  problem.costs.read = 0.5;
  problem.memory = {10, 1, true, 0};
  problem.steps = 10000;
  problem.anchors_left = 10000;
  std::int64_t last = plan_intervals(problem).interval;
  EXPECT_GT(last, 2);
  for (const double passes : {2.0, 20.0, 1000.0}) {
    problem.costs.passes = passes;
    const std::int64_t interval = plan_intervals(problem).interval;
    EXPECT_LE(interval, last) << passes << " passes";
    last = interval;
  }
  EXPECT_EQ(last, 1);
}

}  // namespace
}  // namespace anadrome::schedule

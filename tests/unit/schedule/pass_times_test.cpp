// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/passes/pass_times.h"

#include <gtest/gtest.h>

#include "schedule/anchored/interval_problem.h"

namespace anadrome::schedule {
namespace {

StepCosts costs(double forward, double visit, double read) {
  StepCosts costs;
  costs.forward = forward;
  costs.adjoint = 2 * forward;
  costs.write = costs.read = read;
  costs.visit = visit;
  return costs;
}

TEST(PassTimes, ReadEveryAnchorThatIsHiddenBehindVisits) {
  EXPECT_EQ(best_stride(costs(1, 1, 0.9), 1, true), 1);
  EXPECT_DOUBLE_EQ(forward_pass_seconds(costs(1, 1, 0.9), 1, true), 1);
}

TEST(PassTimes, RunStepsWhereThatIsFasterThanReading) {
  const std::int64_t stride = best_stride(costs(0.1, 1, 20), 1, true);
  EXPECT_GT(stride, 1);
  EXPECT_LT(forward_pass_seconds(costs(0.1, 1, 20), 1, true, stride),
            0.2 * forward_pass_seconds(costs(0.1, 1, 20), 1, true));
}

TEST(PassTimes, GoByTheMeanDistanceOfAnchors) {
  EXPECT_EQ(best_stride(costs(0.1, 1, 20), 100, 50, true), best_stride(costs(0.1, 1, 20), 2, true));
  EXPECT_EQ(best_stride(costs(0.1, 1, 20), 100, 1, true), 1) << "x_0 is the only one";
}

TEST(PassTimes, WithoutAKnownVisitTakeItForAStep) {
  EXPECT_EQ(forward_pass_seconds(costs(1, 0, 0.5), 3, true),
            forward_pass_seconds(costs(1, 1, 0.5), 3, true));
}

// The more passes are to come, the shorter an interval is worth its writes.
TEST(PassTimes, MakeIntervalsShorterTheMorePassesFollow) {
  IntervalProblem problem;
  problem.costs = costs(1, 1, 4);
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

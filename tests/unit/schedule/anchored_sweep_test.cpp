// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/anchored/anchored_sweep.h"

#include <gtest/gtest.h>

namespace anadrome::schedule {
namespace {

IntervalProblem problem_of(std::int64_t steps, std::int64_t blocks) {
  IntervalProblem problem;
  problem.costs = {1, 2, 8, 6, 0, 0};
  problem.memory.blocks = blocks;
  problem.steps = steps;
  return problem;
}

TEST(AnchoredSweep, WithoutAnchorsIsRevolve) {
  const IntervalProblem problem = problem_of(99, 6);
  const AsyncPlan in_ram = plan_in_ram(problem.costs, problem.memory, 99, false, 0);
  const AnchoredSweep sweep = anchored_sweep(problem, in_ram);
  EXPECT_EQ(sweep.written, 0);
  EXPECT_EQ(sweep.advances, extra_advances(100, 6));
  EXPECT_NEAR(sweep.seconds, static_cast<double>(sweep.advances) + 2.0 * 99, 1e-6);
}

TEST(AnchoredSweep, IsNoFasterWithFewerAnchors) {
  IntervalProblem problem = problem_of(500, 4);
  const AsyncPlan plan = best_plan(problem.costs, problem.memory, 1, 500);
  const AnchoredSweep many = anchored_sweep(problem, plan);
  problem.anchors_left = 4;
  const AnchoredSweep few = anchored_sweep(problem, plan);
  EXPECT_LE(few.written, 4);
  EXPECT_LT(many.seconds, few.seconds);
}

}  // namespace
}  // namespace anadrome::schedule

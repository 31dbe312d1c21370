// SPDX-License-Identifier: BSD-2-Clause
#include "planners/questions/join_actions.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <stdexcept>

#include "base/index.h"
#include "planners/join/join_planner.h"

namespace anadrome::questions {
namespace {

using namespace schedule;

/// Plays the actions, and breaks on any that cannot be. Returns the advances.
std::int64_t replay(const JoinProblem& problem, const std::vector<JoinAction>& actions) {
  const auto require = [](bool holds, const char* rule) {
    if (!holds) throw std::logic_error(rule);
  };
  using State = std::pair<std::int64_t, std::int64_t>;
  std::set<State> pool;
  std::vector<std::int64_t> todo;
  std::int64_t advances = 0;
  bool turned = false;
  for (std::int64_t b = 0; b < problem.branches(); ++b) {
    todo.push_back(problem.steps[at(b)] - 1);
    if (problem.charged_inputs) pool.insert({b, 0});
  }
  const auto slots = [&] {
    std::int64_t used = 0;
    for (const auto& [branch, step] : pool) {
      used += problem.ends_apart && !turned && step == problem.steps[at(branch)] ? 0 : 1;
    }
    return used;
  };
  const auto there = [&](std::int64_t branch, std::int64_t step) {
    return pool.contains({branch, step}) || (step == 0 && !problem.charged_inputs);
  };
  for (const JoinAction& action : actions) {
    switch (action.kind) {
      case JoinKind::kAdvance:
        require(there(action.branch, action.first) && action.first < action.last, "not there");
        require(action.last <= problem.steps[at(action.branch)], "beyond the end");
        advances += action.last - action.first;
        if (!action.keep) pool.erase({action.branch, action.first});
        pool.insert({action.branch, action.last});
        break;
      case JoinKind::kDrop:
        require(pool.erase({action.branch, action.first}) == 1, "nothing to drop");
        break;
      case JoinKind::kTurn:
        for (std::int64_t b = 0; b < problem.branches(); ++b) {
          require(pool.erase({b, problem.steps[at(b)]}) == 1, "an end is missing");
        }
        turned = true;
        break;
      case JoinKind::kAdjoint:
        require(turned && todo[at(action.branch)]-- == action.first, "adjoints come in order");
        require(there(action.branch, action.first), "its state is not there");
        break;
    }
    require(slots() <= problem.slots, "more states than slots");
  }
  for (const std::int64_t left : todo) require(left == -1, "adjoints are missing");
  return advances;
}

void expect_what_was_promised(const JoinProblem& problem, const JoinPlan& plan) {
  EXPECT_TRUE(static_cast<uint128>(replay(problem, actions_of(problem, plan))) == plan.advances);
}

RC_GTEST_PROP(JoinActions, TakeWhatThePlanPromisesNearTheOptimumWithoutATableToo, ()) {
  JoinProblem problem;
  const auto branches = *rc::gen::inRange<std::size_t>(1, 6);
  const auto longest = *rc::gen::element<std::int64_t>(5, 20, 80);
  problem.steps = *rc::gen::container<std::vector<std::int64_t>>(
      branches, rc::gen::inRange<std::int64_t>(1, longest));
  problem.charged_inputs = *rc::gen::arbitrary<bool>();
  problem.ends_apart = *rc::gen::arbitrary<bool>();
  problem.slots = 2 * static_cast<std::int64_t>(branches) + *rc::gen::inRange<std::int64_t>(1, 12);
  const JoinPlan guessed = plan_join(problem, 0), plan = plan_join(problem, 40000);
  expect_what_was_promised(problem, guessed);
  expect_what_was_promised(problem, plan);
  RC_ASSERT(plan.advances <= guessed.advances);
  if (plan.exact) RC_ASSERT(20 * guessed.advances <= 21 * plan.advances);
  RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(JoinActions, AreThereHoweverManyStatesAreKept) {
  JoinProblem problem;
  problem.steps = {400000};
  problem.slots = 400001;
  JoinPlan plan;
  plan.segments = {{0, 0, 400000, 400000}};
  std::int64_t advances = 0, adjoints = 0;
  visit_actions(problem, plan, [&](const JoinAction& action) {
    if (action.kind == JoinKind::kAdvance) advances += action.last - action.first;
    if (action.kind == JoinKind::kAdjoint) ++adjoints;
  });
  EXPECT_EQ(adjoints, 400000);
  EXPECT_TRUE(static_cast<uint128>(advances) == price(problem, plan.segments));
}

TEST(JoinActions, OfManyAndOfLongBranchesTakeWhatIsPromised) {
  const JoinProblem ensemble{std::vector<std::int64_t>(40, 60), 70, false, false};
  expect_what_was_promised(ensemble, plan_join(ensemble));
  const JoinProblem longer{{5000, 4000}, 30, true, false};
  expect_what_was_promised(longer, plan_join(longer));
}

}  // namespace
}  // namespace anadrome::questions

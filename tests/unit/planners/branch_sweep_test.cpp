// SPDX-License-Identifier: BSD-2-Clause
#include "planners/join/branch_sweep.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <stdexcept>

#include "base/error.h"
#include "planners/join/join_planner.h"
#include "schedule/checked_sweep.h"

namespace anadrome::schedule {
namespace {

/// Plays to Done under the rules; returns the advances.
std::int64_t advances_played(const BranchOptions& options, const JoinPlan& plan) {
  BranchSweep sweep(options, plan);
  Rules rules(rules_of(options));
  const auto require = [](bool holds, const char* rule) {
    if (!holds) throw std::logic_error(rule);
  };
  const auto advances = [&] { return rules.taken().advances + rules.taken().recorded; };
  const std::int64_t promised = sweep.advances_remaining();
  while (!rules.done()) {
    require(sweep.advances_remaining() == promised - advances(), "the promise changed");
    rules.play(sweep.next());
  }
  require(sweep.advances_remaining() == 0 && sweep.course().adjoints_left == 0, "too much said");
  return advances();
}

std::int64_t advances_played(const BranchOptions& options) {
  return advances_played(options, BranchSweep::plan(options));
}

RC_GTEST_PROP(BranchSweep, BreaksNoRuleAndKeepsThePlannersPromise, ()) {
  BranchOptions options;
  const auto branches = *rc::gen::inRange<std::size_t>(1, 7);
  const auto longest = *rc::gen::element<std::int64_t>(2, 8, 60);
  options.steps = *rc::gen::container<std::vector<std::int64_t>>(
      branches, rc::gen::inRange<std::int64_t>(1, longest));
  options.charged_inputs = *rc::gen::arbitrary<bool>();
  options.reducible = *rc::gen::arbitrary<bool>();
  options.record = *rc::gen::arbitrary<bool>();
  options.plan_bytes = *rc::gen::element<std::int64_t>(0, 1 << 16, 1 << 24);
  const auto more = *rc::gen::oneOf(rc::gen::inRange<std::int64_t>(0, 12),
                                    rc::gen::inRange<std::int64_t>(0, 400));
  const std::int64_t ends = options.reducible ? 0 : std::ssize(options.steps);
  const std::int64_t inputs = options.charged_inputs ? std::ssize(options.steps) : 0;
  options.slots = std::max<std::int64_t>(ends + inputs, 1) + more;
  const std::int64_t promised = BranchSweep(options).advances_remaining();
  RC_ASSERT(advances_played(options) == promised);
}

TEST(BranchSweep, TakesTheFewestAdvancesOfAJoin) {
  for (const bool charged : {false, true}) {
    for (std::int64_t slots = 4; slots < 12; ++slots) {
      const BranchOptions options{{10, 7}, slots, charged};
      const JoinProblem problem{options.steps, slots, charged, false, true};
      EXPECT_TRUE(static_cast<uint128>(advances_played(options)) == plan_join(problem).advances)
          << slots;
    }
  }
}

// Such a plan counts the state under way, which the sweep has beside the pool.
RC_GTEST_PROP(BranchSweep, PlaysAPlanOfAnyMakeInItsSlots, ()) {
  JoinProblem problem;
  const auto branches = *rc::gen::inRange<std::size_t>(1, 6);
  const auto longest = *rc::gen::element<std::int64_t>(5, 20, 80);
  problem.steps = *rc::gen::container<std::vector<std::int64_t>>(
      branches, rc::gen::inRange<std::int64_t>(1, longest));
  problem.charged_inputs = *rc::gen::arbitrary<bool>();
  problem.ends_apart = *rc::gen::arbitrary<bool>();
  problem.slots = 2 * static_cast<std::int64_t>(branches) + *rc::gen::inRange<std::int64_t>(1, 12);
  const std::int64_t apart = problem.ends_apart ? problem.branches() : 0;
  const JoinPlan guessed = plan_join(problem, 0), plan = plan_join(problem, 40000);
  for (const JoinPlan& made : {guessed, plan}) {
    const BranchOptions options{problem.steps, problem.slots + apart, problem.charged_inputs};
    RC_ASSERT(static_cast<uint128>(advances_played(options, made)) == made.advances);
  }
  RC_ASSERT(plan.advances <= guessed.advances);
  if (plan.exact) RC_ASSERT(20 * guessed.advances <= 21 * plan.advances);
}

TEST(BranchSweep, PlaysPlansOfManyAndOfLongBranches) {
  for (const JoinProblem& problem :
       {JoinProblem{std::vector<std::int64_t>(40, 60), 70}, JoinProblem{{5000, 4000}, 30, true}}) {
    const JoinPlan plan = plan_join(problem);
    const BranchOptions options{problem.steps, problem.slots, problem.charged_inputs};
    EXPECT_TRUE(static_cast<uint128>(advances_played(options, plan)) == plan.advances);
  }
}

TEST(BranchSweep, MakesEachEndOfAReducibleObjectiveTwice) {
  for (std::int64_t slots = 1; slots < 12; ++slots) {
    const std::int64_t alone = static_cast<std::int64_t>(extra_advances(11, slots + 1)) +
                               static_cast<std::int64_t>(extra_advances(8, slots + 1));
    EXPECT_EQ(advances_played({{10, 7}, slots, false, true}), 10 + 7 + alone) << slots;
  }
}

TEST(BranchSweep, RunsNoStepTwiceWithTheMostSlots) {
  BranchOptions options{{10, 7, 1}, 1, true};
  options.slots = BranchSweep::most_slots(options);
  EXPECT_EQ(advances_played(options), 18);
  options.charged_inputs = false;
  options.slots = BranchSweep::most_slots(options);
  EXPECT_EQ(advances_played(options), 18);
  options.reducible = true;
  options.slots = BranchSweep::most_slots(options);
  EXPECT_EQ(advances_played(options), 36);
}

TEST(BranchSweep, RefusesWhatCannotBe) {
  EXPECT_THROW(BranchSweep(BranchOptions{{}, 3}), Error);
  EXPECT_THROW(BranchSweep(BranchOptions{{3, 0}, 3}), Error);
  EXPECT_THROW(BranchSweep(BranchOptions{{3, 3}, 1}), Error);
  EXPECT_THROW(BranchSweep(BranchOptions{{3, 3}, 3, true}), Error);
  EXPECT_THROW(BranchSweep(BranchOptions{{3, 3}, 1, true, true}), Error);
  EXPECT_THROW(BranchSweep(BranchOptions{{3, std::int64_t{1} << 40}, 9}), Error);
}

}  // namespace
}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// Branches that meet: plans against a search that knows no plan, and their sweeps.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <queue>
#include <stdexcept>

#include "base/error.h"
#include "planners/join/branch_sweep.h"
#include "planners/join/join_planner.h"
#include "schedule/checked_sweep.h"

namespace anadrome::schedule {
namespace {

/// The fewest advances, by search over sets of states in the pool.
std::int64_t fewest_advances(const JoinProblem& problem) {
  struct Node {
    bool turned = false;
    std::vector<unsigned> pool;
    std::vector<std::int64_t> todo;
    auto operator<=>(const Node&) const = default;
  };
  struct Open {
    std::int64_t cost;
    Node node;
    bool operator<(const Open& other) const { return cost > other.cost; }
  };
  std::map<Node, std::int64_t> least;
  std::priority_queue<Open> open;
  const auto reach = [&](std::int64_t cost, const Node& node) {
    std::int64_t used = 0;
    for (const unsigned set : node.pool) used += __builtin_popcount(set);
    if (used > (node.turned ? problem.room() : problem.slots)) return;
    const auto [known, is_new] = least.try_emplace(node, cost);
    if (!is_new && known->second <= cost) return;
    known->second = cost;
    open.push({cost, node});
  };
  reach(0, {false, std::vector<unsigned>(problem.steps.size(), problem.charged_inputs ? 1u : 0u),
            problem.steps});
  while (!open.empty()) {
    const auto [cost, node] = open.top();
    open.pop();
    if (least.at(node) != cost) continue;
    if (std::all_of(node.todo.begin(), node.todo.end(), [](auto left) { return left == 0; })) {
      return cost;
    }
    bool all_ends = true;
    for (std::size_t b = 0; b < node.todo.size(); ++b) {
      all_ends = all_ends && (node.pool[b] >> problem.steps[b] & 1u) != 0;
      const std::int64_t last = node.turned ? node.todo[b] - 1 : problem.steps[b];
      for (std::int64_t k = 0; k <= last; ++k) {
        const bool in_pool = (node.pool[b] >> k & 1u) != 0;
        if (!in_pool && (k > 0 || problem.charged_inputs)) continue;
        for (const bool stays : {true, false}) {  // or it is dropped, or run over in place
          if (!stays && !in_pool) continue;
          Node next = node;
          if (!stays) next.pool[b] &= ~(1u << k);
          reach(cost, next);
          if (k == last) continue;
          next.pool[b] |= 1u << (k + 1);
          reach(cost + 1, next);
        }
        if (!node.turned || k != node.todo[b] - 1) continue;
        Node next = node;
        next.pool[b] &= (1u << k) - 1;
        --next.todo[b];
        reach(cost, next);
      }
    }
    if (!all_ends || node.turned) continue;
    Node next = node;
    next.turned = true;
    for (std::size_t b = 0; b < node.todo.size(); ++b) next.pool[b] &= ~(1u << problem.steps[b]);
    reach(cost, next);
  }
  return -1;
}

constexpr std::int64_t kTables = std::int64_t{64} << 20;

std::int64_t advances(const JoinPlan& plan) { return static_cast<std::int64_t>(plan.advances); }

TEST(Join, TakesTheFewestAdvancesThatASearchFinds) {
  const std::vector<std::vector<std::int64_t>> lengths = {
      {1}, {4}, {7}, {1, 5}, {2, 3}, {4, 4}, {5, 3}, {6, 6}, {3, 6}, {2, 2, 3}, {1, 3, 4}};
  for (const auto& steps : lengths) {
    for (const bool charged : {false, true}) {
      const std::int64_t fewest_slots = std::ssize(steps) * (charged ? 2 : 1);
      for (std::int64_t slots = fewest_slots; slots <= fewest_slots + 3; ++slots) {
        SCOPED_TRACE(std::to_string(steps.size()) + " branches, first " + std::to_string(steps[0]) +
                     ", slots " + std::to_string(slots) + (charged ? ", charged" : ""));
        const JoinProblem problem{steps, slots, charged, false};
        const std::int64_t fewest = fewest_advances(problem);
        const JoinPlan plan = plan_join(problem), guessed = plan_join(problem, 0);
        EXPECT_TRUE(plan.exact);
        EXPECT_FALSE(guessed.exact);
        EXPECT_EQ(advances(plan), fewest);
        EXPECT_EQ(advances(guessed), fewest);
        const JoinProblem apart{steps, slots, charged, false, true};  // the live state is
        const std::int64_t fewest_apart = fewest_advances(apart);
        EXPECT_EQ(advances(plan_join(apart)), fewest_apart);
        EXPECT_EQ(advances(plan_join_within(apart, kTables)), fewest_apart);
      }
    }
  }
}

TEST(Join, OfManyAndOfLongBranchesIsPlannedInLittleMemory) {
  const JoinProblem problem{std::vector<std::int64_t>(30, 2000), 60000, false, false, true};
  const JoinPlan plan = plan_join_within(problem, kTables);
  EXPECT_EQ(advances(plan), 60000) << "a slot for every state";
  EXPECT_TRUE(plan.exact);
  const JoinProblem half{problem.steps, 30000, true, false, true};
  EXPECT_EQ(advances(plan_join_within(half, kTables)), 60000 + (60000 - 30) - (30000 - 60));
  for (const JoinProblem& large :
       {JoinProblem{{1 << 30, 1 << 30, 1 << 30}, 20, false, false, true},
        JoinProblem{std::vector<std::int64_t>(20000, 7), 20100, false, false, true},
        JoinProblem{{3000000, 5, 100000}, 300, true, false, true}}) {
    const JoinPlan found = plan_join_within(large, std::int64_t{1} << 20);
    EXPECT_TRUE(found.advances >= static_cast<uint128>(large.sum()));
  }
}

TEST(Join, InterleavesBranches) {
  EXPECT_EQ(advances(plan_join({{10, 10}, 4, false, false})), 39);
  EXPECT_EQ(advances(plan_join({{20, 20}, 4, false, false})), 99);
  EXPECT_EQ(advances(plan_reducible_join({{20, 20}, 4, false, false})), 118);
  for (std::int64_t n = 1; n < 30; ++n) {
    for (std::int64_t s = 1; s < 8; ++s) {  // one branch is Revolve with a step more
      EXPECT_TRUE(plan_join({{n}, s, false, false}).advances == extra_advances(n + 1, s));
    }
  }
}

TEST(Join, RefusesWhatCannotBe) {
  EXPECT_THROW(plan_join({{}, 3, false, false}), Error);
  EXPECT_THROW(plan_join({{3, 0}, 3, false, false}), Error);
  EXPECT_THROW(plan_join({{3, 3}, 1, false, false}), Error);
  EXPECT_THROW(plan_join({{3, 3}, 3, true, false}), Error);
  EXPECT_THROW(plan_join({{3, 3}, 2, true, true}), Error);
  EXPECT_EQ(advances(plan_join({{1, 1}, 2, true, true})), 2);
  EXPECT_THROW(BranchSweep(BranchOptions{{}, 3}), Error);
  EXPECT_THROW(BranchSweep(BranchOptions{{3, 0}, 3}), Error);
  EXPECT_THROW(BranchSweep(BranchOptions{{3, 3}, 1}), Error);
  EXPECT_THROW(BranchSweep(BranchOptions{{3, 3}, 3, true}), Error);
  EXPECT_THROW(BranchSweep(BranchOptions{{3, 3}, 1, true, true}), Error);
  EXPECT_THROW(BranchSweep(BranchOptions{{3, std::int64_t{1} << 40}, 9}), Error);
}

// ---- sweeps ----

void demand(bool holds, const char* rule) {
  if (!holds) throw std::logic_error(rule);
}

/// Plays to Done under the rules; returns the advances.
std::int64_t advances_played(const BranchOptions& options, const JoinPlan& plan) {
  BranchSweep sweep(options, plan);
  Rules rules(rules_of(options));
  const auto run = [&] { return rules.taken().advances + rules.taken().recorded; };
  const std::int64_t promised = sweep.advances_remaining();
  while (!rules.done()) {
    demand(sweep.advances_remaining() == promised - run(), "the promise changed");
    rules.play(sweep.next());
  }
  demand(sweep.advances_remaining() == 0 && sweep.course().adjoints_left == 0, "too much said");
  demand(run() == promised, "another number of advances was promised");
  return run();
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
  advances_played(options);
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

TEST(BranchSweep, TakesTheFewestAdvancesOfAJoin) {
  for (std::int64_t slots = 1; slots < 12; ++slots) {
    for (const bool charged : {false, true}) {
      const BranchOptions options{{10, 7}, slots, charged};
      const JoinProblem problem{options.steps, slots, charged, false, true};
      if (slots < 4) continue;
      EXPECT_EQ(advances_played(options), advances(plan_join(problem))) << slots;
    }
    // Each end of a reducible objective is made twice.
    const std::int64_t alone = static_cast<std::int64_t>(extra_advances(11, slots + 1)) +
                               static_cast<std::int64_t>(extra_advances(8, slots + 1));
    EXPECT_EQ(advances_played({{10, 7}, slots, false, true}), 10 + 7 + alone) << slots;
  }
  BranchOptions most{{10, 7, 1}, 1};
  for (const bool reducible : {false, true}) {
    most.reducible = reducible;
    for (const bool charged : {false, true}) {
      if (reducible && charged) continue;
      most.charged_inputs = charged;
      most.slots = BranchSweep::most_slots(most);
      EXPECT_EQ(advances_played(most), reducible ? 36 : 18);
    }
  }
}

}  // namespace
}  // namespace anadrome::schedule

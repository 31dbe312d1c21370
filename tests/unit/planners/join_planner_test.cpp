// SPDX-License-Identifier: BSD-2-Clause
#include "planners/join/join_planner.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <queue>

#include "base/error.h"

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
  Node start{false, std::vector<unsigned>(problem.steps.size(), problem.charged_inputs ? 1u : 0u),
             problem.steps};
  reach(0, start);
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
        Node next = node;
        if (in_pool) {
          next.pool[b] &= ~(1u << k);
          reach(cost, next);
          if (k < last) {  // in place
            next.pool[b] |= 1u << (k + 1);
            reach(cost + 1, next);
          }
        }
        next = node;
        if (k < last) {
          next.pool[b] |= 1u << (k + 1);
          reach(cost + 1, next);
        }
        if (node.turned && k == node.todo[b] - 1) {
          next = node;
          next.pool[b] &= (1u << k) - 1;
          --next.todo[b];
          reach(cost, next);
        }
      }
    }
    if (all_ends && !node.turned) {
      Node next = node;
      next.turned = true;
      for (std::size_t b = 0; b < node.todo.size(); ++b) next.pool[b] &= ~(1u << problem.steps[b]);
      reach(cost, next);
    }
  }
  return -1;
}

constexpr std::int64_t kTables = std::int64_t{64} << 20;

std::int64_t advances(const JoinPlan& plan) { return static_cast<std::int64_t>(plan.advances); }

TEST(JoinPlanner, TakesTheFewestAdvancesThatASearchFinds) {
  const std::vector<std::vector<std::int64_t>> lengths = {
      {1}, {4}, {7}, {1, 5}, {2, 3}, {4, 4}, {5, 3}, {6, 6}, {3, 6}, {2, 2, 3}, {1, 3, 4}};
  for (const auto& steps : lengths) {
    for (const bool charged : {false, true}) {
      const auto branches = static_cast<std::int64_t>(steps.size());
      const std::int64_t fewest_slots = branches * (charged ? 2 : 1);
      for (std::int64_t slots = fewest_slots; slots <= fewest_slots + 3; ++slots) {
        const JoinProblem problem{steps, slots, charged, false};
        const std::int64_t fewest = fewest_advances(problem);
        const JoinPlan plan = plan_join(problem), guessed = plan_join(problem, 0);
        EXPECT_TRUE(plan.exact);
        EXPECT_FALSE(guessed.exact);
        for (const JoinPlan& found : {plan, guessed}) {
          ASSERT_EQ(advances(found), fewest)
              << steps.size() << " branches, first " << steps[0] << ", slots " << slots << charged;
        }
      }
    }
  }
}

TEST(JoinPlanner, TakesTheFewestAdvancesWithTheLiveStateApart) {
  const std::vector<std::vector<std::int64_t>> lengths = {{1},    {7},    {1, 5},
                                                          {4, 4}, {3, 6}, {2, 2, 3}};
  for (const auto& steps : lengths) {
    for (const bool charged : {false, true}) {
      const auto branches = static_cast<std::int64_t>(steps.size());
      const std::int64_t fewest_slots = branches * (charged ? 2 : 1);
      for (std::int64_t slots = fewest_slots; slots <= fewest_slots + 4; ++slots) {
        const JoinProblem problem{steps, slots, charged, false, true};
        ASSERT_EQ(advances(plan_join(problem)), fewest_advances(problem))
            << steps.size() << " branches, first " << steps[0] << ", slots " << slots << charged;
        ASSERT_EQ(advances(plan_join_within(problem, kTables)), fewest_advances(problem))
            << steps.size() << " branches, first " << steps[0] << ", slots " << slots << charged;
      }
    }
  }
}

TEST(JoinPlanner, RunsNoStepTwiceWithASlotForEveryState) {
  const JoinProblem problem{std::vector<std::int64_t>(30, 2000), 60000, false, false, true};
  const JoinPlan plan = plan_join_within(problem, kTables);
  EXPECT_EQ(advances(plan), 60000);
  EXPECT_TRUE(plan.exact);
  const JoinProblem half{problem.steps, 30000, true, false, true};
  EXPECT_EQ(advances(plan_join_within(half, kTables)), 60000 + (60000 - 30) - (30000 - 60));
}

TEST(JoinPlanner, PlansLongAndManyBranchesInLittleMemory) {
  for (const JoinProblem& problem :
       {JoinProblem{{1 << 30, 1 << 30, 1 << 30}, 20, false, false, true},
        JoinProblem{std::vector<std::int64_t>(20000, 7), 20100, false, false, true},
        JoinProblem{{3000000, 5, 100000}, 300, true, false, true}}) {
    const JoinPlan plan = plan_join_within(problem, std::int64_t{1} << 20);
    EXPECT_TRUE(plan.advances >= static_cast<uint128>(problem.sum()));
  }
}

TEST(JoinPlanner, IsRevolveWithOneStepMoreForOneBranch) {
  for (std::int64_t n = 1; n < 30; ++n) {
    for (std::int64_t s = 1; s < 8; ++s) {
      EXPECT_TRUE(plan_join({{n}, s, false, false}).advances == extra_advances(n + 1, s));
    }
  }
}

TEST(JoinPlanner, InterleavesBranches) {
  EXPECT_EQ(advances(plan_join({{10, 10}, 4, false, false})), 39);
  EXPECT_EQ(advances(plan_join({{20, 20}, 4, false, false})), 99);
  EXPECT_EQ(advances(plan_reducible_join({{20, 20}, 4, false, false})), 118);
}

TEST(JoinPlanner, RefusesWhatCannotBe) {
  EXPECT_THROW(plan_join({{}, 3, false, false}), Error);
  EXPECT_THROW(plan_join({{3, 0}, 3, false, false}), Error);
  EXPECT_THROW(plan_join({{3, 3}, 1, false, false}), Error);
  EXPECT_THROW(plan_join({{3, 3}, 3, true, false}), Error);
  EXPECT_THROW(plan_join({{3, 3}, 2, true, true}), Error);
  EXPECT_EQ(advances(plan_join({{1, 1}, 2, true, true})), 2);
}

}  // namespace
}  // namespace anadrome::schedule

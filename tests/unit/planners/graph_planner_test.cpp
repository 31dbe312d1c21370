// SPDX-License-Identifier: BSD-2-Clause
#include "planners/graph/graph_planner.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/index.h"
#include "reference_table.h"
#include "two_fields_graph.h"

namespace anadrome::schedule {
namespace {

StepGraph graph_named(const std::string& name) {
  std::ifstream in(std::string(ANADROME_TEST_REFERENCE_DIR) + "/planners/kusumoto_dags.json");
  const auto all = nlohmann::json::parse(in);
  const auto& json = all.at(name);
  StepGraph graph;
  graph.seconds = json.at("T").get<std::vector<std::int64_t>>();
  graph.bytes = json.at("M").get<std::vector<std::int64_t>>();
  graph.before.resize(graph.bytes.size());
  for (const auto& edge : json.at("edges")) {
    graph.before[edge[1].get<std::size_t>()].push_back(edge[0].get<std::int32_t>());
  }
  return graph;
}

std::int64_t overhead(const StepGraph& graph, std::int64_t bytes, SetFamily family,
                      bool prefer_memory) {
  const auto plan = plan_graph(graph, bytes, {family, prefer_memory, false});
  return plan ? plan->overhead : -1;
}

TEST(GraphPlanner, AgreesWithTheTable) {
  const auto rows = reference_cells("planners/kusumoto_small.csv");
  ASSERT_GT(rows.size(), 25u);
  for (const auto& row : rows) {
    const StepGraph graph = graph_named(row[0]);
    const std::int64_t bytes = std::stoll(row[5]);
    EXPECT_EQ(lower_sets(graph, SetFamily::kAll).size(), std::stoul(row[2])) << row[0];
    EXPECT_EQ(lower_sets(graph, SetFamily::kAncestors).size(), std::stoul(row[3])) << row[0];
    const std::int64_t least = overhead(graph, bytes, SetFamily::kAll, false);
    EXPECT_EQ(least, std::stoll(row[6])) << row[0];
    EXPECT_TRUE(row[7].empty() || least == std::stoll(row[7])) << row[0] << ": of all chains";
    const auto skips = plan_graph(graph, bytes, {SetFamily::kAll, false, true});
    EXPECT_LE(skips->overhead, least) << row[0] << ": nothing of the last set is run again";
    EXPECT_EQ(overhead(graph, bytes, SetFamily::kAncestors, false), std::stoll(row[8])) << row[0];
    EXPECT_EQ(overhead(graph, bytes, SetFamily::kAll, true), std::stoll(row[10])) << row[0];
  }
}

TEST(GraphPlanner, FindsNothingBelowTheLeastBudget) {
  const std::map<std::string, std::int64_t> least = {{"chain5", 5},    {"chain8", 7},
                                                     {"diamond4", 6},  {"multiphys7", 19},
                                                     {"residual6", 7}, {"rk4_2steps", 11}};
  for (const auto& [name, bytes] : least) {
    const StepGraph graph = graph_named(name);
    for (const SetFamily family : {SetFamily::kAll, SetFamily::kAncestors}) {
      EXPECT_TRUE(plan_graph(graph, bytes, {family}).has_value()) << name;
      EXPECT_FALSE(plan_graph(graph, bytes - 1, {family}).has_value()) << name;
    }
  }
}

RC_GTEST_PROP(GraphPlanner, RunsWhatItPromises, ()) {
  StepGraph graph;  // nodes 0 .. n-1, each with edges from some before it
  const auto n = *rc::gen::inRange<std::int32_t>(1, 14);
  for (std::int32_t v = 0; v < n; ++v) {
    graph.seconds.push_back(*rc::gen::inRange<std::int64_t>(0, 6));
    graph.bytes.push_back(*rc::gen::inRange<std::int64_t>(0, 6));
    graph.before.emplace_back();
    for (std::int32_t u = 0; u < v; ++u) {
      if (*rc::gen::inRange(0, 3) == 0) graph.before.back().push_back(u);
    }
  }
  const auto bytes = *rc::gen::inRange<std::int64_t>(0, 90);
  GraphOptions options;
  options.family = *rc::gen::element(SetFamily::kAll, SetFamily::kAncestors, SetFamily::kInOrder);
  options.skip_last = *rc::gen::arbitrary<bool>();
  options.prefer_memory = *rc::gen::arbitrary<bool>();
  for (const auto& plan :
       {plan_graph(graph, bytes, options), plan_graph_within(graph, bytes, options)}) {
    if (!plan) continue;
    std::int64_t again = 0;
    for (const GraphAction& action : plan->actions) {
      if (action.kind == GraphKind::kRecompute) again += graph.seconds[at(action.node)];
    }
    RC_ASSERT(again == plan->overhead);
    RC_ASSERT(peak_of(graph, plan->actions) == plan->peak);
  }
  const auto within = plan_graph_within(graph, bytes, options);
  if (within) RC_ASSERT(within->peak <= bytes);
  options.account = StageAccount::kBound;
  const auto bounded = plan_graph(graph, bytes, options);
  if (bounded) RC_ASSERT(bounded->peak <= bounded->peak_estimate);
  if (bounded) RC_ASSERT(within.has_value());
}

TEST(GraphPlanner, KeepsTheOrderOfAdjointsIfAsked) {
  const StepGraph graph = graph_named("multiphys7");
  const auto adjoints = [&](std::int64_t bytes) {
    std::vector<std::int32_t> nodes;
    const auto plan = plan_graph_within(graph, bytes, {SetFamily::kInOrder});
    if (!plan) return nodes;
    for (const GraphAction& action : plan->actions) {
      if (action.kind == GraphKind::kBackward) nodes.push_back(action.node);
    }
    return nodes;
  };
  EXPECT_EQ(adjoints(100).size(), 7u);
  EXPECT_EQ(adjoints(23), adjoints(100));
}

TEST(GraphPlanner, DoesNotRecomputeTheLastSet) {
  const auto plan = plan_graph(graph_named("chain5"), 100);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->overhead, 0);
  EXPECT_EQ(plan->sets.size(), 1u);
}

// Two fields of 30 stages each, which read each other every so many, or never.
TEST(GraphPlanner, PlansSixtyNodesOfTwoFields) {
  for (const auto& [exchange, sets] : {std::pair{1, 91u}, {5, 211u}, {30, 961u}}) {
    const StepGraph graph = anadrome::test::two_fields_graph(60, exchange);
    EXPECT_EQ(lower_sets(graph, SetFamily::kAll).size(), sets);
    const auto plan = plan_graph_within(graph, 110);
    ASSERT_TRUE(plan.has_value());
    EXPECT_LE(plan->peak, 110);
    EXPECT_GT(plan->overhead, 0);
    if (exchange == 30) continue;
    EXPECT_LE(overhead(graph, 110, SetFamily::kAll, false),
              overhead(graph, 110, SetFamily::kInOrder, false));
  }
}

TEST(GraphPlanner, RefusesWhatIsNoGraph) {
  EXPECT_THROW(plan_graph({}, 5), Error);
  EXPECT_THROW(plan_graph({{1, 1}, {1, 1}, {{1}, {0}}}, 5), Error);
  EXPECT_THROW(plan_graph({{1, 1}, {1, 1}, {{}, {2}}}, 5), Error);
  EXPECT_THROW(plan_graph({{1, 1}, {1}, {{}, {0}}}, 5), Error);
  EXPECT_THROW(plan_graph({{1, -1}, {1, 1}, {{}, {0}}}, 5), Error);
  StepGraph wide{std::vector<std::int64_t>(30, 1), std::vector<std::int64_t>(30, 1),
                 std::vector<std::vector<std::int32_t>>(30)};
  EXPECT_THROW(plan_graph(wide, 100), Error);
  EXPECT_TRUE(plan_graph(wide, 100, {SetFamily::kAncestors}).has_value());
}

}  // namespace
}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include <anadrome/graph.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace {

class Graph : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(anadrome_graph_create(&graph), ANADROME_OK); }
  void TearDown() override { EXPECT_EQ(anadrome_graph_free(&graph), ANADROME_OK); }

  std::int32_t add(double seconds, std::int64_t bytes) {
    std::int32_t node = -1;
    EXPECT_EQ(anadrome_graph_add_node(graph, seconds, bytes, &node), ANADROME_OK);
    return node;
  }
  void add_chain(std::int32_t nodes) {
    EXPECT_EQ(add(0.5, 100), 0);
    for (std::int32_t node = 1; node < nodes; ++node) {
      EXPECT_EQ(add(0.5, 100), node);
      EXPECT_EQ(anadrome_graph_add_edge(graph, node - 1, node), ANADROME_OK);
    }
  }
  anadrome_status plan(std::int64_t bytes, anadrome_graph_family family = ANADROME_GRAPH_ALL) {
    return anadrome_graph_plan(graph, bytes, family, &cost);
  }
  std::vector<anadrome_graph_action> actions() {
    std::vector<anadrome_graph_action> all(static_cast<std::size_t>(cost.actions));
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(anadrome_graph_action_at(graph, static_cast<std::int64_t>(i), &all[i]),
                ANADROME_OK);
    }
    return all;
  }

  anadrome_graph* graph = nullptr;
  anadrome_graph_cost cost{};
};

TEST_F(Graph, RunsEveryNodeForwardAndBackwardOnce) {
  add_chain(12);
  for (const auto family :
       {ANADROME_GRAPH_ALL, ANADROME_GRAPH_ANCESTORS, ANADROME_GRAPH_IN_ORDER}) {
    ASSERT_EQ(plan(1000, family), ANADROME_OK);
    EXPECT_LE(cost.peak_bytes, 1000);
    std::vector<int> forward(12), backward(12);
    int again = 0;
    for (const anadrome_graph_action& action : actions()) {
      const auto node = static_cast<std::size_t>(action.node);
      forward[node] += action.kind == ANADROME_GRAPH_FORWARD ? 1 : 0;
      backward[node] += action.kind == ANADROME_GRAPH_BACKWARD ? 1 : 0;
      again += action.kind == ANADROME_GRAPH_RECOMPUTE ? 1 : 0;
    }
    EXPECT_EQ(forward, std::vector<int>(12, 1));
    EXPECT_EQ(backward, std::vector<int>(12, 1));
    EXPECT_GT(again, 0);
    EXPECT_DOUBLE_EQ(cost.seconds_again, 0.5 * again);
  }
}

TEST_F(Graph, NeedsNoRecomputationWithEnoughMemory) {
  add_chain(12);
  ASSERT_EQ(plan(INT64_MAX), ANADROME_OK);
  EXPECT_EQ(cost.seconds_again, 0);
  EXPECT_EQ(cost.peak_bytes, 1400);  // all values, and the adjoints of two neighbours
}

TEST_F(Graph, SaysThatNothingFits) {
  add_chain(12);
  ASSERT_EQ(plan(1000), ANADROME_OK);
  EXPECT_EQ(plan(200), ANADROME_ERR_MEMORY);
  EXPECT_NE(std::string(anadrome_last_error()).find("200 bytes"), std::string::npos);
  anadrome_graph_action action;
  EXPECT_EQ(anadrome_graph_action_at(graph, 0, &action), ANADROME_ERR_ORDER);
}

TEST_F(Graph, ForgetsItsPlanWhenItGrows) {
  add_chain(3);
  ASSERT_EQ(plan(10000), ANADROME_OK);
  add(1, 1);
  anadrome_graph_action action;
  EXPECT_EQ(anadrome_graph_action_at(graph, 0, &action), ANADROME_ERR_ORDER);
}

TEST_F(Graph, RefusesWhatIsWrong) {
  std::int32_t node;
  EXPECT_EQ(anadrome_graph_add_node(nullptr, 1, 1, &node), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_graph_add_node(graph, 1, 1, nullptr), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_graph_add_node(graph, -1, 1, &node), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_graph_add_node(graph, std::nan(""), 1, &node), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_graph_add_node(graph, 1, -1, &node), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(plan(100), ANADROME_ERR_ARGUMENT);  // no node
  add_chain(2);
  EXPECT_EQ(anadrome_graph_add_edge(graph, 0, 2), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_graph_add_edge(graph, 1, 1), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_graph_plan(graph, 100, ANADROME_GRAPH_ALL, nullptr), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(plan(1000, static_cast<anadrome_graph_family>(3)), ANADROME_ERR_ARGUMENT);
  ASSERT_EQ(plan(1000), ANADROME_OK);
  anadrome_graph_action action;
  EXPECT_EQ(anadrome_graph_action_at(graph, -1, &action), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_graph_action_at(graph, cost.actions, &action), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_graph_add_edge(graph, 1, 0), ANADROME_OK);
  EXPECT_EQ(plan(1000), ANADROME_ERR_ARGUMENT);  // a cycle
  EXPECT_EQ(anadrome_graph_create(nullptr), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_graph_free(nullptr), ANADROME_ERR_ARGUMENT);
}

}  // namespace

// SPDX-License-Identifier: BSD-2-Clause
// The C interface to plans of a step's graph. Seconds are planned as whole parts of their sum.
#include <anadrome/graph.h>

#include <cmath>
#include <optional>

#include "api/schedules/guard.h"
#include "base/index.h"
#include "planners/graph/graph_planner.h"

struct anadrome_graph {
  std::vector<double> seconds;
  anadrome::schedule::StepGraph graph;
  std::optional<anadrome::schedule::GraphPlan> plan;
};

namespace {

using namespace anadrome::api;
using anadrome::at;
using anadrome::Error;
using anadrome::schedule::GraphAction;
using anadrome::schedule::GraphKind;
using anadrome::schedule::SetFamily;

anadrome_graph_kind kind_of(GraphKind kind) {
  switch (kind) {
    case GraphKind::kForward:
      return ANADROME_GRAPH_FORWARD;
    case GraphKind::kDrop:
      return ANADROME_GRAPH_DROP;
    case GraphKind::kRecompute:
      return ANADROME_GRAPH_RECOMPUTE;
    case GraphKind::kBackward:
      break;
  }
  return ANADROME_GRAPH_BACKWARD;
}

std::vector<std::int64_t> in_ticks(const std::vector<double>& seconds) {
  constexpr double kTicks = 1e12;
  double sum = 0;
  for (const double each : seconds) sum += each;
  std::vector<std::int64_t> ticks;
  for (const double each : seconds) {
    ticks.push_back(sum > 0 ? std::llround(each / sum * kTicks) : 0);
  }
  return ticks;
}

}  // namespace

anadrome_status anadrome_graph_create(anadrome_graph** graph) {
  return guard([&] {
    require(graph != nullptr, "graph_create: graph is NULL");
    *graph = new anadrome_graph;
  });
}

anadrome_status anadrome_graph_add_node(anadrome_graph* graph, double seconds, int64_t bytes,
                                        int32_t* node) {
  return guard([&] {
    require(graph != nullptr && node != nullptr, "graph_add_node: an argument is NULL");
    require(std::isfinite(seconds) && seconds >= 0 && seconds <= 1e18,
            "graph_add_node: seconds are from 0 to 1e18");
    require(bytes >= 0, "graph_add_node: bytes are negative");
    require(graph->graph.bytes.size() < std::size_t{1} << 20, "graph_add_node: too many nodes");
    graph->plan.reset();
    graph->seconds.reserve(graph->seconds.size() + 1);
    graph->graph.bytes.reserve(graph->graph.bytes.size() + 1);
    graph->graph.before.emplace_back();
    graph->seconds.push_back(seconds);
    graph->graph.bytes.push_back(bytes);
    *node = graph->graph.nodes() - 1;
  });
}

anadrome_status anadrome_graph_add_edge(anadrome_graph* graph, int32_t from, int32_t to) {
  return guard([&] {
    require(graph != nullptr, "graph_add_edge: graph is NULL");
    const std::int32_t nodes = graph->graph.nodes();
    require(from >= 0 && from < nodes && to >= 0 && to < nodes && from != to,
            "graph_add_edge: there is no such node");
    graph->plan.reset();
    graph->graph.before[at(to)].push_back(from);
  });
}

anadrome_status anadrome_graph_plan(anadrome_graph* graph, int64_t bytes,
                                    anadrome_graph_family family, anadrome_graph_cost* cost) {
  return guard([&] {
    require(graph != nullptr && cost != nullptr, "graph_plan: an argument is NULL");
    require(family == ANADROME_GRAPH_ALL || family == ANADROME_GRAPH_ANCESTORS ||
                family == ANADROME_GRAPH_IN_ORDER,
            "graph_plan: no such family");
    graph->plan.reset();
    graph->graph.seconds = in_ticks(graph->seconds);
    anadrome::schedule::GraphOptions options;
    options.family = family == ANADROME_GRAPH_ALL         ? SetFamily::kAll
                     : family == ANADROME_GRAPH_ANCESTORS ? SetFamily::kAncestors
                                                          : SetFamily::kInOrder;
    auto plan = anadrome::schedule::plan_graph_within(graph->graph, bytes, options);
    if (!plan) {
      throw Error(ANADROME_ERR_MEMORY, "graph_plan: no plan of this graph fits into " +
                                           std::to_string(bytes) + " bytes");
    }
    double again = 0;
    for (const GraphAction& action : plan->actions) {
      const std::size_t node = at(action.node);
      if (action.kind == GraphKind::kRecompute) again += graph->seconds[node];
    }
    *cost = {plan->peak, again, std::ssize(plan->actions)};
    graph->plan = std::move(plan);
  });
}

anadrome_status anadrome_graph_action_at(const anadrome_graph* graph, int64_t index,
                                         anadrome_graph_action* action) {
  return guard([&] {
    require(graph != nullptr && action != nullptr, "graph_action_at: an argument is NULL");
    if (!graph->plan) throw Error(ANADROME_ERR_ORDER, "graph_action_at: there is no plan");
    const auto& actions = graph->plan->actions;
    require(index >= 0 && index < std::ssize(actions), "graph_action_at: there is no such action");
    const GraphAction& here = actions[at(index)];
    *action = {kind_of(here.kind), here.node};
  });
}

anadrome_status anadrome_graph_free(anadrome_graph** graph) {
  return guard([&] {
    require(graph != nullptr, "graph_free: the pointer to the graph is NULL");
    delete *graph;
    *graph = nullptr;
  });
}

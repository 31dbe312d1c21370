// SPDX-License-Identifier: BSD-2-Clause
#include "planners/graph/step_graph.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <string>

#include "base/checked.h"
#include "base/index.h"

namespace anadrome::schedule {
namespace {

void check(const StepGraph& graph) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  constexpr std::size_t kMostNodes = 1 << 20;
  const std::size_t n = graph.bytes.size();
  const auto wrong = [](const std::string& what) {
    return Error(ANADROME_ERR_ARGUMENT, "the graph of a step " + what);
  };
  if (n < 1 || n > kMostNodes) throw wrong("has 1 to 2^20 nodes");
  if (graph.seconds.size() != n || graph.before.size() != n) {
    throw wrong("wants a time and a size of each node");
  }
  for (const auto* values : {&graph.seconds, &graph.bytes}) {
    std::int64_t sum = 0;
    for (const std::int64_t value : *values) {
      if (value < 0) throw wrong("has a negative time or size");
      sum = checked_add(sum, value);
    }
    if (sum > kMost) throw wrong("has times or sizes that add up to more than 2^60");
  }
  for (std::size_t v = 0; v < n; ++v) {
    for (const std::int32_t u : graph.before[v]) {
      if (u < 0 || at(u) >= n || at(u) == v) {
        throw wrong("has an edge from " + std::to_string(u) + " to " + std::to_string(v));
      }
    }
  }
}

}  // namespace

std::vector<std::int32_t> order_of(const StepGraph& graph) {
  check(graph);
  const std::size_t n = graph.bytes.size();
  std::vector<std::vector<std::int32_t>> behind(n);
  std::vector<std::size_t> wanted(n);
  for (std::size_t v = 0; v < n; ++v) {
    wanted[v] = graph.before[v].size();
    for (const std::int32_t u : graph.before[v]) {
      behind[at(u)].push_back(static_cast<std::int32_t>(v));
    }
  }
  std::priority_queue<std::int32_t, std::vector<std::int32_t>, std::greater<>> ready;
  for (std::size_t v = 0; v < n; ++v) {
    if (wanted[v] == 0) ready.push(static_cast<std::int32_t>(v));
  }
  std::vector<std::int32_t> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const std::int32_t v : behind[at(order.back())]) {
      if (--wanted[at(v)] == 0) ready.push(v);
    }
  }
  if (order.size() < n) throw Error(ANADROME_ERR_ARGUMENT, "the graph of a step has a cycle");
  return order;
}

std::int64_t peak_of(const StepGraph& graph, const std::vector<GraphAction>& actions) {
  const std::size_t n = graph.bytes.size();
  std::vector<bool> value(n), adjoint(n), done(n), has_behind(n);
  for (const auto& before : graph.before) {
    for (const std::int32_t u : before) has_behind[at(u)] = true;
  }
  std::int64_t bytes = 0, peak = 0;
  bool turned = false;
  const auto take = [&](std::vector<bool>& what, std::size_t v) {
    if (!what[v]) bytes += graph.bytes[v];
    what[v] = true;
    peak = std::max(peak, bytes);
  };
  const auto require = [](bool holds, const char* rule) {
    if (!holds) throw Error(ANADROME_ERR_INTERNAL, std::string("plan of a step's graph: ") + rule);
  };
  for (const GraphAction& action : actions) {
    const std::size_t v = at(action.node);
    if (action.kind == GraphKind::kDrop) {
      require(value[v], "nothing is there to drop");
      value[v] = false;
      bytes -= graph.bytes[v];
      continue;
    }
    for (const std::int32_t u : graph.before[v]) require(value[at(u)], "a value is missing");
    if (action.kind != GraphKind::kBackward) {
      require(!value[v], "a value is there already");
      take(value, v);
      continue;
    }
    if (!turned) {
      for (std::size_t u = 0; u < n; ++u) {
        if (!has_behind[u]) take(adjoint, u);
      }
      turned = true;
    }
    require(value[v] && adjoint[v] && !done[v], "an adjoint comes too early, or twice");
    for (const std::int32_t u : graph.before[v]) {
      require(!done[at(u)], "the adjoint of a node comes before one behind it");
      take(adjoint, at(u));
    }
    adjoint[v] = false;
    done[v] = true;
    bytes -= graph.bytes[v];
  }
  require(std::find(done.begin(), done.end(), false) == done.end(), "adjoints are missing");
  return peak;
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// The graph of a step of two fields: what a test plans and a benchmark times.
#pragma once

#include <cstdint>

#include "planners/graph/graph_planner.h"

namespace anadrome::test {

/// `nodes` stages, those of either field in turn. A stage needs the one before it of its field, and
/// one of the other field in every `exchange`th pair of stages.
inline schedule::StepGraph two_fields_graph(std::int32_t nodes, std::int32_t exchange) {
  schedule::StepGraph graph;
  for (std::int32_t v = 0; v < nodes; ++v) {
    graph.seconds.push_back(1 + v % 3);
    graph.bytes.push_back(1 + v % 4);
    graph.before.emplace_back();
    if (v > 1) graph.before.back().push_back(v - 2);
    const std::int32_t other = v - (v % 2 == 0 ? 1 : 3);
    if (v / 2 % exchange == 0 && other >= 0) graph.before.back().push_back(other);
  }
  return graph;
}

}  // namespace anadrome::test

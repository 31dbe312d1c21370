// SPDX-License-Identifier: BSD-2-Clause
// The graph of one step: stages, split operators, coupled physics, as nodes whose values others
// need.
#pragma once

#include <cstdint>
#include <vector>

namespace anadrome::schedule {

/// A node is run after those before it, and its adjoint needs their values and its own. The time of
/// a node's adjoint is the same whatever is recomputed.
struct StepGraph {
  std::vector<std::int64_t> seconds;  ///< to run the node, in any unit
  std::vector<std::int64_t> bytes;    ///< of its value, and as much of its adjoint variable
  std::vector<std::vector<std::int32_t>> before;  ///< whose values it reads

  std::int32_t nodes() const { return static_cast<std::int32_t>(bytes.size()); }
};

/// Nodes in an order in which they can be run: the lowest number first. Throws ERR_ARGUMENT on
/// lengths that differ, negative numbers, sums above 2^60, edges to nowhere, and on cycles.
std::vector<std::int32_t> order_of(const StepGraph& graph);

enum class GraphKind : std::uint8_t {
  kForward,    ///< run the node, its value is kept from here on
  kDrop,       ///< its value is not needed any more, or will be recomputed
  kRecompute,  ///< run it once more
  kBackward,   ///< its adjoint: adds to the adjoint variables of those before it
};

struct GraphAction {
  GraphKind kind = GraphKind::kForward;
  std::int32_t node = 0;
};

/// The most bytes at a time while the actions are carried out: values from when they are run to
/// when they are dropped, adjoint variables from when the first node behind them adds to them (of
/// nodes with none behind them, when the adjoint begins) to when their node's adjoint is done.
/// Throws ERR_INTERNAL on actions that cannot be carried out.
std::int64_t peak_of(const StepGraph& graph, const std::vector<GraphAction>& actions);

}  // namespace anadrome::schedule

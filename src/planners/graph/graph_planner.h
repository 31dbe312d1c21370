// SPDX-License-Identifier: BSD-2-Clause
// Recomputation within a step's graph (Kusumoto, Inoue, Watanabe & Koyama 2019, arXiv 1905.11722):
// a rising chain of lower sets; what is read beyond a set is kept, and the rest of it is dropped
// and recomputed once, before the adjoints of its nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/index.h"

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

/// A set of nodes that has all nodes before its own.
struct LowerSet {
  std::vector<std::uint64_t> bits;
  std::vector<std::int32_t> boundary;  ///< its nodes that one outside reads
  std::int64_t seconds = 0, bytes = 0;
  /// Bytes of the nodes outside that read one of these, and of the others outside that they read.
  std::int64_t beyond = 0;
  std::int64_t unread = 0;  ///< bytes of its nodes that none reads
  std::int32_t count = 0;

  bool has(std::int32_t v) const { return (bits[size(v) / 64] >> (v % 64) & 1) != 0; }
  bool within(const LowerSet& other) const;
};

enum class SetFamily : std::uint8_t {
  kAll,
  kAncestors,  ///< a node with all that is before it, the empty set, all nodes
  /// The first ones of order_of(): adjoints come in one order whatever is recomputed, so that what
  /// they add up to is the same bit by bit.
  kInOrder,
};

/// The smallest first. Throws ERR_ARGUMENT if there are more than `most`.
std::vector<LowerSet> lower_sets(const StepGraph& graph, SetFamily family,
                                 std::size_t most = std::size_t{1} << 13);

/// An account of the bytes that a stage, one set of the chain, holds at most.
enum class StageAccount : std::uint8_t {
  kPublished,  ///< kept + twice the set + what outside reads it + what else that reads
  kBound,      ///< twice kept + twice the set + adjoints of nodes that none reads: never too little
};

struct GraphOptions {
  SetFamily family = SetFamily::kAll;
  /// Not the least recomputation but the most: less is alive at a time.
  bool prefer_memory = false;
  /// The last set is still there when its adjoints come, and is not recomputed. As published:
  /// false.
  bool skip_last = true;
  StageAccount account = StageAccount::kPublished;
};

struct GraphPlan {
  std::int64_t overhead = 0;                    ///< seconds of what is recomputed
  std::int64_t peak_estimate = 0;               ///< of any stage, by its account
  std::int64_t peak = 0;                        ///< bytes that the actions hold at most
  std::vector<std::vector<std::int32_t>> sets;  ///< the nodes that each set adds, in their order
  std::vector<GraphAction> actions;
};

/// The best chain whose stages hold at most `bytes`, by their account; nothing if there is none.
/// O(#F^2) pairs of sets, times the number of times and sizes that do not dominate each other.
/// Throws as order_of and lower_sets.
std::optional<GraphPlan> plan_graph(const StepGraph& graph, std::int64_t bytes,
                                    const GraphOptions& options = {});

/// The least recomputation found whose actions have a peak of at most `bytes`: bounds are tried
/// from the loosest down, since what is really held at a time is often less; in large graphs after
/// some time by halves. options.account is not used.
std::optional<GraphPlan> plan_graph_within(const StepGraph& graph, std::int64_t bytes,
                                           const GraphOptions& options = {});

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// Lower sets of a step's graph (Kusumoto et al. 2019): nodes that may have been run at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/index.h"
#include "planners/graph/step_graph.h"

namespace anadrome::schedule {

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

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// Recomputation within a step's graph (Kusumoto, Inoue, Watanabe & Koyama 2019, arXiv 1905.11722):
// a rising chain of lower sets; what is read beyond a set is kept, and the rest of it is dropped
// and recomputed once, before the adjoints of its nodes.
#pragma once

#include <optional>

#include "planners/graph/lower_sets.h"

namespace anadrome::schedule {

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

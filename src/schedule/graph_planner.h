// Recomputation within a step's graph (Kusumoto, Inoue, Watanabe & Koyama 2019, arXiv 1905.11722):
// a rising chain of lower sets; what is read beyond a set is kept, and the rest of it is dropped
// and recomputed once, before the adjoints of its nodes.
#pragma once

#include <optional>

#include "schedule/lower_sets.h"

namespace anadrome::schedule {

struct GraphOptions {
  SetFamily family = SetFamily::kAll;
  /// Not the least recomputation but the most: less is alive at a time.
  bool prefer_memory = false;
  /// The last set is still there when its adjoints come, and is not recomputed. As published:
  /// false.
  bool skip_last = true;
};

struct GraphPlan {
  std::int64_t overhead = 0;       ///< seconds of what is recomputed
  std::int64_t peak_estimate = 0;  ///< as published: kept + twice a set + what is next to it
  std::int64_t peak = 0;           ///< of the actions
  std::vector<std::vector<std::int32_t>> sets;  ///< the nodes that each set adds, in their order
  std::vector<GraphAction> actions;
};

/// The best chain whose published estimate is at most `bytes`; nothing if there is none. O(#F^2)
/// pairs of sets, times the number of times and sizes that do not dominate each other. Throws as
/// order_of and lower_sets.
std::optional<GraphPlan> plan_graph(const StepGraph& graph, std::int64_t bytes,
                                    const GraphOptions& options = {});

/// The least recomputation found whose actions have a peak of at most `bytes`: estimates are tried
/// from the loosest down.
std::optional<GraphPlan> plan_graph_within(const StepGraph& graph, std::int64_t bytes,
                                           const GraphOptions& options = {});

}  // namespace anadrome::schedule

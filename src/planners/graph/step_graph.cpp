// SPDX-License-Identifier: BSD-2-Clause
#include "planners/graph/graph_planner.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <string>

#include "base/error.h"
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
      if (value > kMost - sum) throw wrong("has times or sizes that add up to more than 2^60");
      sum += value;
    }
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

// ---- lower sets ----

namespace {

using Bits = std::vector<std::uint64_t>;

bool in(const Bits& bits, std::int32_t v) { return (bits[at(v) / 64] >> (v % 64) & 1) != 0; }
void add(Bits& bits, std::int32_t v) { bits[at(v) / 64] |= std::uint64_t{1} << (v % 64); }

class Family {
 public:
  Family(const StepGraph& graph, std::size_t most)
      : graph_(graph), most_(most), order_(order_of(graph)), behind_(graph.bytes.size()) {
    for (std::int32_t v = 0; v < graph.nodes(); ++v) {
      for (const std::int32_t u : graph.before[at(v)]) behind_[at(u)].push_back(v);
    }
    found_.insert(Bits(graph.bytes.size() / 64 + 1));
  }

  // Each set with one more node that may be run next.
  void add_all() {
    std::vector<Bits> open(found_.begin(), found_.end());
    while (!open.empty()) {
      const Bits set = std::move(open.back());
      open.pop_back();
      for (const std::int32_t v : order_) {
        const auto& before = graph_.before[at(v)];
        if (in(set, v) || !std::all_of(before.begin(), before.end(),
                                       [&](std::int32_t u) { return in(set, u); })) {
          continue;
        }
        Bits more = set;
        add(more, v);
        if (take(more)) open.push_back(std::move(more));
      }
    }
  }

  void add_ancestors() {
    std::vector<Bits> of_node(graph_.bytes.size(), *found_.begin());
    Bits all = *found_.begin();
    for (const std::int32_t v : order_) {
      Bits& set = of_node[at(v)];
      for (const std::int32_t u : graph_.before[at(v)]) {
        for (std::size_t word = 0; word < set.size(); ++word) set[word] |= of_node[at(u)][word];
      }
      add(set, v);
      add(all, v);
      take(set);
    }
    take(all);
  }

  void add_in_order() {
    Bits set = *found_.begin();
    for (const std::int32_t v : order_) {
      add(set, v);
      take(set);
    }
  }

  std::vector<LowerSet> sets() const {
    std::vector<LowerSet> sets;
    for (const Bits& bits : found_) sets.push_back(measured(bits));
    std::stable_sort(sets.begin(), sets.end(),
                     [](const LowerSet& a, const LowerSet& b) { return a.count < b.count; });
    return sets;
  }

 private:
  bool take(const Bits& set) {
    if (!found_.insert(set).second) return false;
    if (found_.size() > most_) {
      throw Error(ANADROME_ERR_ARGUMENT, "the graph of a step has more than " +
                                             std::to_string(most_) +
                                             " sets that may have been run; take the ancestors'");
    }
    return true;
  }

  LowerSet measured(const Bits& bits) const {
    LowerSet set;
    set.bits = bits;
    Bits beyond(bits.size());
    for (const std::int32_t v : order_) {
      if (!in(bits, v)) continue;
      ++set.count;
      set.seconds += graph_.seconds[at(v)];
      set.bytes += graph_.bytes[at(v)];
      if (behind_[at(v)].empty()) set.unread += graph_.bytes[at(v)];
      bool boundary = false;
      for (const std::int32_t w : behind_[at(v)]) {
        if (in(bits, w)) continue;
        boundary = true;
        if (!in(beyond, w)) set.beyond += graph_.bytes[at(w)];
        add(beyond, w);
      }
      if (boundary) set.boundary.push_back(v);
    }
    Bits beside(bits.size());
    for (const std::int32_t w : order_) {
      if (!in(beyond, w)) continue;
      for (const std::int32_t u : graph_.before[at(w)]) {
        if (in(bits, u) || in(beside, u)) continue;
        set.beyond += graph_.bytes[at(u)];
        add(beside, u);
      }
    }
    return set;
  }

  const StepGraph& graph_;
  std::size_t most_;
  std::vector<std::int32_t> order_;
  std::vector<std::vector<std::int32_t>> behind_;
  std::set<Bits> found_;
};

}  // namespace

bool LowerSet::within(const LowerSet& other) const {
  for (std::size_t word = 0; word < bits.size(); ++word) {
    if ((bits[word] & ~other.bits[word]) != 0) return false;
  }
  return true;
}

std::vector<LowerSet> lower_sets(const StepGraph& graph, SetFamily family, std::size_t most) {
  Family sets(graph, most);
  if (family == SetFamily::kAll) {
    sets.add_all();
  } else if (family == SetFamily::kAncestors) {
    sets.add_ancestors();
  } else {
    sets.add_in_order();
  }
  return sets.sets();
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/graph/lower_sets.h"

#include <algorithm>
#include <set>
#include <string>

#include "base/error.h"
#include "base/index.h"

namespace anadrome::schedule {
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

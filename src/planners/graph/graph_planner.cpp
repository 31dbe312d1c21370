// SPDX-License-Identifier: BSD-2-Clause
#include "planners/graph/graph_planner.h"

#include <algorithm>
#include <limits>

#include "base/index.h"

namespace anadrome::schedule {
namespace {

/// A chain up to a set: what it recomputes, what it keeps, and the chain that it goes on from.
struct Chain {
  std::int64_t seconds, kept;
  std::int32_t set, before;  ///< before: index into the chains of that set
};

/// The chains, of many, that no other one dominates.
class Found {
 public:
  Found(std::int64_t most_seconds, bool prefer_memory) : sign_(prefer_memory ? -1 : 1) {
    if (most_seconds < kMostTabled) by_seconds_.assign(at(most_seconds) + 1, kNone);
  }

  void add(const Chain& chain) {
    if (!by_seconds_.empty()) {
      Chain& least = by_seconds_[at(chain.seconds)];
      if (chain.kept < least.kept) least = chain;
      return;
    }
    chains_.push_back(chain);
    if (chains_.size() > kMany) chains_ = undominated();
  }

  std::vector<Chain> take() {
    if (by_seconds_.empty()) return undominated();
    if (sign_ < 0) std::reverse(by_seconds_.begin(), by_seconds_.end());
    return rising(by_seconds_);
  }

 private:
  static constexpr std::int64_t kMostTabled = std::int64_t{1} << 14;
  static constexpr std::size_t kMany = std::size_t{1} << 16;
  static constexpr Chain kNone{0, std::numeric_limits<std::int64_t>::max(), -1, -1};
  // Chains are in the order of what they recompute.
  static std::vector<Chain> rising(const std::vector<Chain>& chains) {
    std::vector<Chain> best;
    for (const Chain& chain : chains) {
      if (chain.kept < (best.empty() ? kNone : best.back()).kept) best.push_back(chain);
    }
    return best;
  }

  std::vector<Chain> undominated() {
    std::stable_sort(chains_.begin(), chains_.end(), [this](const Chain& a, const Chain& b) {
      return std::pair(sign_ * a.seconds, a.kept) < std::pair(sign_ * b.seconds, b.kept);
    });
    return rising(chains_);
  }

  std::int64_t sign_;
  std::vector<Chain> by_seconds_;  ///< the one that keeps least; none: too many to be tabled
  std::vector<Chain> chains_;
};

class Planner {
 public:
  Planner(const StepGraph& graph, const GraphOptions& options)
      : graph_(graph),
        options_(options),
        order_(order_of(graph)),
        sets_(lower_sets(graph, options.family)) {}

  std::optional<GraphPlan> plan(std::int64_t bytes) {
    chains_.assign(sets_.size(), {});
    chains_[0].push_back({0, 0, -1, -1});
    for (std::size_t to = 1; to < sets_.size(); ++to) reach(to, bytes);
    const std::vector<Chain>& whole = chains_.back();
    if (whole.empty()) return std::nullopt;
    const auto fewer = [](const Chain& a, const Chain& b) { return a.seconds < b.seconds; };
    const auto best = options_.prefer_memory ? std::max_element(whole.begin(), whole.end(), fewer)
                                             : std::min_element(whole.begin(), whole.end(), fewer);
    return plan_of(*best);
  }
  /// Chains that all plans so far were looked for among.
  std::int64_t weighed() const { return weighed_; }

 private:
  // Values and adjoints of a set; of kept ones before it values, and adjoints begun by later sets.
  std::int64_t stage_bytes(std::int64_t kept, const LowerSet& part, const LowerSet& set) const {
    const std::int64_t own = 2 * (set.bytes - part.bytes);
    return options_.account == StageAccount::kPublished ? kept + own + set.beyond
                                                        : 2 * kept + own + part.unread;
  }

  // Every chain that goes on to a set, then those that no other one dominates.
  void reach(std::size_t to, std::int64_t bytes) {
    const LowerSet& set = sets_[to];
    const bool last = to + 1 == sets_.size();
    Found found(sets_.back().seconds, options_.prefer_memory);
    for (std::size_t from = 0; from < to; ++from) {
      const LowerSet& part = sets_[from];
      if (chains_[from].empty() || part.count == set.count || !part.within(set)) continue;
      if (stage_bytes(0, part, set) > bytes) continue;
      std::int64_t kept = 0, seconds = set.seconds - part.seconds;
      for (const std::int32_t v : set.boundary) {
        if (part.has(v)) continue;
        kept += graph_.bytes[at(v)];
        seconds -= graph_.seconds[at(v)];
      }
      if (last && options_.skip_last) seconds = 0;
      weighed_ += std::ssize(chains_[from]);
      for (std::size_t i = 0; i < chains_[from].size(); ++i) {
        const Chain& chain = chains_[from][i];
        if (stage_bytes(chain.kept, part, set) > bytes) continue;
        found.add({chain.seconds + seconds, chain.kept + kept, static_cast<std::int32_t>(from),
                   static_cast<std::int32_t>(i)});
      }
    }
    chains_[to] = found.take();
  }

  GraphPlan plan_of(const Chain& end) const {
    GraphPlan plan;
    plan.overhead = end.seconds;
    std::vector<std::size_t> rising{sets_.size() - 1};
    for (Chain chain = end; chain.set > 0;) {
      rising.push_back(size(chain.set));
      chain = chains_[rising.back()][at(chain.before)];
    }
    std::reverse(rising.begin(), rising.end());
    std::vector<std::int32_t> stage(graph_.bytes.size());
    std::vector<bool> kept(graph_.bytes.size());
    const LowerSet* part = &sets_[0];
    std::int64_t kept_bytes = 0;
    for (std::size_t i = 0; i < rising.size(); ++i) {
      const LowerSet& set = sets_[rising[i]];
      plan.peak_estimate = std::max(plan.peak_estimate, stage_bytes(kept_bytes, *part, set));
      plan.sets.emplace_back();
      for (const std::int32_t v : order_) {
        if (set.has(v) && !part->has(v)) plan.sets.back().push_back(v);
      }
      for (const std::int32_t v : set.boundary) {
        if (part->has(v)) continue;
        kept[at(v)] = true;
        kept_bytes += graph_.bytes[at(v)];
      }
      part = &set;
    }
    plan.actions = actions_of(plan.sets, kept);
    plan.peak = peak_of(graph_, plan.actions);
    return plan;
  }

  std::vector<GraphAction> actions_of(const std::vector<std::vector<std::int32_t>>& sets,
                                      const std::vector<bool>& kept) const {
    std::vector<GraphAction> actions;
    const auto is_kept = [&](std::int32_t v) { return kept[at(v)]; };
    const auto drops = [&](std::size_t i) { return !(options_.skip_last && i + 1 == sets.size()); };
    for (std::size_t i = 0; i < sets.size(); ++i) {
      for (const std::int32_t v : sets[i]) actions.push_back({GraphKind::kForward, v});
      for (const std::int32_t v : sets[i]) {
        if (!is_kept(v) && drops(i)) actions.push_back({GraphKind::kDrop, v});
      }
    }
    for (std::size_t i = sets.size(); i-- > 0;) {
      for (const std::int32_t v : sets[i]) {
        if (!is_kept(v) && drops(i)) actions.push_back({GraphKind::kRecompute, v});
      }
      for (auto v = sets[i].rbegin(); v != sets[i].rend(); ++v) {
        actions.push_back({GraphKind::kBackward, *v});
        actions.push_back({GraphKind::kDrop, *v});
      }
    }
    return actions;
  }

  const StepGraph& graph_;
  GraphOptions options_;
  std::vector<std::int32_t> order_;
  std::vector<LowerSet> sets_;
  std::vector<std::vector<Chain>> chains_;
  std::int64_t weighed_ = 0;
};

}  // namespace

std::optional<GraphPlan> plan_graph(const StepGraph& graph, std::int64_t bytes,
                                    const GraphOptions& options) {
  return Planner(graph, options).plan(bytes);
}

// Looser bounds recompute less; where a plan holds too much, only a bound below what it was
// estimated to hold makes another. One after the other misses none; halving may.
std::optional<GraphPlan> plan_graph_within(const StepGraph& graph, std::int64_t bytes,
                                           const GraphOptions& options) {
  constexpr std::int64_t kMostWeighed = 200'000'000;
  constexpr int kMostHalvings = 16;
  GraphOptions bounded = options;
  bounded.account = StageAccount::kBound;
  Planner planner(graph, bounded);
  std::optional<GraphPlan> plan = planner.plan(std::numeric_limits<std::int64_t>::max() / 2);
  while (plan && plan->peak > bytes && planner.weighed() < kMostWeighed)
    plan = planner.plan(plan->peak_estimate - 1);
  if (!plan || plan->peak <= bytes) return plan;

  const auto better = [&](const std::optional<GraphPlan>& a, const std::optional<GraphPlan>& b) {
    if (!a || a->peak > bytes || !b) return a && a->peak <= bytes;
    return options.prefer_memory ? a->overhead > b->overhead : a->overhead < b->overhead;
  };
  std::int64_t low = bytes + 1, high = plan->peak_estimate - 1;
  std::optional<GraphPlan> best = planner.plan(bytes);  // holds no more, if there is one
  for (int i = 0; i < kMostHalvings && low <= high; ++i) {
    const std::int64_t middle = low + (high - low) / 2;
    plan = planner.plan(middle);
    const bool holds_too_much = plan && plan->peak > bytes;
    if (better(plan, best)) best = plan;
    if (holds_too_much) {
      high = plan->peak_estimate - 1;
    } else {
      low = middle + 1;
    }
  }
  GraphOptions published = options;
  published.account = StageAccount::kPublished;
  plan = Planner(graph, published).plan(bytes);
  return better(plan, best) ? plan : best;
}

}  // namespace anadrome::schedule

#include "schedule/graph_planner.h"

#include <algorithm>
#include <limits>

namespace anadrome::schedule {
namespace {

/// A chain up to a set: what it recomputes, what it keeps, and the chain that it goes on from.
struct Chain {
  std::int64_t seconds, kept;
  std::int32_t set, before;  ///< before: index into the chains of that set
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

 private:
  // Values and adjoints of a set; of the kept ones before it, the values, and adjoints that later
  // sets have added to.
  std::int64_t stage_bytes(std::int64_t kept, const LowerSet& part, const LowerSet& set) const {
    const std::int64_t own = 2 * (set.bytes - part.bytes);
    return options_.account == StageAccount::kPublished ? kept + own + set.beyond
                                                        : 2 * kept + own + part.unread;
  }

  // Every chain that goes on to a set, then those that no other one dominates.
  void reach(std::size_t to, std::int64_t bytes) {
    const LowerSet& set = sets_[to];
    const bool last = to + 1 == sets_.size();
    std::vector<Chain> found;
    for (std::size_t from = 0; from < to; ++from) {
      const LowerSet& part = sets_[from];
      if (chains_[from].empty() || part.count == set.count || !part.within(set)) continue;
      if (stage_bytes(0, part, set) > bytes) continue;
      std::int64_t kept = 0, seconds = set.seconds - part.seconds;
      for (const std::int32_t v : set.boundary) {
        if (part.has(v)) continue;
        kept += graph_.bytes[static_cast<std::size_t>(v)];
        seconds -= graph_.seconds[static_cast<std::size_t>(v)];
      }
      if (last && options_.skip_last) seconds = 0;
      for (std::size_t i = 0; i < chains_[from].size(); ++i) {
        const Chain& chain = chains_[from][i];
        if (stage_bytes(chain.kept, part, set) > bytes) continue;
        found.push_back({chain.seconds + seconds, chain.kept + kept,
                         static_cast<std::int32_t>(from), static_cast<std::int32_t>(i)});
      }
      if (found.size() > kMany) found = undominated(std::move(found));
    }
    chains_[to] = undominated(std::move(found));
  }

  std::vector<Chain> undominated(std::vector<Chain> chains) const {
    const std::int64_t sign = options_.prefer_memory ? -1 : 1;
    std::stable_sort(chains.begin(), chains.end(), [sign](const Chain& a, const Chain& b) {
      return std::pair(sign * a.seconds, a.kept) < std::pair(sign * b.seconds, b.kept);
    });
    std::vector<Chain> best;
    for (const Chain& chain : chains) {
      if (best.empty() || chain.kept < best.back().kept) best.push_back(chain);
    }
    return best;
  }

  GraphPlan plan_of(const Chain& end) const {
    GraphPlan plan;
    plan.overhead = end.seconds;
    std::vector<std::size_t> rising{sets_.size() - 1};
    for (Chain chain = end; chain.set > 0;) {
      rising.push_back(static_cast<std::size_t>(chain.set));
      chain = chains_[rising.back()][static_cast<std::size_t>(chain.before)];
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
        kept[static_cast<std::size_t>(v)] = true;
        kept_bytes += graph_.bytes[static_cast<std::size_t>(v)];
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
    const auto is_kept = [&](std::int32_t v) { return kept[static_cast<std::size_t>(v)]; };
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

  static constexpr std::size_t kMany = std::size_t{1} << 16;

  const StepGraph& graph_;
  GraphOptions options_;
  std::vector<std::int32_t> order_;
  std::vector<LowerSet> sets_;
  std::vector<std::vector<Chain>> chains_;
};

}  // namespace

std::optional<GraphPlan> plan_graph(const StepGraph& graph, std::int64_t bytes,
                                    const GraphOptions& options) {
  return Planner(graph, options).plan(bytes);
}

std::optional<GraphPlan> plan_graph_within(const StepGraph& graph, std::int64_t bytes,
                                           const GraphOptions& options) {
  GraphOptions bounded = options;
  bounded.account = StageAccount::kBound;
  Planner planner(graph, bounded);
  std::optional<GraphPlan> plan = planner.plan(std::numeric_limits<std::int64_t>::max() / 2);
  while (plan && plan->peak > bytes) plan = planner.plan(plan->peak_estimate - 1);
  return plan;
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <queue>

#include "base/index.h"
#include "planners/join/join_planner.h"

namespace anadrome::schedule {
namespace {

constexpr uint128 kNever = uint128{1} << 120;

/// Per branch, rising.
using Cuts = std::vector<std::vector<std::int64_t>>;

class Search {
 public:
  Search(const JoinProblem& problem, std::int64_t most_bytes)
      : problem_(problem),
        most_bytes_(most_bytes),
        cuts_(std::min({problem.most_cuts(), problem.sum() - problem.branches(), kMostCuts,
                        std::max(most_bytes / kBytesPerRow / problem.branches() - 1, kNoCuts)})) {}

  std::vector<JoinSegment> run() {
    std::vector<std::int64_t> order = problem_.by_steps(1);
    branch_by_branch(order);
    std::reverse(order.begin(), order.end());
    branch_by_branch(order);
    for (std::int64_t count = cuts_; count >= 0; count -= std::max<std::int64_t>(count / 4, 1)) {
      descend(even_cuts(count));
    }
    if (!best_.empty()) descend(cuts_of(best_));
    return best_;
  }

 private:
  static constexpr std::int64_t kMostCuts = 256;
  static constexpr std::int64_t kNoCuts = 0;
  static constexpr std::int64_t kMostWork = 40'000'000;
  static constexpr std::int64_t kBytesPerPlace = 32, kBytesPerRow = 128;

  void take(std::vector<JoinSegment> segments) {
    const std::optional<uint128> cost = price(problem_, segments);
    if (!cost || (!best_.empty() && *cost >= best_cost_)) return;
    best_cost_ = *cost;
    best_ = std::move(segments);
  }

  Cuts cuts_of(const std::vector<JoinSegment>& segments) const {
    Cuts cuts(problem_.steps.size());
    for (const JoinSegment& segment : segments) {
      if (segment.begin > 0) cuts[at(segment.branch)].push_back(segment.begin);
    }
    for (std::vector<std::int64_t>& of_branch : cuts) std::sort(of_branch.begin(), of_branch.end());
    return cuts;
  }

  // ---- branch by branch ----

  std::int64_t stride_of_cuts() const {
    double terms = 0, places = 0;
    for (const std::int64_t steps : problem_.steps) {
      terms += real(steps) * real(steps) / 2;
      places += real(steps);
    }
    const double rows = real(cuts_ + 1);
    const std::int64_t longest = *std::max_element(problem_.steps.begin(), problem_.steps.end());
    const auto fits = [&](double stride) {
      const auto branches = real(problem_.branches());
      const double bytes = (places / stride) * kBytesPerPlace + branches * kBytesPerRow;
      return rows * terms / stride / stride <= kMostWork && rows * bytes <= real(most_bytes_);
    };
    std::int64_t stride = 1;
    while (stride < longest && !fits(real(stride))) stride += 1 + stride / 8;
    return stride;
  }

  // least[m][p]: the branches from `i` on are left, p steps of it, and m cuts. With more steps than
  // the table may have, cuts are at multiples of a stride.
  void branch_by_branch(const std::vector<std::int64_t>& order) {
    const std::int64_t stride = stride_of_cuts();
    struct Step {
      uint128 cost = kNever;
      std::int64_t length = 0;
    };
    std::vector<std::vector<std::vector<Step>>> steps_of(order.size());
    std::vector<uint128> after(at(cuts_ + 1), kNever);  // all of the next branch, m cuts
    after[0] = 0;
    for (std::size_t i = order.size(); i-- > 0;) {
      const std::int64_t length = problem_.steps[at(order[i])];
      const std::int64_t places = (length + stride - 1) / stride;  // the last one is the end
      const std::int64_t held =
          problem_.charged_inputs ? static_cast<std::int64_t>(order.size() - i) : 0;
      auto& table = steps_of[i];
      table.assign(at(cuts_ + 1), std::vector<Step>(at(places + 1)));
      std::vector<uint128> whole(at(cuts_ + 1), kNever);
      // From one place to another so many before it, and from a place to the end.
      std::vector<uint128> between(at(places)), to_end(at(places));
      for (std::int64_t m = 0; m <= cuts_; ++m) {
        const std::int64_t free = problem_.room() - m - held;
        if (free < 0) break;
        Splitter splitter;
        const auto segment = [&](std::int64_t d) {
          return d < 2 ? 0 : free < 1 ? kNever : splitter.advances(d, free);
        };
        for (std::int64_t q = 0; q < places; ++q) {
          between[at(q)] = segment(q * stride);
          to_end[at(q)] = segment(length - q * stride);
        }
        const auto cost_of = [&](std::int64_t from, std::int64_t q) {
          return q == places ? to_end[at(from)] : between[at(q - from)];
        };
        for (std::int64_t q = 1; q <= places; ++q) {
          Step& best = table[at(m)][at(q)];
          best = {cost_of(0, q) + after[at(m)], q};
          for (std::int64_t to = 1; m > 0 && to < q; ++to) {
            const uint128 cost = cost_of(to, q) + table[at(m - 1)][at(to)].cost;
            if (cost < best.cost) best = {cost, q - to};
          }
        }
        whole[at(m)] = table[at(m)][at(places)].cost;
      }
      after = whole;
    }
    const auto best = std::min_element(after.begin(), after.end());
    if (*best >= kNever) return;
    std::vector<JoinSegment> segments;
    std::int64_t m = best - after.begin();
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::int64_t length = problem_.steps[at(order[i])];
      for (std::int64_t q = (length + stride - 1) / stride; q > 0;) {
        const std::int64_t to = q - steps_of[i][at(m)][at(q)].length;
        segments.push_back({order[i], to * stride, std::min(q * stride, length), 0});
        m -= to > 0 ? 1 : 0;
        q = to;
      }
    }
    take(std::move(segments));
  }

  // ---- shortest segment first ----

  Cuts even_cuts(std::int64_t count) const {
    Cuts cuts(problem_.steps.size());
    std::vector<std::int64_t> number(problem_.steps.size(), 0);
    for (std::int64_t i = 0; i < count; ++i) {  // to the branch whose segments are the longest
      std::size_t to = 0;
      const auto length = [&](std::size_t b) { return problem_.steps[b] / (number[b] + 1); };
      for (std::size_t b = 1; b < number.size(); ++b) to = length(b) > length(to) ? b : to;
      if (number[to] + 1 < problem_.steps[to]) ++number[to];
    }
    for (std::size_t b = 0; b < number.size(); ++b) {
      for (std::int64_t i = 1; i <= number[b]; ++i) {
        cuts[b].push_back(problem_.steps[b] * i / (number[b] + 1));
      }
    }
    return cuts;
  }

  std::vector<JoinSegment> shortest_first(const Cuts& cuts) const {
    struct Top {
      std::int64_t length;
      std::size_t branch;
      bool operator<(const Top& other) const {
        return std::pair(length, branch) > std::pair(other.length, other.branch);
      }
    };
    std::priority_queue<Top> tops;
    std::vector<std::size_t> left(cuts.size());
    std::vector<std::int64_t> end = problem_.steps;
    const auto begin = [&](std::size_t b) { return left[b] > 0 ? cuts[b][left[b] - 1] : 0; };
    for (std::size_t b = 0; b < cuts.size(); ++b) {
      left[b] = cuts[b].size();
      tops.push({end[b] - begin(b), b});
    }
    std::vector<JoinSegment> segments;
    while (!tops.empty()) {
      const std::size_t b = tops.top().branch;
      tops.pop();
      segments.push_back({static_cast<std::int64_t>(b), begin(b), end[b], 0});
      if (left[b] == 0) continue;
      end[b] = begin(b);
      --left[b];
      tops.push({end[b] - begin(b), b});
    }
    return segments;
  }

  uint128 cost(const Cuts& cuts) {
    std::vector<JoinSegment> segments = shortest_first(cuts);
    work_ += 8 * std::ssize(segments);
    return price(problem_, segments).value_or(kNever);
  }

  void descend(Cuts cuts) {
    uint128 least = cost(cuts);
    const std::int64_t end = work_ + kMostWork / 8;
    const auto try_cuts = [&](const Cuts& tried) {
      const uint128 value = cost(tried);
      if (value >= least) return false;
      least = value;
      cuts = tried;
      return true;
    };
    for (bool better = true; better && work_ < end;) {
      better = false;
      for (std::size_t b = 0; b < cuts.size() && work_ < end; ++b) {
        for (std::size_t i = 0; i < cuts[b].size() && work_ < end; ++i) {
          better = move_cut(cuts, b, i, try_cuts) || better;
        }
      }
    }
    if (least < kNever) take(shortest_first(cuts));
  }

  // A cut goes some way down or up, to another branch, or away.
  template <class Try>
  bool move_cut(const Cuts& cuts, std::size_t b, std::size_t i, const Try& try_cuts) const {
    const std::int64_t low = i > 0 ? cuts[b][i - 1] : 0;
    const std::int64_t high = i + 1 < cuts[b].size() ? cuts[b][i + 1] : problem_.steps[b];
    const std::int64_t here = cuts[b][i];
    for (std::int64_t way = (high - low) / 2; way > 0; way /= 2) {
      for (const std::int64_t to : {here - way, here + way}) {
        if (to <= low || to >= high) continue;
        Cuts tried = cuts;
        tried[b][i] = to;
        if (try_cuts(tried)) return true;
      }
    }
    Cuts without = cuts;
    without[b].erase(without[b].begin() + static_cast<std::ptrdiff_t>(i));
    if (try_cuts(without)) return true;
    for (std::size_t other = 0; other < cuts.size(); ++other) {
      for (std::size_t gap = 0; gap <= without[other].size(); ++gap) {
        const std::int64_t from = gap > 0 ? without[other][gap - 1] : 0;
        const std::int64_t to =
            gap < without[other].size() ? without[other][gap] : problem_.steps[other];
        if (to - from < 2) continue;
        Cuts tried = without;
        tried[other].insert(tried[other].begin() + static_cast<std::ptrdiff_t>(gap),
                            from + (to - from) / 2);
        if (try_cuts(tried)) return true;
      }
    }
    return false;
  }

  const JoinProblem& problem_;
  std::int64_t most_bytes_;
  std::int64_t cuts_;
  std::int64_t work_ = 0;
  uint128 best_cost_ = kNever;
  std::vector<JoinSegment> best_;
};

}  // namespace

std::vector<JoinSegment> join_by_heuristics(const JoinProblem& problem, std::int64_t most_bytes) {
  return Search(problem, most_bytes).run();
}

}  // namespace anadrome::schedule

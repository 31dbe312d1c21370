// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>

#include "base/index.h"
#include "planners/join/join_planner.h"

namespace anadrome::schedule {
namespace {

constexpr uint128 kNever = uint128{1} << 120;

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
    return best_;
  }

 private:
  static constexpr std::int64_t kMostCuts = 256, kNoCuts = 0;
  static constexpr std::int64_t kMostWork = 40'000'000;
  static constexpr std::int64_t kBytesPerPlace = 32, kBytesPerRow = 128;

  void take(std::vector<JoinSegment> segments) {
    const std::optional<uint128> cost = price(problem_, segments);
    if (!cost || (!best_.empty() && *cost >= best_cost_)) return;
    best_cost_ = *cost;
    best_ = std::move(segments);
  }

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

  const JoinProblem& problem_;
  std::int64_t most_bytes_;
  std::int64_t cuts_;
  uint128 best_cost_ = kNever;
  std::vector<JoinSegment> best_;
};

}  // namespace

std::vector<JoinSegment> join_branch_by_branch(const JoinProblem& problem,
                                               std::int64_t most_bytes) {
  return Search(problem, most_bytes).run();
}

}  // namespace anadrome::schedule

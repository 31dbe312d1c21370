// SPDX-License-Identifier: BSD-2-Clause
#include "planners/join/join_planner.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "base/error.h"
#include "base/index.h"

namespace anadrome::schedule {
namespace {

constexpr uint128 kTooMuch = uint128{1} << 120;

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
      uint128 cost = kTooMuch;
      std::int64_t length = 0;
    };
    std::vector<std::vector<std::vector<Step>>> steps_of(order.size());
    std::vector<uint128> after(at(cuts_ + 1), kTooMuch);  // all of the next branch, m cuts
    after[0] = 0;
    for (std::size_t i = order.size(); i-- > 0;) {
      const std::int64_t length = problem_.steps[at(order[i])];
      const std::int64_t places = (length + stride - 1) / stride;  // the last one is the end
      const std::int64_t held =
          problem_.charged_inputs ? static_cast<std::int64_t>(order.size() - i) : 0;
      auto& table = steps_of[i];
      table.assign(at(cuts_ + 1), std::vector<Step>(at(places + 1)));
      std::vector<uint128> whole(at(cuts_ + 1), kTooMuch);
      // From one place to another so many before it, and from a place to the end.
      std::vector<uint128> between(at(places)), to_end(at(places));
      for (std::int64_t m = 0; m <= cuts_; ++m) {
        const std::int64_t free = problem_.room() - m - held;
        if (free < 0) break;
        Splitter splitter;
        const auto segment = [&](std::int64_t d) {
          return d < 2 ? 0 : free < 1 ? kTooMuch : splitter.advances(d, free);
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
          best = {std::min(cost_of(0, q) + after[at(m)], kTooMuch), q};  // of many branches, too
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
    if (*best >= kTooMuch) return;
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
  uint128 best_cost_ = kTooMuch;
  std::vector<JoinSegment> best_;
};

}  // namespace

std::vector<JoinSegment> join_branch_by_branch(const JoinProblem& problem,
                                               std::int64_t most_bytes) {
  return Search(problem, most_bytes).run();
}

// ---- the plan ----

std::int64_t JoinProblem::sum() const {
  return std::accumulate(steps.begin(), steps.end(), std::int64_t{0});
}

std::vector<std::int64_t> JoinProblem::by_steps(std::int64_t sign) const {
  std::vector<std::int64_t> order(steps.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return sign * steps[at(a)] < sign * steps[at(b)];
  });
  return order;
}

void check(const JoinProblem& problem) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 31;
  const auto wrong = [](const std::string& what) {
    return Error(ANADROME_ERR_ARGUMENT, "a join " + what);
  };
  if (problem.steps.empty() || problem.steps.size() > 100000) {
    throw wrong("has 1 to 100000 branches");
  }
  for (const std::int64_t steps : problem.steps) {
    if (steps < 1 || steps > kLongest) throw wrong("has branches of 1 to 2^31 steps");
  }
  if (problem.slots < 1 || problem.most_cuts() < 0) {
    throw wrong("of " + std::to_string(problem.branches()) + " branches needs " +
                std::to_string(std::max<std::int64_t>(problem.slots - problem.most_cuts(), 1)) +
                " slots; there are " + std::to_string(problem.slots));
  }
}

std::optional<uint128> price(const JoinProblem& problem, std::vector<JoinSegment>& segments) {
  auto cost = wide(problem.sum());
  const auto count = std::ssize(segments);
  std::int64_t held = problem.charged_inputs ? problem.branches() : 0;
  std::int64_t cuts = count - problem.branches();
  for (JoinSegment& segment : segments) {
    segment.free = problem.room() - cuts - held;
    if (segment.end - segment.begin > 1) {
      if (segment.free < 1) return std::nullopt;
      cost += extra_advances(segment.end - segment.begin, segment.free);
    }
    if (segment.begin > 0) {
      --cuts;
    } else if (problem.charged_inputs) {
      --held;
    }
  }
  return cost;
}

namespace {

/// H(p; m): p_i steps of branch i and m cuts are left. The branches are exchangeable: only falling
/// p are in the table, and taking steps off one leads to one that comes before it.
class Table {
 public:
  using Cost = std::uint64_t;
  using Left = std::vector<std::int64_t>;
  static constexpr Cost kNever = std::numeric_limits<Cost>::max() / 4;

  Table(const JoinProblem& problem, Left lengths)
      : problem_(problem),
        lengths_(std::move(lengths)),
        longest_(lengths_[0]),
        cuts_(cuts_of(problem)) {
    for (std::int64_t d = 0; d <= longest_; ++d) {
      for (std::int64_t f = 0; f <= longest_; ++f) {
        const bool never = d >= 2 && f == 0;
        segment_.push_back(never ? kNever : d < 2 ? 0 : static_cast<Cost>(extra_advances(d, f)));
      }
    }
    fill();
  }

  static std::int64_t cuts_of(const JoinProblem& problem) {
    return std::min(problem.most_cuts(), problem.sum() - problem.branches());
  }
  static std::int64_t longest_of(const Left& steps) {
    return *std::max_element(steps.begin(), steps.end());
  }
  /// Entries of the table; a large number if it is beyond all bounds.
  static std::int64_t entries(const JoinProblem& problem) {
    constexpr std::int64_t kTooMany = std::int64_t{1} << 40;
    const std::int64_t longest = longest_of(problem.steps);
    if (longest > 4000) return kTooMany;
    std::int64_t count = cuts_of(problem) + 1;
    for (std::size_t i = 0; i < problem.steps.size(); ++i) {
      if (count > kTooMany / (longest + 1)) return kTooMany;
      count *= longest + 1;
    }
    return count;
  }

  /// Bytes that a table of so many entries takes.
  static std::int64_t bytes(const Left& steps, std::int64_t entries) {
    const std::int64_t longest = longest_of(steps);
    return static_cast<std::int64_t>(sizeof(Cost)) * (entries + (longest + 1) * (longest + 1));
  }

  /// Best number of cuts, and the segments of it: lengths taken off, in their order.
  std::vector<JoinSegment> best(const std::vector<std::int64_t>& branch_of) {
    std::int64_t cuts = 0;
    for (std::int64_t m = 1; m <= cuts_; ++m) {
      if (cost_at(lengths_, m) < cost_at(lengths_, cuts)) cuts = m;
    }
    if (cost_at(lengths_, cuts) >= kNever) return {};
    std::vector<JoinSegment> segments;
    Left left = lengths_;
    while (std::any_of(left.begin(), left.end(), [](std::int64_t p) { return p > 0; })) {
      const Step step = least(left, cuts).second;
      std::int64_t& p = left[at(step.branch)];
      segments.push_back({branch_of[at(step.branch)], p - step.length, p, 0});
      p -= step.length;
      cuts -= p > 0 ? 1 : 0;
    }
    return segments;
  }

 private:
  struct Step {
    std::int64_t branch, length;
  };

  std::size_t index(Left left) const {
    std::sort(left.begin(), left.end(), std::greater<>());
    std::int64_t number = 0;
    for (const std::int64_t p : left) number = number * (longest_ + 1) + p;
    return at(number * (cuts_ + 1));
  }
  Cost cost_at(const Left& left, std::int64_t m) const { return cost_[index(left) + at(m)]; }
  Cost segment(std::int64_t d, std::int64_t f) const {
    return segment_[at(d * (longest_ + 1) + std::min(f, longest_))];
  }

  std::pair<Cost, Step> least(const Left& left, std::int64_t m) const {
    std::int64_t held = 0;
    for (const std::int64_t p : left) held += problem_.charged_inputs && p > 0 ? 1 : 0;
    const std::int64_t free = problem_.room() - m - held;
    std::pair<Cost, Step> best{kNever, {0, 0}};
    if (free < 0) return best;
    Left rest = left;
    for (std::int64_t i = 0; i < problem_.branches(); ++i) {
      const std::int64_t p = left[at(i)];
      if (p == 0) continue;
      for (std::int64_t d = 1; d <= p; ++d) {
        if (d < p && m == 0) continue;
        rest[at(i)] = p - d;
        const Cost cost = segment(d, free) + cost_at(rest, d < p ? m - 1 : m);
        if (cost < best.first) best = {cost, {i, d}};
      }
      rest[at(i)] = p;
    }
    return best;
  }

  void fill() {
    std::size_t size = at(cuts_ + 1);
    for (std::size_t i = 0; i < lengths_.size(); ++i) size *= at(longest_ + 1);
    cost_.assign(size, kNever);
    Left left(lengths_.size(), 0);
    cost_[0] = 0;
    while (next(left)) {
      const std::size_t row = index(left);
      for (std::int64_t m = 0; m <= cuts_; ++m) cost_[row + at(m)] = least(left, m).first;
    }
  }

  // The next falling one, none above the lengths.
  bool next(Left& left) const {
    for (std::size_t i = left.size(); i-- > 0;) {
      const std::int64_t most = i == 0 ? lengths_[0] : std::min(lengths_[i], left[i - 1]);
      if (left[i] < most) {
        ++left[i];
        std::fill(left.begin() + static_cast<std::ptrdiff_t>(i) + 1, left.end(), 0);
        return true;
      }
    }
    return false;
  }

  const JoinProblem& problem_;
  Left lengths_;  ///< falling
  std::int64_t longest_, cuts_;
  std::vector<Cost> segment_, cost_;
};

// A table with more entries than this, times the steps, would take too long.
constexpr std::int64_t kMostTerms = std::int64_t{1} << 27;

JoinPlan plan_with_table(const JoinProblem& problem) {
  const std::vector<std::int64_t> branch_of = problem.by_steps(-1);
  std::vector<std::int64_t> lengths;
  for (const std::int64_t branch : branch_of) lengths.push_back(problem.steps[at(branch)]);
  return {0, Table(problem, lengths).best(branch_of), true};
}

uint128 cost_of(const JoinProblem& problem, std::vector<JoinSegment>& segments) {
  if (const std::optional<uint128> cost = price(problem, segments)) return *cost;
  throw Error(ANADROME_ERR_ARGUMENT, "a join has no slot to go on in");
}

JoinPlan priced(const JoinProblem& problem, JoinPlan plan) {
  if (plan.segments.empty()) {
    throw Error(ANADROME_ERR_ARGUMENT, "a join needs a free slot to go on in; raise the slots");
  }
  plan.advances = cost_of(problem, plan.segments);
  return plan;
}

// As many cuts as there is room for, and segments of which each has a slot for every state: steps
// whose state was not kept are run twice, and fewer cannot be. Made from the last segment to the
// first, the long ones last, where most slots are free. Empty: some steps must be run more often.
JoinPlan plan_with_many_cuts(const JoinProblem& problem) {
  const std::int64_t branches = problem.branches();
  const std::int64_t cuts = std::min(problem.most_cuts(), problem.sum() - branches);
  std::int64_t missing = problem.sum() - branches - cuts;  // states that are not kept
  JoinPlan plan;
  std::int64_t free = problem.room();
  plan.segments.reserve(at(cuts + branches));
  for (std::int64_t branch = 0; branch < branches; ++branch) {
    const std::int64_t end = problem.steps[at(branch)];
    for (std::int64_t begin = 0; begin < end;) {
      free -= begin > 0 || problem.charged_inputs ? 1 : 0;
      const std::int64_t more = std::min({missing, free, end - begin - 1});
      if (plan.segments.size() == plan.segments.capacity()) return {};
      plan.segments.push_back({branch, begin, begin + 1 + more, 0});
      begin += 1 + more;
      missing -= more;
    }
  }
  if (missing > 0) return {};
  std::reverse(plan.segments.begin(), plan.segments.end());
  plan.exact = true;
  return plan;
}

}  // namespace

JoinPlan plan_join(const JoinProblem& problem, std::int64_t most_entries) {
  check(problem);
  if (Table::entries(problem) <= most_entries) return priced(problem, plan_with_table(problem));
  constexpr std::int64_t kBytes = std::int64_t{1} << 30;
  return priced(problem, {0, join_branch_by_branch(problem, kBytes), false});
}

JoinPlan plan_join_within(const JoinProblem& problem, std::int64_t most_bytes) {
  check(problem);
  JoinPlan many = plan_with_many_cuts(problem);
  if (!many.segments.empty()) return priced(problem, std::move(many));
  const std::int64_t entries = Table::entries(problem);
  if (entries <= kMostTerms / problem.sum() && Table::bytes(problem.steps, entries) <= most_bytes) {
    return priced(problem, plan_with_table(problem));
  }
  return priced(problem, {0, join_branch_by_branch(problem, most_bytes), false});
}

JoinPlan plan_reducible_join(const JoinProblem& problem) {
  JoinProblem alone = problem;
  alone.ends_apart = true;  // no two ends are there at a time
  check(alone);
  JoinPlan plan;
  for (const std::int64_t branch : problem.by_steps(1)) {
    plan.segments.push_back({branch, 0, problem.steps[at(branch)], 0});
  }
  plan.advances = cost_of(alone, plan.segments);
  plan.exact = true;
  return plan;
}

}  // namespace anadrome::schedule

#include "schedule/least_memory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <queue>
#include <string>

#include "base/checked.h"

namespace anadrome::schedule {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

std::size_t at(std::int64_t k) { return static_cast<std::size_t>(k); }

void check(const ChainSizes& sizes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  const auto wrong = [](const std::string& what) {
    return Error(ANADROME_ERR_ARGUMENT, "least memory: " + what);
  };
  if (sizes.steps() < 1) throw wrong("a chain has at least one step: sizes of x_0 and x_1");
  if (sizes.steps() > std::numeric_limits<std::int32_t>::max()) throw wrong("too many steps");
  if (!sizes.workspace.empty() && sizes.workspace.size() != sizes.bytes.size() - 1) {
    throw wrong("as many workspaces as steps are wanted, or none");
  }
  std::int64_t sum = 0;
  for (const std::vector<std::int64_t>* values : {&sizes.bytes, &sizes.workspace}) {
    for (const std::int64_t bytes : *values) {
      if (bytes < 0) throw wrong("a size is negative");
      sum = checked_add(sum, bytes);
      if (sum > kMost) throw wrong("sizes add up to more than 2^60 bytes");
    }
  }
}

/// The largest workspace of the steps behind a window that moves to the right.
class LargestWorkspace {
 public:
  explicit LargestWorkspace(const ChainSizes& sizes) : of_(sizes.workspace) {}

  void add(std::int64_t step) {
    if (of_.empty()) return;
    while (queue_.size() > front_ && of_[at(queue_.back())] <= of_[at(step)]) queue_.pop_back();
    queue_.push_back(step);
  }
  /// Of the steps from `first` on, which does not fall.
  std::int64_t from(std::int64_t first) {
    while (front_ < queue_.size() && queue_[front_] < first) ++front_;
    return front_ < queue_.size() ? of_[at(queue_[front_])] : 0;
  }

 private:
  const std::vector<std::int64_t>& of_;
  std::vector<std::int64_t> queue_;
  std::size_t front_ = 0;
};

/// For each k the least bytes kept in x_0 .. x_k if x_k is kept and no segment up to it breaks a
/// bound, and the kept state before it.
class Sweep {
 public:
  explicit Sweep(const ChainSizes& sizes)
      : sizes_(sizes), sums_(sizes.bytes.size() + 1), before_(sizes.bytes.size()) {
    for (std::size_t k = 0; k < sizes.bytes.size(); ++k) sums_[k + 1] = sums_[k] + sizes.bytes[k];
  }

  /// Bytes of x_i .. x_{j-1}.
  std::int64_t sum(std::int64_t i, std::int64_t j) const { return sums_[at(j)] - sums_[at(i)]; }

  /// With at most `bound` bytes beside the kept states in any segment: what is kept but x_0.
  std::optional<std::int64_t> within(std::int64_t bound) {
    const std::int64_t n = sizes_.steps();
    return run(0, [&](const Candidate& last, std::int64_t k, std::int64_t workspace) {
      return sum(last.state + 1, k == n ? k + 1 : k) + workspace <= bound;
    });
  }

  /// Of the steps begin .. end-1 with all their states, where kept states are given up.
  std::int64_t segment(std::int64_t begin, std::int64_t end, Accounting accounting) const {
    if (accounting == Accounting::kReleased) return sum(begin + 1, end + 1);
    return end - 1 > begin ? sum(begin + 1, end - 1) : 0;
  }

  /// With a peak of at most `peak`, likewise.
  bool fits(std::int64_t peak, Accounting accounting) {
    return run(sizes_.bytes[0],
               [&](const Candidate& last, std::int64_t k, std::int64_t workspace) {
                 return last.kept + segment(last.state, k, accounting) + workspace <= peak;
               })
        .has_value();
  }

  /// Of the last answer.
  std::vector<std::int64_t> kept() const {
    std::vector<std::int64_t> states;
    for (std::int64_t k = before_.back(); k > 0; k = before_[at(k)]) states.push_back(k);
    std::reverse(states.begin(), states.end());
    return states;
  }

 private:
  struct Candidate {
    std::int64_t kept;  ///< bytes, its own included
    std::int32_t state;
  };

  // A later j with less kept before it is never worse: neither condition gets harder. So the
  // candidates are a queue that rises, and what its front does not admit is admitted never again.
  template <class Admits>
  std::optional<std::int64_t> run(std::int64_t start, const Admits& admits) {
    const std::int64_t n = sizes_.steps();
    LargestWorkspace workspace(sizes_);
    queue_.clear();
    std::size_t front = 0;
    queue_.push_back({start, 0});
    for (std::int64_t k = 1;; ++k) {
      workspace.add(k - 1);
      while (front < queue_.size() &&
             !admits(queue_[front], k, workspace.from(queue_[front].state))) {
        ++front;
      }
      if (front == queue_.size()) return std::nullopt;
      before_[at(k)] = queue_[front].state;
      const std::int64_t kept = queue_[front].kept;
      if (k == n) return kept;
      const Candidate here{kept + sizes_.bytes[at(k)], static_cast<std::int32_t>(k)};
      while (queue_.size() > front && queue_.back().kept >= here.kept) queue_.pop_back();
      queue_.push_back(here);
    }
  }

  const ChainSizes& sizes_;
  std::vector<std::int64_t> sums_;
  std::vector<std::int32_t> before_;
  std::vector<Candidate> queue_;
};

// The largest segment beside the kept states.
std::int64_t largest_segment(const ChainSizes& sizes, const Sweep& sweep,
                             const std::vector<std::int64_t>& kept) {
  std::int64_t largest = 0, begin = 0;
  for (std::size_t i = 0; i <= kept.size(); ++i) {
    const bool last = i == kept.size();
    const std::int64_t end = last ? sizes.steps() : kept[i];
    std::int64_t bytes = sweep.sum(begin + 1, last ? end + 1 : end);
    if (!sizes.workspace.empty()) {
      bytes += *std::max_element(sizes.workspace.begin() + begin, sizes.workspace.begin() + end);
    }
    largest = std::max(largest, bytes);
    begin = end;
  }
  return largest;
}

LeastMemory least_released(const ChainSizes& sizes, Accounting accounting) {
  Sweep sweep(sizes);
  std::int64_t low = 0, high = sweep.sum(0, sizes.steps() + 1);
  for (const std::int64_t bytes : sizes.workspace) high += bytes;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (sweep.fits(middle, accounting)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  sweep.fits(high, accounting);
  return {high, high, sweep.kept()};
}

/// The search for the best bound S on a segment: what is kept, f(S), falls with S and is constant
/// from the largest segment of its solution up to S. Between two bounds that were tried nothing is
/// below the lower one, plus a byte, and f of the upper one.
class BoundSearch {
 public:
  BoundSearch(const ChainSizes& sizes, std::int64_t most_visits)
      : sizes_(sizes), sweep_(sizes), most_tries_(most_visits / (sizes.steps() + 1)) {}

  LeastMemory run() {
    std::int64_t most = sweep_.sum(1, sizes_.steps() + 1), least = sizes_.bytes.back();
    std::int64_t workspace = 0;
    for (const std::int64_t bytes : sizes_.workspace) workspace = std::max(workspace, bytes);
    most += workspace;
    if (!sizes_.workspace.empty()) least = std::max(least + sizes_.workspace.back(), workspace);
    const Tried high = try_bound(most), low = try_bound(least);
    between(low, high);
    std::int64_t tries = 2;
    while (!open_.empty() && open_.top().no_less < best_.peak) {
      if (tries++ >= most_tries_ && tries > 16) {
        best_.lower_bound = open_.top().no_less;
        return best_;
      }
      const Gap gap = open_.top();
      open_.pop();
      const std::int64_t middle = gap.low.bound + (gap.high.segment - gap.low.bound) / 2;
      const Tried tried = try_bound(middle);
      if (tried.segment > gap.low.bound) between(gap.low, tried);
      between({middle, middle, tried.kept}, gap.high);
    }
    best_.lower_bound = best_.peak;
    return best_;
  }

 private:
  struct Tried {
    std::int64_t bound, segment, kept;
  };
  struct Gap {
    std::int64_t no_less;
    Tried low, high;
    bool operator<(const Gap& other) const { return no_less > other.no_less; }
  };

  Tried try_bound(std::int64_t bound) {
    const std::optional<std::int64_t> least = sweep_.within(bound);
    if (!least) throw Error(ANADROME_ERR_INTERNAL, "least memory: a bound that must hold does not");
    std::vector<std::int64_t> kept = sweep_.kept();
    const std::int64_t segment = largest_segment(sizes_, sweep_, kept);
    const std::int64_t peak = sizes_.bytes[0] + *least + segment;
    if (peak < best_.peak) best_ = {peak, 0, std::move(kept)};
    return {bound, segment, *least};
  }

  void between(const Tried& low, const Tried& high) {
    if (high.segment - low.bound < 2 || low.kept == high.kept) return;
    open_.push({sizes_.bytes[0] + low.bound + 1 + high.kept, low, high});
  }

  const ChainSizes& sizes_;
  Sweep sweep_;
  std::int64_t most_tries_;
  LeastMemory best_{kNever, 0, {}};
  std::priority_queue<Gap> open_;
};

}  // namespace

LeastMemory least_memory(const ChainSizes& sizes, Accounting accounting, std::int64_t most_visits) {
  check(sizes);
  if (accounting != Accounting::kStatic) return least_released(sizes, accounting);
  return BoundSearch(sizes, most_visits).run();
}

std::int64_t peak_of(const ChainSizes& sizes, Accounting accounting,
                     const std::vector<std::int64_t>& kept) {
  check(sizes);
  const Sweep sweep(sizes);
  std::int64_t held = sizes.bytes[0];
  if (accounting == Accounting::kStatic) {
    for (const std::int64_t k : kept) held += sizes.bytes[at(k)];
    return held + largest_segment(sizes, sweep, kept);
  }
  std::int64_t peak = 0, begin = 0;
  for (std::size_t i = 0; i <= kept.size(); ++i) {
    const std::int64_t end = i == kept.size() ? sizes.steps() : kept[i];
    std::int64_t bytes = held + sweep.segment(begin, end, accounting);
    if (!sizes.workspace.empty()) {
      bytes += *std::max_element(sizes.workspace.begin() + begin, sizes.workspace.begin() + end);
    }
    peak = std::max(peak, bytes);
    held += sizes.bytes[at(end)];
    begin = end;
  }
  return peak;
}

// With P slots the segments have P + 1, P, .. , 2 steps.
std::int64_t least_slots(std::int64_t steps) {
  const auto fit = [](std::int64_t slots) {
    return static_cast<uint128>(slots) * static_cast<uint128>(slots + 3) / 2;
  };
  auto slots = static_cast<std::int64_t>(std::sqrt(2 * static_cast<double>(steps)));
  while (slots > 1 && fit(slots - 1) >= static_cast<uint128>(steps)) --slots;
  while (slots < 1 || fit(slots) < static_cast<uint128>(steps)) ++slots;
  return slots;
}

std::unique_ptr<Planner> least_memory_of_equal_states(std::int64_t steps) {
  ChainSizes sizes;
  sizes.bytes.assign(at(steps + 1), 1);
  LeastMemory least = least_memory(sizes, Accounting::kPlayed);
  return std::make_unique<LeastMemoryPlanner>(std::move(sizes.bytes), std::move(least.kept));
}

LeastMemoryPlanner::LeastMemoryPlanner(std::vector<std::int64_t> bytes,
                                       std::vector<std::int64_t> kept)
    : bytes_(std::move(bytes)), kept_(std::move(kept)) {}

std::int64_t LeastMemoryPlanner::state_units(std::int64_t step) const { return bytes_[at(step)]; }

std::vector<std::int64_t>::const_iterator LeastMemoryPlanner::first_above(std::int64_t step) const {
  return std::upper_bound(kept_.begin(), kept_.end(), step);
}

Placement LeastMemoryPlanner::place(const Segment& segment) {
  if (segment.held == Place::kNowhere) return {Place::kRam, 0};
  const auto next = first_above(segment.first);
  const bool to_next = next != kept_.cend() && *next < segment.last;
  return {Place::kNowhere, to_next ? *next - segment.first : 1};
}

// Every segment but the last is run twice up to its end, less the last step, which is live then.
uint128 LeastMemoryPlanner::advances(const Segment& segment) {
  const std::int64_t steps = segment.last - segment.first;
  if (steps < 2) return 0;
  const auto next = first_above(segment.first);
  const auto end = std::lower_bound(next, kept_.cend(), segment.last);
  if (next == end) return static_cast<uint128>(steps - 1);
  const std::int64_t last_begin = *(end - 1);
  const auto segments = static_cast<std::int64_t>(end - next);
  return static_cast<uint128>(last_begin - segment.first + (last_begin - segment.first - segments) +
                              (segment.last - last_begin - 1));
}

}  // namespace anadrome::schedule

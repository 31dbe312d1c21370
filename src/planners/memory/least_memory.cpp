// SPDX-License-Identifier: BSD-2-Clause
#include "planners/memory/least_memory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <queue>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/index.h"

namespace anadrome::schedule {
namespace {

void check(const ChainSizes& sizes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  const auto wrong = [](const std::string& what) {
    return Error(ANADROME_ERR_ARGUMENT, "least memory: " + what);
  };
  if (sizes.steps() < 1) throw wrong("a chain has at least one step: sizes of x_0 and x_1");
  if (sizes.steps() > std::numeric_limits<std::int32_t>::max()) throw wrong("too many steps");
  std::int64_t sum = 0;
  for (const std::int64_t bytes : sizes.bytes) {
    if (bytes < 0) throw wrong("a size is negative");
    sum = checked_add(sum, bytes);
    if (sum > kMost) throw wrong("sizes add up to more than 2^60 bytes");
  }
}

/// For each k the least bytes kept in x_0 .. x_k if x_k is kept and no segment up to it breaks a
/// bound, and the kept state before it.
class ChainSweep {
 public:
  struct Candidate {
    std::int64_t kept;  ///< bytes, its own included
    std::int32_t state;
  };

  explicit ChainSweep(const ChainSizes& sizes)
      : sizes_(sizes), sums_(sizes.bytes.size() + 1), before_(sizes.bytes.size()) {
    check(sizes);
    for (std::size_t k = 0; k < sizes.bytes.size(); ++k) sums_[k + 1] = sums_[k] + sizes.bytes[k];
  }

  /// Bytes of x_i .. x_{j-1}.
  std::int64_t sum(std::int64_t i, std::int64_t j) const { return sums_[at(j)] - sums_[at(i)]; }

  /// The bytes kept, x_0 counted as `start`. admits(last, k): may the segment from the kept state
  /// `last` to x_k be? A later `last` with less kept is never worse, and what is not admitted once
  /// is not admitted for a larger k.
  template <class Admits>
  std::optional<std::int64_t> run(std::int64_t start, const Admits& admits) {
    const std::int64_t n = sizes_.steps();
    queue_.clear();  // rises
    std::size_t front = 0;
    queue_.push_back({start, 0});
    for (std::int64_t k = 1;; ++k) {
      while (front < queue_.size() && !admits(queue_[front], k)) ++front;
      if (front == queue_.size()) return std::nullopt;
      before_[at(k)] = queue_[front].state;
      const std::int64_t kept = queue_[front].kept;
      if (k == n) return kept;
      const Candidate here{kept + sizes_.bytes[at(k)], static_cast<std::int32_t>(k)};
      while (queue_.size() > front && queue_.back().kept >= here.kept) queue_.pop_back();
      queue_.push_back(here);
    }
  }

  /// The states that the last answer of run() keeps.
  std::vector<std::int64_t> kept() const {
    std::vector<std::int64_t> states;
    for (std::int64_t k = before_.back(); k > 0; k = before_[at(k)]) states.push_back(k);
    std::reverse(states.begin(), states.end());
    return states;
  }

 private:
  const ChainSizes& sizes_;
  std::vector<std::int64_t> sums_;
  std::vector<std::int32_t> before_;
  std::vector<Candidate> queue_;
};

/// Where kept states stay: the search for the best bound S on a segment. What is kept, f(S), falls
/// with S and is constant from the largest segment of its solution up to S. Between two bounds that
/// were tried nothing is below the lower one, plus a byte, and f of the upper one.
class BoundSearch {
 public:
  BoundSearch(const ChainSizes& sizes, std::int64_t most_visits)
      : sizes_(sizes), sweep_(sizes), most_tries_(most_visits / (sizes.steps() + 1)) {}

  LeastMemory run() {
    const Tried high = try_bound(sweep_.sum(1, sizes_.steps() + 1));
    between(try_bound(sizes_.bytes.back()), high);
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

  /// Bytes between the kept x_begin and x_end, which is kept, too, unless it is the last one.
  std::int64_t segment(std::int64_t begin, std::int64_t end) const {
    return sweep_.sum(begin + 1, end == sizes_.steps() ? end + 1 : end);
  }

  /// With at most `bound` bytes in any segment.
  Tried try_bound(std::int64_t bound) {
    const std::optional<std::int64_t> least =
        sweep_.run(0, [&](const ChainSweep::Candidate& last, std::int64_t k) {
          return segment(last.state, k) <= bound;
        });
    if (!least) throw Error(ANADROME_ERR_INTERNAL, "least memory: a bound that must hold does not");
    std::vector<std::int64_t> kept = sweep_.kept();
    std::int64_t largest = 0, begin = 0;
    for (std::size_t i = 0; i <= kept.size(); ++i) {
      const std::int64_t end = i < kept.size() ? kept[i] : sizes_.steps();
      largest = std::max(largest, segment(begin, end));
      begin = end;
    }
    const std::int64_t peak = sizes_.bytes[0] + *least + largest;
    if (peak < best_.peak) best_ = {peak, 0, std::move(kept)};
    return {bound, largest, *least};
  }

  void between(const Tried& low, const Tried& high) {
    if (high.segment - low.bound < 2 || low.kept == high.kept) return;
    open_.push({sizes_.bytes[0] + low.bound + 1 + high.kept, low, high});
  }

  const ChainSizes& sizes_;
  ChainSweep sweep_;
  std::int64_t most_tries_;
  LeastMemory best_{std::numeric_limits<std::int64_t>::max(), 0, {}};
  std::priority_queue<Gap> open_;
};

}  // namespace

LeastMemory least_memory(const ChainSizes& sizes, Accounting accounting) {
  ChainSweep sweep(sizes);
  const auto segment = [&](std::int64_t begin, std::int64_t end) {
    if (accounting == Accounting::kReleased) return sweep.sum(begin + 1, end + 1);
    return end - 1 > begin ? sweep.sum(begin + 1, end - 1) : 0;
  };
  const auto fits = [&](std::int64_t peak) {
    return sweep
        .run(sizes.bytes[0],
             [&](const ChainSweep::Candidate& last, std::int64_t k) {
               return last.kept + segment(last.state, k) <= peak;
             })
        .has_value();
  };
  std::int64_t low = 0, high = sweep.sum(0, sizes.steps() + 1);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (fits(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  fits(high);
  return {high, high, sweep.kept()};
}

LeastMemory least_static_memory(const ChainSizes& sizes, std::int64_t most_visits) {
  return BoundSearch(sizes, most_visits).run();
}

// With P slots the segments have P + 1, P, .. , 2 steps.
std::int64_t least_slots(std::int64_t steps) {
  const auto fit = [](std::int64_t slots) { return wide(slots) * wide(slots + 3) / 2; };
  auto slots = static_cast<std::int64_t>(std::sqrt(2 * real(steps)));
  while (slots > 1 && fit(slots - 1) >= wide(steps)) --slots;
  while (slots < 1 || fit(slots) < wide(steps)) ++slots;
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
  if (next == end) return wide(steps - 1);
  const std::int64_t last_begin = *(end - 1);
  const auto segments = static_cast<std::int64_t>(end - next);
  return wide(last_begin - segment.first + (last_begin - segment.first - segments) +
              (segment.last - last_begin - 1));
}

}  // namespace anadrome::schedule

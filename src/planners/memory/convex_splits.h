// SPDX-License-Identifier: BSD-2-Clause
// The least of a(j) + e(n - j) over j < n, for growing n and a convex e, in O(log n) each.
//
// As e is convex, what a later j is dearer by shrinks as n grows: once a later j is cheaper it
// stays so. The candidates are therefore a queue, each with the n from which it is the cheapest
// (Galil & Giancarlo 1989, concave least-weight subsequences).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/index.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {

class ConvexSplits {
 public:
  struct Best {
    std::int64_t at = 0;
    uint128 cost = 0;
  };

  /// `convex`: e(0) .. e(end - 1), convex from e(1) on. Not copied.
  explicit ConvexSplits(const std::vector<uint128>& convex) : convex_(convex) {}

  /// A candidate j = `at` with a(at) = `cost`; `at` grows from call to call.
  void add(std::int64_t at, uint128 cost) {
    Candidate candidate{at, cost, 0};
    while (queue_.size() > front_) {
      candidate.from = takes_over(queue_.back(), candidate);
      if (candidate.from >= end()) return;
      if (queue_.size() == front_ + 1 || candidate.from > queue_.back().from) break;
      queue_.pop_back();
    }
    queue_.push_back(candidate);
  }

  /// The least j among the cheapest; 0 < n < end, larger than every candidate, and growing.
  Best best(std::int64_t n) {
    while (front_ + 1 < queue_.size() && queue_[front_ + 1].from <= n) ++front_;
    return {queue_[front_].at, cost(queue_[front_], n)};
  }

 private:
  struct Candidate {
    std::int64_t at;
    uint128 cost;
    std::int64_t from;  ///< the first n at which it is cheaper than the one before
  };

  std::int64_t end() const { return std::ssize(convex_); }
  uint128 cost(const Candidate& candidate, std::int64_t n) const {
    return candidate.cost + convex_[size(n - candidate.at)];
  }
  /// The first n at which `newer` is cheaper; end() if there is none.
  std::int64_t takes_over(const Candidate& older, const Candidate& newer) const {
    std::int64_t low = newer.at + 1, high = end();
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (cost(newer, middle) < cost(older, middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  const std::vector<uint128>& convex_;
  std::vector<Candidate> queue_;
  std::size_t front_ = 0;
};

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/memory/convex_splits.h"

namespace anadrome::schedule {

// The first n at which `newer` is cheaper; end() if there is none.
std::int64_t ConvexSplits::takes_over(const Candidate& older, const Candidate& newer) const {
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

void ConvexSplits::add(std::int64_t at, uint128 cost) {
  Candidate candidate{at, cost, 0};
  while (queue_.size() > front_) {
    candidate.from = takes_over(queue_.back(), candidate);
    if (candidate.from >= end()) return;
    if (queue_.size() == front_ + 1 || candidate.from > queue_.back().from) break;
    queue_.pop_back();
  }
  queue_.push_back(candidate);
}

ConvexSplits::Best ConvexSplits::best(std::int64_t n) {
  while (front_ + 1 < queue_.size() && queue_[front_ + 1].from <= n) ++front_;
  return {queue_[front_].at, cost(queue_[front_], n)};
}

}  // namespace anadrome::schedule

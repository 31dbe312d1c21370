// SPDX-License-Identifier: BSD-2-Clause
// The sweep over the states of a chain that finds which of them to keep, whatever may not be more
// than a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/index.h"
#include "planners/memory/least_memory.h"

namespace anadrome::schedule {

/// For each k the least bytes kept in x_0 .. x_k if x_k is kept and no segment up to it breaks a
/// bound, and the kept state before it.
class ChainSweep {
 public:
  struct Candidate {
    std::int64_t kept;  ///< bytes, its own included
    std::int32_t state;
  };

  /// Throws as least_memory does.
  explicit ChainSweep(const ChainSizes& sizes);

  /// Bytes of x_i .. x_{j-1}.
  std::int64_t sum(std::int64_t i, std::int64_t j) const { return sums_[at(j)] - sums_[at(i)]; }

  /// Bytes of the steps begin .. end-1 with all their states, where kept states are given up.
  std::int64_t segment(std::int64_t begin, std::int64_t end, Accounting accounting) const {
    if (accounting == Accounting::kReleased) return sum(begin + 1, end + 1);
    return end - 1 > begin ? sum(begin + 1, end - 1) : 0;
  }

  /// The bytes kept, x_0 counted as `start`. admits(last, k, workspace): may the segment from the
  /// kept state `last` to x_k be, with the largest workspace of its steps? A later `last` with less
  /// kept is never worse, and what is not admitted once is not admitted for a larger k.
  template <class Admits>
  std::optional<std::int64_t> run(std::int64_t start, const Admits& admits) {
    const std::int64_t n = sizes_.steps();
    LargestWorkspace workspace(sizes_);
    queue_.clear();  // rises
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

  /// The states that the last answer of run() keeps.
  std::vector<std::int64_t> kept() const;

 private:
  /// The largest workspace of the steps behind a window that moves to the right.
  class LargestWorkspace {
   public:
    explicit LargestWorkspace(const ChainSizes& sizes) : of_(sizes.workspace) {}

    void add(std::int64_t step) {
      if (of_.empty()) return;
      while (queue_.size() > front_ && of_[at(queue_.back())] <= of_[at(step)]) queue_.pop_back();
      queue_.push_back(step);
    }
    /// The largest of the steps from `first` on, which does not fall.
    std::int64_t from(std::int64_t first) {
      while (front_ < queue_.size() && queue_[front_] < first) ++front_;
      return front_ < queue_.size() ? of_[at(queue_[front_])] : 0;
    }

   private:
    const std::vector<std::int64_t>& of_;
    std::vector<std::int64_t> queue_;
    std::size_t front_ = 0;
  };

  const ChainSizes& sizes_;
  std::vector<std::int64_t> sums_;
  std::vector<std::int32_t> before_;
  std::vector<Candidate> queue_;
};

}  // namespace anadrome::schedule

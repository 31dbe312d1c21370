// SPDX-License-Identifier: BSD-2-Clause
#include "planners/questions/static_memory.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <queue>
#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "planners/memory/chain_sweep.h"

namespace anadrome::questions {
namespace {

using schedule::ChainSizes;
using schedule::ChainSweep;
using schedule::LeastMemory;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// The largest segment beside the kept states, with the most workspace of its steps.
std::int64_t largest_segment(const ChainSizes& sizes, const ChainSweep& sweep,
                             std::vector<std::int64_t> ends) {
  ends.push_back(sizes.steps());
  std::int64_t largest = 0, begin = 0;
  for (const std::int64_t end : ends) {
    const auto first = sizes.workspace.begin();
    const std::int64_t workspace =
        sizes.workspace.empty() ? 0 : *std::max_element(first + begin, first + end);
    const bool last = end == sizes.steps();
    largest = std::max(largest, sweep.sum(begin + 1, last ? end + 1 : end) + workspace);
    begin = end;
  }
  return largest;
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

  /// With at most `bound` bytes beside the kept states in any segment: what is kept but x_0.
  std::optional<std::int64_t> within(std::int64_t bound) {
    const std::int64_t n = sizes_.steps();
    return sweep_.run(
        0, [&](const ChainSweep::Candidate& last, std::int64_t k, std::int64_t workspace) {
          return sweep_.sum(last.state + 1, k == n ? k + 1 : k) + workspace <= bound;
        });
  }

  Tried try_bound(std::int64_t bound) {
    const std::optional<std::int64_t> least = within(bound);
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
  ChainSweep sweep_;
  std::int64_t most_tries_;
  LeastMemory best_{kNever, 0, {}};
  std::priority_queue<Gap> open_;
};

}  // namespace

LeastMemory least_static_memory(const ChainSizes& sizes, std::int64_t most_visits) {
  return BoundSearch(sizes, most_visits).run();
}

}  // namespace anadrome::questions

// SPDX-License-Identifier: BSD-2-Clause
#include "pass_search.h"

#include <algorithm>
#include <bit>
#include <deque>

namespace anadrome::schedule {
namespace {

class PassSearch {
 public:
  PassSearch(const SmallPasses& problem, unsigned anchors)
      : problem_(problem),
        n_(problem.steps),
        units_(problem.slots - (anchors != 0 ? 1 : 0)),
        anchors_(anchors),
        parts_(static_cast<int>(problem.passes.size()) + 1),
        sets_(1 << n_) {
    least_.assign(static_cast<std::size_t>(parts_ * (n_ + 2) * (n_ + 2) * sets_), -1);
  }

  // Steps cost one, all else nothing: nodes that are reached for nothing go first.
  std::int64_t run() {
    reach({0, 0, 0, 0}, 0, true);
    while (!open_.empty()) {
      const auto [node, steps] = open_.front();
      open_.pop_front();
      if (steps != least_[index(node)]) continue;
      if (node.part == parts_) return steps;
      expand(node, steps);
    }
    return -1;
  }

 private:
  /// `done` steps of the part, TURN among those of the sweep; live: n + 1 if no state is.
  struct Node {
    int part, done, live;
    unsigned ram;
  };
  struct Open {
    Node node;
    std::int64_t steps;
  };

  std::size_t index(const Node& node) const {
    const int place = (node.part * (n_ + 2) + node.done) * (n_ + 2) + node.live;
    return static_cast<std::size_t>(place * sets_) + node.ram;
  }
  /// The state that the part needs next.
  int needed(const Node& node) const {
    if (node.part == 0) return n_ - node.done;
    const Direction direction = problem_.passes[static_cast<std::size_t>(node.part - 1)];
    return direction == Direction::kForward ? node.done : n_ - 1 - node.done;
  }

  void reach(Node node, std::int64_t steps, bool for_nothing) {
    const int all = node.part == 0 ? n_ + 1 : n_;
    if (node.done == all) node = {node.part + 1, 0, n_ + 1, node.ram};
    if (node.part == parts_) {
      end_.push_back(steps);
      node = {parts_, 0, 0, 0};
      least_.resize(std::max(least_.size(), index(node) + 1), -1);
    }
    std::int64_t& known = least_[index(node)];
    if (known >= 0 && known <= steps) return;
    known = steps;
    if (for_nothing) {
      open_.push_front({node, steps});
    } else {
      open_.push_back({node, steps});
    }
  }

  void expand(const Node& node, std::int64_t steps) {
    const int live = node.live;
    if (live == needed(node)) {
      const bool stays =
          node.part > 0 &&
          problem_.passes[static_cast<std::size_t>(node.part - 1)] == Direction::kForward;
      reach({node.part, node.done + 1, stays ? live : n_ + 1, node.ram}, steps, true);
    }
    if (live < n_) reach({node.part, node.done, live + 1, node.ram}, steps + 1, false);
    const bool may_keep = live < n_ && std::popcount(node.ram) < units_;
    if (may_keep) reach({node.part, node.done, live, node.ram | 1U << live}, steps, true);
    // An anchor is there once the sweep forward has passed it, and x_n was live before all else.
    for (int step = 0; step < n_; ++step) {
      const unsigned one = 1U << step;
      const bool on_disk = (anchors_ & one) != 0 && (node.part > 0 || node.done > 0);
      if (on_disk || (node.ram & one) != 0) {
        reach({node.part, node.done, step, node.ram}, steps, true);
      }
      if ((node.ram & one) != 0) {
        reach({node.part, node.done, live, node.ram & ~one}, steps, true);
      }
    }
  }

  const SmallPasses& problem_;
  int n_, units_;
  unsigned anchors_;
  int parts_, sets_;
  std::vector<std::int64_t> least_, end_;
  std::deque<Open> open_;
};

}  // namespace

std::int64_t fewest_steps(const SmallPasses& problem) {
  if (problem.anchors == 0) return PassSearch(problem, 0).run();
  std::int64_t fewest = -1;
  for (unsigned set = 1; set < 1U << problem.steps; set += 2) {
    if (std::popcount(set) != std::min(problem.anchors, problem.steps)) continue;  // none costs
    const std::int64_t steps = PassSearch(problem, set).run();
    fewest = fewest < 0 ? steps : std::min(fewest, steps);
  }
  return fewest;
}

}  // namespace anadrome::schedule

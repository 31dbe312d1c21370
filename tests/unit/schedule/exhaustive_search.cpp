// SPDX-License-Identifier: BSD-2-Clause
#include "exhaustive_search.h"

#include <bit>
#include <numeric>
#include <queue>
#include <unordered_map>

namespace anadrome::schedule {
namespace {

class Search {
 public:
  explicit Search(const SmallReversal& problem) : problem_(problem), n_(problem.steps) {
    const auto n = static_cast<std::size_t>(n_);
    if (problem_.step_cost.empty()) problem_.step_cost.assign(n, 1);
    if (problem_.state_units.empty()) problem_.state_units.assign(n, 1);
  }

  std::int64_t run() {
    reach({0, n_ - 1, 0, 0, 0, 0});
    while (!open_.empty()) {
      const Node node = open_.top();
      open_.pop();
      if (node.adjoint < 0) return node.cost - total_cost();
      if (node.cost == least_.at(key(node))) expand(node);
    }
    return -1;
  }

 private:
  struct Node {
    std::int64_t cost;
    int adjoint, live;  ///< live: n if no state is
    std::size_t states, tapes, disk;
    bool operator<(const Node& other) const { return cost > other.cost; }
  };

  std::int64_t total_cost() const {
    return std::accumulate(problem_.step_cost.begin(), problem_.step_cost.end(), std::int64_t{0});
  }
  static std::size_t key(const Node& node) {
    const auto place = static_cast<std::size_t>(node.adjoint << 4 | node.live);
    return ((place << 10 | node.states) << 10 | node.tapes) << 10 | node.disk;
  }
  static bool in(std::size_t set, int step) { return (set >> step & 1) != 0; }
  std::int64_t cost_of(int step) const {
    return problem_.step_cost[static_cast<std::size_t>(step)];
  }
  std::int64_t used(const Node& node) const {
    std::int64_t units = 0;
    for (int step = 0; step < n_; ++step) {
      if (in(node.states, step)) units += problem_.state_units[static_cast<std::size_t>(step)];
      if (in(node.tapes, step)) units += problem_.tape_units;
    }
    return units;
  }

  void reach(Node node) {
    if (node.adjoint >= 0) {
      // States beyond the step to be adjoined are of no use.
      const std::size_t useful = (std::size_t{2} << node.adjoint) - 1;
      node.states &= useful;
      node.tapes &= useful;
      node.disk &= useful;
      if (used(node) > problem_.units || std::popcount(node.disk) > problem_.disk_slots) return;
      const auto [known, is_new] = least_.try_emplace(key(node), node.cost);
      if (!is_new && node.cost >= known->second) return;
      known->second = node.cost;
    }
    open_.push(node);
  }

  void expand(const Node& node) {
    const std::size_t bit = std::size_t{1} << node.live;
    const auto go = [&](std::int64_t cost, auto&& change) {
      Node next = node;
      next.cost += cost;
      change(next);
      reach(next);
    };
    const auto adjoin = [&](Node& next) {
      --next.adjoint;
      next.live = n_;
    };
    if (node.live == node.adjoint) go(cost_of(node.live), adjoin);
    if (in(node.tapes, node.adjoint)) go(0, adjoin);
    if (node.live < node.adjoint) {
      const std::int64_t cost = cost_of(node.live);
      go(cost, [&](Node& next) { ++next.live; });
      if (problem_.states_are_kept) go(0, [&](Node& next) { next.states |= bit; });
      if (problem_.disk_slots > 0) go(problem_.write, [&](Node& next) { next.disk |= bit; });
      for (const std::size_t kept : {~std::size_t{0}, ~bit}) {
        if (problem_.tape_units == 0) break;
        go(cost, [&](Node& next) {  // it can make room for its tape: x_k is not needed any more
          ++next.live;
          next.tapes |= bit;
          next.states &= kept;
        });
      }
    }
    if (problem_.start_is_free) go(0, [](Node& next) { next.live = 0; });
    for (int step = 0; step <= node.adjoint; ++step) {
      const std::size_t one = std::size_t{1} << step;
      if (in(node.states, step)) {
        go(0, [&](Node& next) { next.live = step; });
        go(0, [&](Node& next) { next.states &= ~one; });
      }
      if (in(node.tapes, step)) {
        if (problem_.tape_restarts) go(0, [&](Node& next) { next.live = step + 1; });
        go(0, [&](Node& next) { next.tapes &= ~one; });
      }
      if (in(node.disk, step)) {
        go(problem_.read, [&](Node& next) { next.live = step; });
        go(0, [&](Node& next) { next.disk &= ~one; });
      }
    }
  }

  SmallReversal problem_;
  int n_;
  std::unordered_map<std::size_t, std::int64_t> least_;
  std::priority_queue<Node> open_;
};

}  // namespace

std::int64_t least_extra_cost(const SmallReversal& problem) { return Search(problem).run(); }

}  // namespace anadrome::schedule

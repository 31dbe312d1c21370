// SPDX-License-Identifier: BSD-2-Clause
#include "exhaustive_search.h"

#include <limits>
#include <numeric>
#include <queue>

namespace anadrome::schedule {
namespace {

class Search {
 public:
  explicit Search(const SmallReversal& problem) : problem_(problem), n_(problem.steps) {
    const auto n = static_cast<std::size_t>(n_);
    if (problem_.step_cost.empty()) problem_.step_cost.assign(n, 1);
    if (problem_.state_units.empty()) problem_.state_units.assign(n, 1);
    sets_ = std::size_t{1} << n;
    tape_sets_ = problem_.tape_units > 0 ? sets_ : 1;
    least_.assign(n * (n + 1) * sets_ * tape_sets_, std::numeric_limits<std::int64_t>::max());
  }

  std::int64_t run() {
    reach({0, n_ - 1, 0, 0, 0});
    while (!open_.empty()) {
      const Node node = open_.top();
      open_.pop();
      if (node.adjoint < 0) return node.cost - total_cost();
      if (node.cost == least_[index(node)]) expand(node);
    }
    return -1;
  }

 private:
  struct Node {
    std::int64_t cost;
    int adjoint, live;  ///< live: n if no state is
    std::size_t states, tapes;
    bool operator<(const Node& other) const { return cost > other.cost; }
  };

  std::int64_t total_cost() const {
    return std::accumulate(problem_.step_cost.begin(), problem_.step_cost.end(), std::int64_t{0});
  }
  std::size_t index(const Node& node) const {
    const auto place = static_cast<std::size_t>(node.adjoint * (n_ + 1) + node.live);
    return (place * sets_ + node.states) * tape_sets_ + node.tapes;
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
      if (used(node) > problem_.units) return;
      std::int64_t& known = least_[index(node)];
      if (node.cost >= known) return;
      known = node.cost;
    }
    open_.push(node);
  }

  void expand(const Node& node) {
    const std::size_t bit = std::size_t{1} << node.live;
    if (node.live == node.adjoint) {
      reach({node.cost + cost_of(node.live), node.adjoint - 1, n_, node.states, node.tapes});
    }
    if (in(node.tapes, node.adjoint)) {
      reach({node.cost, node.adjoint - 1, n_, node.states, node.tapes});
    }
    if (node.live < node.adjoint) {
      const std::int64_t cost = node.cost + cost_of(node.live);
      reach({cost, node.adjoint, node.live + 1, node.states, node.tapes});
      if (problem_.states_are_kept) {
        reach({node.cost, node.adjoint, node.live, node.states | bit, node.tapes});
      }
      if (problem_.tape_units >
          0) {  // a step can make room for its tape: x_k is not needed any more
        reach({cost, node.adjoint, node.live + 1, node.states, node.tapes | bit});
        reach({cost, node.adjoint, node.live + 1, node.states & ~bit, node.tapes | bit});
      }
    }
    if (problem_.start_is_free) reach({node.cost, node.adjoint, 0, node.states, node.tapes});
    for (int step = 0; step <= node.adjoint; ++step) {
      const std::size_t one = std::size_t{1} << step;
      if (in(node.states, step)) {
        reach({node.cost, node.adjoint, step, node.states, node.tapes});
        reach({node.cost, node.adjoint, node.live, node.states & ~one, node.tapes});
      }
      if (in(node.tapes, step)) {
        if (problem_.tape_restarts) {
          reach({node.cost, node.adjoint, step + 1, node.states, node.tapes});
        }
        reach({node.cost, node.adjoint, node.live, node.states, node.tapes & ~one});
      }
    }
  }

  SmallReversal problem_;
  int n_;
  std::size_t sets_ = 1, tape_sets_ = 1;
  std::vector<std::int64_t> least_;
  std::priority_queue<Node> open_;
};

}  // namespace

std::int64_t least_extra_cost(const SmallReversal& problem) { return Search(problem).run(); }

}  // namespace anadrome::schedule

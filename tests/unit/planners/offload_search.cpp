// SPDX-License-Identifier: BSD-2-Clause
#include "offload_search.h"

#include <algorithm>
#include <map>
#include <queue>
#include <stdexcept>
#include <tuple>

namespace anadrome::schedule {
namespace {

constexpr int kNoWork = -1;

struct OffloadNode {
  int todo;                  ///< the next step to be adjoined
  int highest;               ///< of the states that were made
  int op = kNoWork;          ///< of a forward step its number, of an adjoint n + its number
  std::int64_t op_rest = 0;  ///< time it still takes
  int transfer = kNoWork;    ///< of a write the state, of a read n + the state
  std::int64_t transfer_rest = 0;
  unsigned resident = 1, slow = 0;  ///< sets of states
  auto operator<=>(const OffloadNode&) const = default;
};

class OffloadSearch {
 public:
  OffloadSearch(const OffloadChain& chain, const OffloadMeans& means)
      : chain_(chain), means_(means), n_(static_cast<int>(chain.steps())) {
    if (n_ > 5 || chain.full_duplex) throw std::logic_error("too much to search");
  }

  std::int64_t run() {
    OffloadNode start{n_ - 1, 0};
    if (units(start) > chain_.fast_memory) return -1;
    reach(0, start);
    while (!open_.empty()) {
      const auto [time, node] = open_.top();
      open_.pop();
      if (time != least_.at(node)) continue;
      if (node.todo < 0) return time;
      expand(time, node);
    }
    return -1;
  }

 private:
  static std::size_t at(int k) { return static_cast<std::size_t>(k); }
  static bool in(unsigned set, int k) { return (set >> k & 1u) != 0; }

  // A state on its way counts.
  std::int64_t units(const OffloadNode& node) const {
    std::int64_t sum = 0;
    for (int k = 0; k < n_; ++k) {
      const bool made = node.op != kNoWork && node.op < n_ && node.op + 1 == k;
      const bool read = node.transfer == n_ + k;
      if (in(node.resident, k) || made || read) sum += chain_.state_units[at(k)];
    }
    return sum;
  }

  void reach(std::int64_t time, const OffloadNode& node) {
    if (units(node) > chain_.fast_memory) return;
    const auto [known, is_new] = least_.try_emplace(node, time);
    if (!is_new && known->second <= time) return;
    known->second = time;
    open_.push({time, node});
  }

  void expand(std::int64_t time, const OffloadNode& node) {
    for (int k = 0; k < n_; ++k) {
      const unsigned bit = 1u << k;
      if (in(node.resident, k)) {
        const bool source = node.op != kNoWork && node.op % n_ == k;
        if (!source && node.transfer != k) {
          OffloadNode next = node;  // dropped
          next.resident &= ~bit;
          reach(time, next);
        }
        if (node.op == kNoWork && k < node.todo && !in(node.resident, k + 1) &&
            node.transfer != n_ + k + 1 && (k == node.highest || means_.recompute)) {
          OffloadNode next = node;
          next.op = k;
          next.op_rest = chain_.forward[at(k)];
          next.highest = std::max(node.highest, k + 1);
          reach(time, next);
        }
        if (node.op == kNoWork && k == node.todo) {
          OffloadNode next = node;
          next.op = n_ + k;
          next.op_rest = chain_.adjoint[at(k)];
          reach(time, next);
        }
        if (node.transfer == kNoWork && means_.offload && !in(node.slow, k)) {
          OffloadNode next = node;
          next.transfer = k;
          next.transfer_rest = chain_.write[at(k)];
          reach(time, next);
        }
      } else if (node.transfer == kNoWork && in(node.slow, k) && k <= node.todo &&
                 !(node.op != kNoWork && node.op < n_ && node.op + 1 == k)) {
        OffloadNode next = node;
        next.transfer = n_ + k;
        next.transfer_rest = chain_.read[at(k)];
        reach(time, next);
      }
    }
    complete_next(time, node);
  }

  void complete_next(std::int64_t time, const OffloadNode& node) {
    if (node.op == kNoWork && node.transfer == kNoWork) return;
    const bool both = node.op != kNoWork && node.transfer != kNoWork;
    const std::int64_t step = both                 ? std::min(node.op_rest, node.transfer_rest)
                              : node.op != kNoWork ? node.op_rest
                                                   : node.transfer_rest;
    OffloadNode next = node;
    if (node.op != kNoWork) next.op_rest -= step;
    if (node.transfer != kNoWork) next.transfer_rest -= step;
    if (node.transfer != kNoWork && next.transfer_rest == 0) {
      (node.transfer < n_ ? next.slow : next.resident) |= 1u << (node.transfer % n_);
      next.transfer = kNoWork;
    }
    if (node.op != kNoWork && next.op_rest == 0) {
      next.op = kNoWork;
      if (node.op < n_) {
        next.resident |= 1u << (node.op + 1);
      } else {  // nothing from x_todo on is needed again
        next.resident &= (1u << node.todo) - 1;
        --next.todo;
      }
    }
    reach(time + step, next);
  }

  struct Open {
    std::int64_t time;
    OffloadNode node;
    bool operator<(const Open& other) const { return time > other.time; }
  };

  const OffloadChain& chain_;
  OffloadMeans means_;
  int n_;
  std::map<OffloadNode, std::int64_t> least_;
  std::priority_queue<Open> open_;
};

}  // namespace

std::int64_t least_makespan(const OffloadChain& chain, const OffloadMeans& means) {
  return OffloadSearch(chain, means).run();
}

}  // namespace anadrome::schedule

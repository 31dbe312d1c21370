// SPDX-License-Identifier: BSD-2-Clause
#include "two_tier_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <queue>
#include <unordered_map>

namespace anadrome::schedule {
namespace {

constexpr int kBits = 10;  // of a set of states
constexpr std::int64_t kNo = std::int64_t{1} << 40;

struct Node {
  int left, live;  // live == left: undefined
  std::array<unsigned, 3> kept;

  std::uint64_t key() const {
    std::uint64_t key = static_cast<std::uint64_t>(left) << 4 | static_cast<std::uint64_t>(live);
    for (const unsigned set : kept) key = key << kBits | set;
    return key;
  }
};

struct Open {
  std::int64_t cost;
  Node node;
  bool operator<(const Open& other) const { return cost > other.cost; }
};

}  // namespace

std::int64_t least_cost_by_search(int steps, std::int64_t ram_slots,
                                  const std::vector<StorageLevel>& levels, std::int64_t advance,
                                  std::int64_t adjoint) {
  std::vector<StorageLevel> tiers = {{ram_slots, 0, 0}};
  tiers.insert(tiers.end(), levels.begin(), levels.end());
  std::unordered_map<std::uint64_t, std::int64_t> known;
  std::priority_queue<Open> open;
  const auto reach = [&](std::int64_t cost, const Node& node) {
    const auto [found, is_new] = known.try_emplace(node.key(), cost);
    if (!is_new && found->second <= cost) return;
    found->second = cost;
    open.push({cost, node});
  };
  reach(0, {steps, 0, {}});
  while (!open.empty()) {
    const auto [cost, node] = open.top();
    open.pop();
    if (cost > known.at(node.key())) continue;
    if (node.left == 0) return cost;
    if (node.live == node.left - 1) {
      Node next = node;
      next.left = next.live = node.left - 1;
      for (unsigned& set : next.kept) set &= (1u << next.left) - 1;
      reach(cost + adjoint, next);
    }
    if (node.live < node.left - 1) {
      Node next = node;
      ++next.live;
      reach(cost + advance, next);
    }
    for (std::size_t tier = 0; tier < tiers.size(); ++tier) {
      const unsigned set = node.kept[tier];
      for (int state = 0; state < node.left; ++state) {
        if ((set >> state & 1) == 0) continue;
        Node next = node;
        next.live = state;
        reach(cost + tiers[tier].read, next);
        next = node;
        next.kept[tier] &= ~(1u << state);
        reach(cost, next);
      }
      if (node.live == node.left || std::popcount(set) >= tiers[tier].slots) continue;
      Node next = node;
      next.kept[tier] |= 1u << node.live;
      reach(cost + tiers[tier].write, next);
    }
  }
  return -1;
}

std::vector<std::int64_t> costs_by_recurrence(std::int64_t steps, std::int64_t ram_slots,
                                              const std::vector<StorageLevel>& levels,
                                              std::int64_t advance) {
  const auto end = static_cast<std::size_t>(steps) + 1;
  std::vector<std::int64_t> live(end, 0);
  for (std::size_t n = 2; n < end; ++n) {
    live[n] =
        ram_slots == 0
            ? kNo
            : static_cast<std::int64_t>(extra_advances(static_cast<std::int64_t>(n), ram_slots)) *
                  advance;
  }
  for (const StorageLevel& level : levels) {
    const std::vector<std::int64_t> below = live;
    for (std::int64_t slots = 1; slots <= level.slots; ++slots) {
      std::vector<std::int64_t> kept = below, next = below;
      for (std::size_t n = 2; n < end; ++n) {
        for (std::size_t j = 1; j < n; ++j) {
          const std::int64_t cost =
              static_cast<std::int64_t>(j) * advance + live[n - j] + level.read + kept[j];
          kept[n] = std::min(kept[n], cost);
        }
        next[n] = std::min(below[n], level.write + kept[n]);
      }
      live = next;
    }
  }
  return live;
}

std::vector<std::int64_t> costs_by_recurrence_unbounded(std::int64_t steps, std::int64_t ram_slots,
                                                        const TwoTierCosts& costs) {
  const std::vector<std::int64_t> ram = costs_by_recurrence(steps, ram_slots, {}, costs.advance);
  std::vector<std::int64_t> reread = ram, live = ram;
  for (std::size_t n = 2; n < ram.size(); ++n) {
    for (std::size_t j = 1; j < n; ++j) {
      const std::int64_t sweep = static_cast<std::int64_t>(j) * costs.advance + costs.read;
      reread[n] = std::min(reread[n], sweep + ram[n - j] + reread[j]);
      live[n] = std::min(live[n], costs.write + sweep + live[n - j] + reread[j]);
    }
  }
  return live;
}

}  // namespace anadrome::schedule

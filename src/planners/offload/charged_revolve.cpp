// SPDX-License-Identifier: BSD-2-Clause
#include "planners/offload/charged_revolve.h"

#include <algorithm>
#include <bit>

#include "base/index.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
namespace {

// Row i: the largest of 2^i values from each on.
std::vector<std::vector<std::int64_t>> by_powers_of_two(std::vector<std::int64_t> values) {
  std::vector<std::vector<std::int64_t>> table{std::move(values)};
  for (std::size_t width = 1; 2 * width <= table[0].size(); width *= 2) {
    const std::vector<std::int64_t>& half = table.back();
    std::vector<std::int64_t> row(half.size() - width);
    for (std::size_t k = 0; k < row.size(); ++k) row[k] = std::max(half[k], half[k + width]);
    table.push_back(std::move(row));
  }
  return table;
}

}  // namespace

ChargedRevolve::ChargedRevolve(const OffloadChain& chain)
    : chain_(chain), forward_sums_{0}, unit_sums_{0} {
  for (const std::int64_t time : chain.forward)
    forward_sums_.push_back(forward_sums_.back() + time);
  std::vector<std::int64_t> pairs;
  for (std::size_t k = 0; k < chain.state_units.size(); ++k) {
    const std::int64_t units = chain.state_units[k];
    unit_sums_.push_back(unit_sums_.back() + units);
    if (k > 0) pairs.push_back(chain.state_units[k - 1] + units);
  }
  largest_state_ = by_powers_of_two(chain.state_units);
  largest_pair_ = by_powers_of_two(std::move(pairs));
}

std::int64_t ChargedRevolve::largest(const std::vector<std::vector<std::int64_t>>& table,
                                     std::int64_t first, std::int64_t last) {
  if (first > last) return 0;
  const auto level =
      static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(last - first + 1)) - 1);
  const std::int64_t width = std::int64_t{1} << level;
  return std::max(table[level][at(first)], table[level][at(last - width + 1)]);
}

bool ChargedRevolve::fits(std::int64_t p, std::int64_t q, std::int64_t m) const {
  if (q - p == 1) return m >= 0;
  // x_{p+1} beside x_p, then each state beside the one before it.
  return chain_.state_units[at(p + 1)] <= m && largest(largest_pair_, p + 1, q - 2) <= m;
}

// Memory beyond all states of the piece is of no use.
std::int64_t ChargedRevolve::enough(std::int64_t p, std::int64_t q, std::int64_t m) const {
  return std::min(m, unit_sums_[at(q)] - unit_sums_[at(p + 1)]);
}

std::size_t ChargedRevolve::Hash::operator()(const Key& key) const {
  std::uint64_t hash = static_cast<std::uint64_t>(key.p) * 0x9E3779B97F4A7C15u;
  hash = (hash ^ static_cast<std::uint64_t>(key.q)) * 0xC2B2AE3D27D4EB4Fu;
  hash = (hash ^ (hash >> 29) ^ static_cast<std::uint64_t>(key.m)) * 0x165667B19E3779F9u;
  return hash ^ (hash >> 32);
}

std::int64_t ChargedRevolve::split_as_revolve(std::int64_t p, std::int64_t q,
                                              std::int64_t m) const {
  const std::int64_t each = std::max<std::int64_t>(largest(largest_state_, p + 1, q - 1), 1);
  const std::int64_t slots = std::min(m / each, q - p);  // one of them under way
  if (slots < 2) return q - 1;
  const std::int64_t split = p + Splitter().split(q - p, slots);
  return fits(split, q, m - chain_.state_units[at(split)]) ? split : q - 1;
}

ChargedRevolve::Best ChargedRevolve::best(std::int64_t p, std::int64_t q, std::int64_t m) {
  if (q - p == 1) return {chain_.adjoint[at(p)], p};
  const Key key{p, q, enough(p, q, m)};
  const auto known = memo_.find(key);
  if (known != memo_.end()) return known->second;
  const auto time_with = [&](std::int64_t split) {
    return forward_sums_[at(split)] - forward_sums_[at(p)] +
           time(split, q, key.m - chain_.state_units[at(split)]) + time(p, split, key.m);
  };
  Best found{-1, q - 1};
  if (q - p > (chain_.steps() <= kAllExact ? kAllExact : kExactSteps)) {
    found.split = split_as_revolve(p, q, key.m);
    found.time = time_with(found.split);
  } else {
    for (std::int64_t split = q - 1; split > p; --split) {
      if (!fits(split, q, key.m - chain_.state_units[at(split)])) continue;
      const std::int64_t time = time_with(split);
      if (found.time < 0 || time < found.time) found = {time, split};
    }
  }
  memo_.emplace(key, found);
  return found;
}

std::int64_t ChargedRevolve::time(std::int64_t p, std::int64_t q, std::int64_t m) {
  return best(p, q, m).time;
}

void ChargedRevolve::append(std::int64_t p, std::int64_t q, std::int64_t m,
                            std::vector<OffloadOp>& ops) {
  for (;;) {
    if (q - p == 1) {
      ops.push_back({true, true, p});
      return;
    }
    const std::int64_t split = best(p, q, m).split;
    for (std::int64_t step = p; step < split; ++step) ops.push_back({false, step > p, step});
    append(split, q, m - chain_.state_units[at(split)], ops);
    q = split;
  }
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/memory/uneven.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "base/index.h"

namespace anadrome::schedule {

ChainCosts::ChainCosts(const std::vector<std::int64_t>& costs) {
  sums_.reserve(costs.size() + 1);
  moments_.reserve(costs.size() + 1);
  for (std::size_t k = 0; k < costs.size(); ++k) {
    sums_.push_back(sums_.back() + costs[k]);
    moments_.push_back(moments_.back() + static_cast<std::int64_t>(k) * costs[k]);
  }
}

bool Items::equal_units() const {
  return std::all_of(units.begin(), units.end(), [](std::int64_t w) { return w == 1; });
}

std::int64_t IntervalCosts::most_items(std::int64_t table_bytes, std::int64_t units) {
  const double entries = real(table_bytes) / 8 / real(units + 1);
  return static_cast<std::int64_t>((std::sqrt(1 + 8 * std::max(entries, 0.0)) - 1) / 2);
}

IntervalCosts::IntervalCosts(const ChainCosts& steps, const Items& items, std::int64_t units,
                             const Inside& inside)
    : steps_(steps), items_(items), layer_(items.count() * (items.count() + 1) / 2) {
  const std::int64_t count = items.count();
  const bool equal = items.equal_units();
  cost_.resize(size((units + 1) * layer_));
  const auto ends = size(count) + 1;
  std::vector<std::int64_t> splits(ends);  // by j: of i+1 .. j, then of i .. j
  std::vector<std::int64_t> row(ends);     // by j: F(i, j, b), next to each other
  for (std::int64_t b = 0; b <= units; ++b) {
    for (std::int64_t i = count - 1; i >= 0; --i) {
      const std::int64_t alone = items.length(i) == 1 ? 0 : inside(i, b);
      cost_[index(i, i + 1, b)] = row[size(i) + 1] = alone;
      std::int64_t before = i + 1;  // the split of i .. j-1
      for (std::int64_t j = i + 2; j <= count; ++j) {
        std::int64_t& beside = splits[size(j)];
        // With equal units F satisfies the quadrangle inequality, being a (min, +) product of
        // matrices that do, and splits are between those of both neighbours (Knuth 1971, Yao 1980).
        const bool bounded = equal && j > i + 2;
        const std::int64_t from = b == 0 ? j - 1 : (bounded ? before : i + 1);
        const std::int64_t to = bounded ? std::max(from, beside) : j - 1;
        std::int64_t split = i;
        const std::int64_t cost = least(i, j, b, from, to, row, split);
        cost_[index(i, j, b)] = row[size(j)] = cost;
        beside = split == i ? j - 1 : split;
        before = split == i ? from : split;
      }
    }
  }
}

std::int64_t IntervalCosts::least(std::int64_t i, std::int64_t j, std::int64_t b, std::int64_t from,
                                  std::int64_t to, const std::vector<std::int64_t>& row,
                                  std::int64_t& split) const {
  const std::int64_t first = items_.begin(i);
  std::int64_t least = steps_.direct_cost(first, items_.begin(j)) -
                       steps_.direct_cost(first, items_.begin(i + 1)) + row[size(i) + 1];
  split = i;
  for (std::int64_t k = from; k <= to; ++k) {
    const std::int64_t left = b - units_at(k, j);
    if (left < 0) continue;
    const std::int64_t cost = steps_.cost(first, items_.begin(k)) + at(k, j, left) + row[size(k)];
    if (cost <= least) {
      least = cost;
      split = k;
    }
  }
  return least;
}

std::int64_t IntervalCosts::split(std::int64_t i, std::int64_t j, std::int64_t b) const {
  std::vector<std::int64_t> row(size(j) + 1);
  for (std::int64_t k = i + 1; k <= j; ++k) row[size(k)] = at(i, k, b);
  std::int64_t split = i;
  least(i, j, b, i + 1, j - 1, row, split);
  return split;
}

// ---- the planner ----

namespace {

constexpr std::int64_t kMostCost = std::int64_t{1} << 62;
// Sizes are rounded up to this share of the budget where exact sizes would need larger tables.
constexpr std::int64_t kMostUnits = 128;
// Without the bounds on splits that equal sizes have, a table takes cubic time.
constexpr std::int64_t kMostUnevenItems = 256;
// Terms of all tables' minima: a few seconds.
constexpr double kMostWork = 1e9;

[[noreturn]] void refuse(const std::string& what) { throw Error(ANADROME_ERR_ARGUMENT, what); }

void check(const UnevenSteps& steps) {
  const auto n = std::ssize(steps.costs);
  if (n > kMostUnevenSteps) {
    refuse("uneven steps are planned for 2^20 steps at most, not " + std::to_string(n));
  }
  if (!steps.state_bytes.empty() && steps.state_bytes.size() != steps.costs.size()) {
    refuse("uneven steps need the size of every state or of none");
  }
  if (steps.bytes < 0) refuse("a memory of less than nothing");
  uint128 total = 0;
  for (const std::int64_t cost : steps.costs) {
    if (cost < 0) refuse("the cost of a step is negative");
    total += wide(cost);
  }
  if (total * wide(n + 1) > wide(kMostCost)) {
    refuse("the costs of all steps, times their number, must be below 2^62: take a larger unit");
  }
  for (const std::int64_t bytes : steps.state_bytes) {
    if (bytes < 1) refuse("a state has no size");
  }
}

std::vector<std::int64_t> costs_with_turn(const UnevenSteps& steps) {
  std::vector<std::int64_t> costs = steps.costs;
  if (steps.turn_is_a_step) costs.push_back(0);  // nothing is advanced over it
  return costs;
}

double work(std::int64_t items, std::int64_t units, bool equal_units) {
  const auto n = real(items);
  return real(units + 1) * n * n * (equal_units ? 2 : n / 6);
}

std::uint64_t key(std::int64_t first, std::int64_t last) {
  return static_cast<std::uint64_t>(first) << 32 | static_cast<std::uint64_t>(last);
}

}  // namespace

UnevenPlanner::UnevenPlanner(const UnevenSteps& steps) {
  check(steps);
  steps_ = ChainCosts(costs_with_turn(steps));
  state_bytes_ = steps.state_bytes;
  units_ = steps.bytes;
  if (steps_.steps() <= 1) return;
  if (steps.bytes < bytes_of(0)) {
    refuse("a memory of " + std::to_string(steps.bytes) + " bytes does not hold x_0, " +
           std::to_string(bytes_of(0)) + " bytes");
  }
  std::int64_t divisor = bytes_of(0), largest = 0;
  uint128 all = 0;
  for (std::int64_t k = 0; k < steps_.steps(); ++k) {
    divisor = std::gcd(divisor, bytes_of(k));
    largest = std::max(largest, bytes_of(k));
    all += wide(bytes_of(k));
  }
  // Room for all states is as good as more.
  const bool enough = all < wide(steps.bytes);
  const std::int64_t budget = enough ? static_cast<std::int64_t>(all) : steps.bytes;
  const std::int64_t slot = std::min(largest, budget);
  std::vector<std::int64_t> units = {slot};
  if (budget / divisor <= kMostUnits) {
    units.insert(units.begin(), divisor);
  } else if (divisor != largest) {
    units.insert(units.begin(), (budget - 1) / kMostUnits + 1);
  }
  UnevenPlanner best = *this;
  best.set_unit(slot, budget);
  best.plan_by_mean_size();  // Revolve, where a state takes a slot
  if (divisor != largest && all <= wide(kMostCost)) {
    UnevenPlanner next = *this;
    next.set_unit(divisor, budget);
    next.plan_by_mean_size();
    if (next.cost_ < best.cost_ || next.exact_) best = std::move(next);
  }
  for (const std::int64_t unit : units) {
    if (best.exact_) break;
    UnevenPlanner next = *this;
    next.set_unit(unit, budget);
    const auto cost = next.plan_with_tables(steps.table_bytes);
    if (cost && (*cost < best.cost_ || next.exact_)) best = std::move(next);
  }
  *this = std::move(best);
}

std::int64_t UnevenPlanner::bytes_of(std::int64_t step) const {
  if (state_bytes_.empty()) return 1;
  const auto last = std::ssize(state_bytes_) - 1;
  return state_bytes_[size(std::min(step, last))];
}

std::int64_t UnevenPlanner::units_of_bytes(std::int64_t bytes) const {
  return (bytes - 1) / unit_bytes_ + 1;
}

std::int64_t UnevenPlanner::state_units(std::int64_t step) const {
  return units_of_bytes(bytes_of(step));
}

void UnevenPlanner::set_unit(std::int64_t unit_bytes, std::int64_t budget) {
  unit_bytes_ = unit_bytes;
  units_ = budget / unit_bytes;
}

// ---- Revolve with slots of the mean size ----

void UnevenPlanner::plan_by_mean_size() {
  const std::int64_t n = steps_.steps(), free = units_ - state_units(0);
  items_.begins = {0, n};
  std::vector<std::int64_t> sums = {0};
  sums.reserve(size(n) + 1);
  for (std::int64_t k = 0; k < n; ++k) {
    sums.push_back(sums.back() + std::min(state_units(k), kMostCost / n));
  }
  nodes_.reserve(size(n));
  cost_ = place_by_mean_size({0, n, free}, sums).cost;
  // Each step once more: no plan can do with less. With one slot there is no choice.
  exact_ = cost_ == steps_.cost(0, n - 1) || (units_ == 1 && state_bytes_.empty());
}

/// Where Revolve would split with states of the mean size, or near it what fits; `first`: nothing.
std::int64_t UnevenPlanner::split_by_mean_size(const Stretch& stretch, std::int64_t units) {
  constexpr std::int64_t kNear = 64;
  const auto& [first, last, free] = stretch;
  const std::int64_t steps = last - first;
  const std::int64_t mean = ceil_divide(units, steps - 1);
  const std::int64_t slots = std::max<std::int64_t>(1 + free / mean, 2);
  const std::int64_t wanted = first + (slots < steps - 1 ? splitter_.split(steps, slots) : 1);
  for (std::int64_t away = 0; away <= kNear; ++away) {
    for (const std::int64_t split : {wanted - away, wanted + away}) {
      if (first < split && split < last && state_units(split) <= free) return split;
    }
  }
  return first;
}

/// Writes down the plan of a stretch and says what it takes: its splits from the first to the last
/// one, then what each of them leaves before it.
UnevenPlanner::Taken UnevenPlanner::place_by_mean_size(Stretch stretch,
                                                       const std::vector<std::int64_t>& sums) {
  const auto at = [&sums](std::int64_t k) { return sums[size(k)]; };
  const std::int64_t last = stretch.last;
  std::vector<Stretch> before;
  Taken taken = {0, 0};
  while (last - stretch.first > 1) {
    const std::int64_t first = stretch.first, steps = last - first;
    const std::int64_t units = at(last) - at(first + 1);
    if (units <= stretch.free) {
      for (std::int64_t k = first; k < last - 1; ++k) nodes_[key(k, last)] = {k + 1, last - 1 - k};
      taken = {steps - 1, steps_.cost(first, last - 1)};
      break;
    }
    const std::int64_t split = split_by_mean_size(stretch, units);
    if (split == first) {
      taken = {steps * (steps - 1) / 2, steps_.direct_cost(first, last)};
      break;
    }
    before.push_back({first, split, stretch.free});
    stretch.first = split;
    stretch.free -= state_units(split);
  }
  for (; !before.empty(); before.pop_back()) {
    const Stretch& left = before.back();
    const Taken inside = place_by_mean_size(left, sums);
    taken.advances += left.last - left.first + inside.advances;
    taken.cost += steps_.cost(left.first, left.last) + inside.cost;
    nodes_[key(left.first, last)] = {left.last, taken.advances};
  }
  return taken;
}

// ---- tables ----

// Nothing if x_0 does not fit once its size is rounded up, or if the tables would take too long.
std::optional<std::int64_t> UnevenPlanner::plan_with_tables(std::int64_t table_bytes) {
  const std::int64_t n = steps_.steps(), free = units_ - state_units(0);
  if (free < 0) return std::nullopt;
  bool equal = true, rounded = false;
  for (std::int64_t k = 0; k < n; ++k) {
    equal &= state_units(k) == 1;
    rounded |= bytes_of(k) % unit_bytes_ != 0;
  }
  const std::int64_t fit = IntervalCosts::most_items(table_bytes, free);
  std::int64_t count = std::min(n, equal ? fit : std::min(fit, kMostUnevenItems));
  const auto longest = [&count, n] { return (n - 1) / count + 1; };
  const auto all_work = [&] {
    const double inside = count < n ? work(longest(), free, equal) : 0;
    return work(count, free, equal) + real(count) * inside;
  };
  while (count >= 2 && all_work() > kMostWork) count /= 2;
  if (count < 2 || longest() > fit) return std::nullopt;
  items_ = cut(0, n, count);
  exact_ = count == n && !rounded;
  std::vector<std::int64_t> within;  // by item, then b
  for (std::int64_t item = 0; item < count && count < n; ++item) {
    const Items steps = cut(items_.begin(item), items_.begin(item + 1), items_.length(item));
    const IntervalCosts table(steps_, steps, free);
    for (std::int64_t b = 0; b <= free; ++b) within.push_back(table.at(0, steps.count(), b));
  }
  const IntervalCosts table(steps_, items_, free, [&](std::int64_t item, std::int64_t b) {
    return within[size(item * (free + 1) + b)];
  });
  // All intervals of by_step_ steps together are as much work as is allowed.
  const double most = kMostWork / real(n) / real(free + 1);
  const double steps = equal ? most / 2 : std::sqrt(6 * most);
  by_step_ = std::min(fit, static_cast<std::int64_t>(std::min(steps, 1e9)));
  nodes_.reserve(size(n));
  cost_ = extract(table, 0, count, free).cost;
  return cost_;
}

/// Into parts of nearly as many steps.
Items UnevenPlanner::cut(std::int64_t first, std::int64_t last, std::int64_t count) const {
  Items items;
  for (std::int64_t item = 0; item < count; ++item) {
    items.begins.push_back(first + item * (last - first) / count);
    items.units.push_back(state_units(items.begins.back()));
  }
  items.begins.push_back(last);
  return items;
}

/// Writes down the plan for items i .. j-1 and says what it takes.
UnevenPlanner::Taken UnevenPlanner::extract(const IntervalCosts& table, std::int64_t i,
                                            std::int64_t j, std::int64_t b) {
  const Items& items = table.items();
  const std::int64_t first = items.begin(i), last = items.begin(j), all = last - first;
  if (all == 1) return {0, 0};
  if (all > j - i && (j - i == 1 || all <= by_step_)) {
    const Items steps = cut(first, last, all);
    return extract(IntervalCosts(steps_, steps, b), 0, all, b);
  }
  const std::int64_t k = table.split(i, j, b);
  if (k == i) {
    const std::int64_t next = items.begin(i + 1), inside = next - first;
    const Taken left = extract(table, i, i + 1, b);
    return {all * (all - 1) / 2 - inside * (inside - 1) / 2 + left.advances,
            steps_.direct_cost(first, last) - steps_.direct_cost(first, next) + left.cost};
  }
  const std::int64_t split = items.begin(k);
  const Taken right = extract(table, k, j, b - table.units_at(k, j));
  const Taken left = extract(table, i, k, b);
  const std::int64_t advances = split - first + right.advances + left.advances;
  nodes_[key(first, last)] = {split, advances};
  return {advances, steps_.cost(first, split) + right.cost + left.cost};
}

// ---- answers ----

Placement UnevenPlanner::place(const Segment& segment) {
  if (segment.held == Place::kNowhere) return {Place::kRam, 0};
  const std::int64_t steps = segment.last - segment.first;
  const auto node = nodes_.find(key(segment.first, segment.last));
  if (node == nodes_.end()) return {Place::kNowhere, steps - 1};
  return {Place::kNowhere, node->second.split - segment.first};
}

std::int64_t UnevenPlanner::item_end(std::int64_t step) const {
  return *std::upper_bound(items_.begins.begin(), items_.begins.end() - 1, step);
}

/// A step that the plan does not name is reached from x_first, down to the end of its item.
std::int64_t UnevenPlanner::direct_advances(std::int64_t first, std::int64_t last) const {
  const std::int64_t steps = last - first, next = item_end(first);
  const std::int64_t all = steps * (steps - 1) / 2;
  if (last <= next) return all;
  const auto node = nodes_.find(key(first, next));
  if (node == nodes_.end()) return all;
  return all - (next - first) * (next - first - 1) / 2 + node->second.advances;
}

uint128 UnevenPlanner::advances(const Segment& segment) {
  const std::int64_t steps = segment.last - segment.first;
  if (steps <= 1) return 0;
  const auto node = nodes_.find(key(segment.first, segment.last));
  if (node != nodes_.end()) return wide(node->second.advances);
  return wide(direct_advances(segment.first, segment.last));
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include "planners/questions/uneven_tapes.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "base/checked.h"
#include "base/index.h"

namespace anadrome::questions {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max() / 4;

void check(const UnevenTapes& chain) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  const std::size_t n = chain.forward.size();
  if (n < 1 || chain.adjoint.size() != n || chain.state_units.size() != n ||
      chain.tape_units.size() != n || chain.units < 0) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "a chain with tapes wants times, states and tapes of as many steps");
  }
  std::int64_t sum = 0;
  for (const auto* values :
       {&chain.forward, &chain.adjoint, &chain.state_units, &chain.tape_units}) {
    for (const std::int64_t value : *values) {
      if (value < 0) throw Error(ANADROME_ERR_ARGUMENT, "a time or size is negative");
      sum = checked_add(sum, value);
      if (sum > kMost / static_cast<std::int64_t>(n)) {
        throw Error(ANADROME_ERR_ARGUMENT, "times and sizes add up to too much");
      }
    }
  }
}

UnevenTapes in_parts(UnevenTapes chain, std::int64_t most) {
  std::int64_t unit = 0, all = 0;
  for (auto* sizes : {&chain.state_units, &chain.tape_units}) {
    for (const std::int64_t size : *sizes) {
      unit = std::gcd(unit, size);
      all += size;
    }
  }
  chain.units = std::min(chain.units, all);
  unit = std::max<std::int64_t>(unit, 1);
  if (chain.units / unit > most) unit = ceil_divide(chain.units, most);
  for (auto* sizes : {&chain.state_units, &chain.tape_units}) {
    for (std::int64_t& size : *sizes) size = ceil_divide(size, unit);
  }
  chain.units /= unit;
  return chain;
}

/// V(i, j, s): from the live x_i, steps i .. j-1 are reversed with s units.
class Table {
 public:
  explicit Table(const UnevenTapes& chain)
      : chain_(chain), n_(chain.steps()), row_(chain.units + 1), sums_{0} {
    constexpr std::int64_t kMostEntries = std::int64_t{1} << 26;
    if (n_ + 1 > kMostEntries / row_ / (n_ + 1)) {
      throw Error(ANADROME_ERR_ARGUMENT,
                  "a chain of " + std::to_string(n_) + " steps with tapes has too large a table");
    }
    for (const std::int64_t time : chain.forward) sums_.push_back(sums_.back() + time);
    least_.assign(at((n_ + 1) * (n_ + 1) * row_), kNever);
    for (std::int64_t length = 1; length <= n_; ++length) {
      for (std::int64_t i = 0; i + length <= n_; ++i) {
        for (std::int64_t s = 0; s < row_; ++s) {
          least_[index(i, i + length, s)] = best(i, i + length, s).time;
        }
      }
    }
  }

  std::optional<UnevenTapesPlan> plan() const {
    UnevenTapesPlan plan;
    plan.time = least_[index(0, n_, row_ - 1)];
    if (plan.time >= kNever) return std::nullopt;
    append(0, n_, row_ - 1, plan.actions);
    return plan;
  }

 private:
  struct Best {
    std::int64_t time, split;  ///< split: the state to advance to; i: the tape of step i is kept
  };

  std::size_t index(std::int64_t i, std::int64_t j, std::int64_t s) const {
    return at((i * (n_ + 1) + j) * row_ + s);
  }

  Best best(std::int64_t i, std::int64_t j, std::int64_t s) const {
    const std::int64_t step = chain_.forward[at(i)] + chain_.adjoint[at(i)];
    if (j - i == 1) return {step, i};
    Best found{kNever, i};
    const std::int64_t beside_tape = s - chain_.tape_units[at(i)];
    if (beside_tape >= 0 && least_[index(i + 1, j, beside_tape)] < kNever) {
      found.time = step + least_[index(i + 1, j, beside_tape)];
    }
    const std::int64_t beside_state = s - chain_.state_units[at(i)];
    for (std::int64_t k = i + 1; beside_state >= 0 && k < j; ++k) {
      const std::int64_t beyond = least_[index(k, j, beside_state)];
      const std::int64_t before = least_[index(i, k, s)];
      if (beyond >= kNever || before >= kNever) continue;
      const std::int64_t time = sums_[at(k)] - sums_[at(i)] + beyond + before;
      if (time < found.time) found = {time, k};
    }
    return found;
  }

  void append(std::int64_t i, std::int64_t j, std::int64_t s,
              std::vector<TapesAction>& actions) const {
    while (j - i > 1) {
      const Best found = best(i, j, s);
      if (found.split == i) {
        actions.push_back({TapesKind::kTape, i, i + 1});
        append(i + 1, j, s - chain_.tape_units[at(i)], actions);
        actions.push_back({TapesKind::kAdjoint, i, i + 1});
        return;
      }
      actions.push_back({TapesKind::kKeep, i, i});
      actions.push_back({TapesKind::kAdvance, i, found.split});
      append(found.split, j, s - chain_.state_units[at(i)], actions);
      actions.push_back({TapesKind::kRestore, i, i});
      j = found.split;
    }
    actions.push_back({TapesKind::kRecord, i, j});
    actions.push_back({TapesKind::kAdjoint, i, j});
  }

  const UnevenTapes& chain_;
  std::int64_t n_, row_;
  std::vector<std::int64_t> sums_, least_;
};

}  // namespace

std::optional<UnevenTapesPlan> plan_uneven_tapes(const UnevenTapes& chain,
                                                 std::int64_t most_units) {
  check(chain);
  return Table(in_parts(chain, most_units)).plan();
}

}  // namespace anadrome::questions

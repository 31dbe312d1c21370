// SPDX-License-Identifier: BSD-2-Clause
#include "planners/offload/offload_planner.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>
#include <string>

#include "base/checked.h"
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

// ---- the fates ----

namespace {

/// From when on a state may be read, and whether the run before leaves room for it.
struct ReadMode {
  enum class From { kRunEnded, kRunBegins, kSweepEnded } from;
  bool reserved;
};
constexpr std::array kReadModes = {
    ReadMode{ReadMode::From::kRunEnded, false}, ReadMode{ReadMode::From::kRunBegins, true},
    ReadMode{ReadMode::From::kRunBegins, false}, ReadMode{ReadMode::From::kSweepEnded, true},
    ReadMode{ReadMode::From::kSweepEnded, false}};

/// In units of which the memory has few: sizes are rounded up and the memory down.
OffloadChain in_units(const OffloadChain& chain) {
  const std::int64_t most = chain.steps() <= ChargedRevolve::kAllExact ? 4096 : 256;
  std::int64_t unit = 0;
  for (const std::int64_t size : chain.state_units) unit = std::gcd(unit, size);
  unit = std::max<std::int64_t>(unit, 1);
  if (chain.fast_memory / unit > most) unit = ceil_divide(chain.fast_memory, most);
  OffloadChain scaled = chain;
  for (std::int64_t& size : scaled.state_units) size = ceil_divide(size, unit);
  scaled.fast_memory /= unit;
  return scaled;
}

class Search {
 public:
  Search(const OffloadChain& chain, const OffloadMeans& means, std::int64_t most_ops)
      : exact_(chain),
        coarse_(in_units(chain)),
        means_(means),
        ops_left_(most_ops),
        n_(chain.steps()),
        revolve_(coarse_) {}

  OffloadPlan run() {
    if (n_ <= kAllTried) {
      try_all();
    } else {
      try_shapes();
      descend();
    }
    OffloadPlan plan;
    plan.lower_bound = std::accumulate(
        exact_.forward.begin(), exact_.forward.end(),
        std::accumulate(exact_.adjoint.begin(), exact_.adjoint.end(), std::int64_t{0}));
    if (!best_) return plan;
    plan.fates = best_->fates;
    plan.lists = *lists_of(plan.fates, kReadModes[best_->mode]);
    plan.run = play(exact_, plan.lists, true);
    return plan;
  }

 private:
  static constexpr std::int64_t kAllTried = 8;
  using Fates = std::vector<Fate>;
  struct Found {
    Fates fates;
    std::size_t mode;
    std::int64_t makespan;
  };

  bool allowed(Fate fate) const {
    return fate == Fate::kKeep || (fate == Fate::kOffload ? means_.offload : means_.recompute);
  }

  // NULL: some run does not fit.
  std::optional<OffloadLists> lists_of(const Fates& fates, const ReadMode& mode) {
    OffloadLists lists;
    std::vector<std::int64_t> stored;
    std::int64_t kept = 0;
    for (std::int64_t k = 0; k < n_; ++k) {
      if (fates[at(k)] == Fate::kDiscard) continue;
      stored.push_back(k);
      if (fates[at(k)] == Fate::kKeep) kept += units(k);
      if (fates[at(k)] == Fate::kOffload) lists.writes.push_back({k, 0});
    }
    for (std::int64_t step = 0; step < stored.back(); ++step) {
      lists.ops.push_back({false, fates[at(step)] == Fate::kDiscard, step});
    }
    std::int64_t end = n_;
    for (std::size_t i = stored.size(); i-- > 0;) {
      const std::int64_t begin = stored[i];
      if (fates[at(begin)] == Fate::kKeep) kept -= units(begin);
      const bool next_is_read = i > 0 && fates[at(stored[i - 1])] == Fate::kOffload;
      const std::int64_t reserve = next_is_read && mode.reserved ? units(stored[i - 1]) : 0;
      const std::int64_t room = coarse_.fast_memory - units(begin) - kept - reserve;
      if (!revolve_.fits(begin, end, room)) return std::nullopt;
      const auto run_begins = std::ssize(lists.ops);
      revolve_.append(begin, end, room, lists.ops);
      if (next_is_read) {
        const auto run_ends = std::ssize(lists.ops);
        const std::int64_t gate = mode.from == ReadMode::From::kSweepEnded  ? stored.back()
                                  : mode.from == ReadMode::From::kRunBegins ? run_begins
                                                                            : run_ends;
        lists.reads.push_back({stored[i - 1], gate});
      }
      end = begin;
    }
    return lists;
  }

  std::int64_t units(std::int64_t k) const { return coarse_.state_units[at(k)]; }

  /// Is it the best so far?
  bool try_fates(const Fates& fates) {
    bool better = false;
    const bool reads = std::find(fates.begin(), fates.end(), Fate::kOffload) != fates.end();
    for (std::size_t mode = 0; mode < (reads ? kReadModes.size() : 1) && ops_left_ > 0; ++mode) {
      const std::optional<OffloadLists> lists = lists_of(fates, kReadModes[mode]);
      ops_left_ -= n_;
      if (!lists) continue;
      ops_left_ -= std::ssize(lists->ops);
      const std::int64_t makespan = play(exact_, *lists).makespan;
      if (makespan < 0 || (best_ && makespan >= best_->makespan)) continue;
      best_ = {fates, mode, makespan};
      better = true;
    }
    return better;
  }

  // x_0 cannot be made again, and the last stored state is not worth a transfer.
  bool sensible(const Fates& fates) const {
    if (fates[0] == Fate::kDiscard) return false;
    const auto last = std::find_if(fates.rbegin(), fates.rend(),
                                   [](Fate fate) { return fate != Fate::kDiscard; });
    return *last == Fate::kKeep;
  }

  void try_all() {
    constexpr std::array kFates = {Fate::kKeep, Fate::kOffload, Fate::kDiscard};
    Fates fates(at(n_));
    std::int64_t count = 1;
    for (std::int64_t k = 0; k < n_; ++k) count *= 3;
    for (std::int64_t number = 0; number < count; ++number) {
      bool all_allowed = true;
      for (std::int64_t k = 0, rest = number; k < n_; ++k, rest /= 3) {
        fates[at(k)] = kFates[at(rest % 3)];
        all_allowed = all_allowed && allowed(fates[at(k)]);
      }
      if (all_allowed && sensible(fates)) try_fates(fates);
    }
  }

  // `every`: of period states one; the last `kept` ones stay.
  Fates periodic(std::int64_t period, Fate every, Fate between, std::int64_t kept) const {
    Fates fates(at(n_), between);
    for (std::int64_t k = 0; k < n_; k += period) fates[at(k)] = every;
    for (std::int64_t k = std::max<std::int64_t>(n_ - kept, 0); k < n_; ++k) {
      fates[at(k)] = Fate::kKeep;
    }
    for (std::int64_t k = n_ - 1; k >= 0; --k) {
      if (fates[at(k)] == Fate::kDiscard) continue;
      fates[at(k)] = Fate::kKeep;
      break;
    }
    return fates;
  }

  // A number, and with fewer tries fewer of the large ones.
  static std::int64_t next_of(std::int64_t value) { return value + 1 + value / 24; }

  void try_shapes() {
    const std::int64_t half = ops_left_ / 2;
    if (means_.recompute) try_fates(periodic(n_, Fate::kKeep, Fate::kDiscard, 0));
    std::int64_t best_period = 1;
    Fate best_between = means_.recompute ? Fate::kDiscard : Fate::kKeep;
    for (std::int64_t period = 1; period <= n_; period = next_of(period)) {
      for (const Fate between : {Fate::kDiscard, Fate::kKeep}) {
        const Fate every = means_.offload ? Fate::kOffload : Fate::kKeep;
        if (!allowed(between) || !try_fates(periodic(period, every, between, 0))) continue;
        best_period = period;
        best_between = between;
      }
    }
    for (std::int64_t kept = 1; kept < n_; kept = next_of(kept)) {
      if (means_.offload) {
        try_fates(periodic(1, Fate::kOffload, Fate::kKeep, kept));
        if (ops_left_ > half) {
          try_fates(periodic(best_period, Fate::kOffload, best_between, kept));
        }
      }
      if (means_.recompute) try_fates(periodic(n_, Fate::kKeep, Fate::kDiscard, kept));
    }
  }

  void descend() {
    if (!best_) return;
    for (bool better = true; better && ops_left_ > 0;) {
      better = false;
      for (std::int64_t k = n_ - 1; k >= 0 && ops_left_ > 0; --k) {
        for (const Fate fate : {Fate::kKeep, Fate::kOffload, Fate::kDiscard}) {
          Fates fates = best_->fates;
          if (!allowed(fate) || fates[at(k)] == fate) continue;
          fates[at(k)] = fate;
          if (sensible(fates)) better = try_fates(fates) || better;
        }
      }
    }
  }

  const OffloadChain& exact_;
  OffloadChain coarse_;
  OffloadMeans means_;
  std::int64_t ops_left_;
  std::int64_t n_;
  ChargedRevolve revolve_;
  std::optional<Found> best_;
};

}  // namespace

OffloadPlan plan_offload(const OffloadChain& chain, const OffloadMeans& means,
                         std::int64_t most_ops) {
  check(chain);
  if (chain.steps() > kMostOffloadedSteps) {
    throw Error(ANADROME_ERR_ARGUMENT, "offloading is planned for up to " +
                                           std::to_string(kMostOffloadedSteps) + " steps");
  }
  return Search(chain, means, most_ops).run();
}

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// Keep, offload or recompute: the fate of each state of an uneven chain. The first sweep drops the
// discarded states; back, the steps between two stored ones are reversed by recomputation in the
// memory that is left. Writes go in order, reads in the opposite one. The time of such a plan is
// played (offload_chain.h), and the fates are searched.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "planners/offload/offload_chain.h"

namespace anadrome::schedule {

/// The best persistent plan of a piece of the chain: V(p, q, m) reverses steps p .. q-1 from a
/// resident x_p beside m free units. In chains of more than kAllExact steps, pieces of more than
/// kExactSteps are split as Revolve would with slots of their largest state.
class ChargedRevolve {
 public:
  static constexpr std::int64_t kAllExact = 24, kExactSteps = 10;

  explicit ChargedRevolve(const OffloadChain& chain);

  /// x_p .. x_{q-1} can be passed one by one.
  bool fits(std::int64_t p, std::int64_t q, std::int64_t m) const;

  /// Time of all its ops; it must fit.
  std::int64_t time(std::int64_t p, std::int64_t q, std::int64_t m);

  /// Appends the ops.
  void append(std::int64_t p, std::int64_t q, std::int64_t m, std::vector<OffloadOp>& ops);

 private:
  struct Key {
    std::int64_t p, q, m;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Best {
    std::int64_t time, split;
  };

  std::int64_t enough(std::int64_t p, std::int64_t q, std::int64_t m) const;
  Best best(std::int64_t p, std::int64_t q, std::int64_t m);
  std::int64_t split_as_revolve(std::int64_t p, std::int64_t q, std::int64_t m) const;
  /// The largest of values `first` .. `last` of the sizes, or of neighbours' sums.
  static std::int64_t largest(const std::vector<std::vector<std::int64_t>>& table,
                              std::int64_t first, std::int64_t last);

  const OffloadChain& chain_;
  std::vector<std::int64_t> forward_sums_, unit_sums_;
  std::vector<std::vector<std::int64_t>> largest_state_, largest_pair_;  ///< by powers of two
  std::unordered_map<Key, Best, Hash> memo_;
};

struct OffloadMeans {
  bool offload = true, recompute = true;
};

struct OffloadPlan {
  std::vector<Fate> fates;
  OffloadLists lists;
  OffloadRun run;  ///< with its spans; makespan -1: none of the plans that were tried ends
  std::int64_t lower_bound = 0;  ///< every step and every adjoint step once, without waiting
};

/// All fates where n <= 8; otherwise kept or offloaded prefixes, periodic offloading with every
/// period, and what changes of one state's fate at a time improve, until `most_ops` ops were
/// played. Throws ERR_ARGUMENT on what check() refuses, if both means are off and the states do not
/// fit, or if n > 20000.
OffloadPlan plan_offload(const OffloadChain& chain, const OffloadMeans& means = {},
                         std::int64_t most_ops = 60'000'000);

}  // namespace anadrome::schedule

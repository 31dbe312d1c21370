// SPDX-License-Identifier: BSD-2-Clause
// Reversal by recomputation where every live state is charged, the one under way too, steps cost
// differently and states differ in size.
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

}  // namespace anadrome::schedule

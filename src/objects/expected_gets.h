// SPDX-License-Identifier: BSD-2-Clause
// The list of gets that a caller expects, and the rank that it gives to the objects in it: before
// all others, in the order of the list.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "objects/object_blocks.h"

namespace anadrome::store {

class ExpectedGets {
 public:
  using Key = std::int64_t;
  using Rank = ObjectBlocks::Rank;

  ExpectedGets() = default;
  /// Keys may come several times.
  explicit ExpectedGets(std::span<const Key> keys);

  /// Is it the rank of an entry of this list, or of another one?
  static bool has(Rank rank) { return rank < kFirst / 2; }
  /// The rank of the next entry of a key, behind all that are over.
  std::optional<Rank> next(Key key);
  /// The entry of this rank is over, and so are those before it.
  void pass(Rank rank) { passed_ = rank - kFirst; }

  /// Bytes that the list takes, an estimate from above.
  std::int64_t bytes() const;

 private:
  static constexpr Rank kFirst = std::numeric_limits<Rank>::min() / 2;  ///< of entry 0

  std::vector<std::int64_t> following_;  ///< by entry: the next one of the same key, or -1
  std::unordered_map<Key, std::int64_t> next_;
  std::int64_t passed_ = -1;
};

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
#include "objects/expected_gets.h"

#include <utility>

#include "base/index.h"

namespace anadrome::store {

ExpectedGets::ExpectedGets(std::span<const Key> keys) : following_(keys.size(), -1) {
  for (std::int64_t entry = std::ssize(keys); entry-- > 0;) {
    const auto i = size(entry);
    const auto [place, is_new] = next_.try_emplace(keys[i], entry);
    if (!is_new) following_[i] = std::exchange(place->second, entry);
  }
}

std::optional<ExpectedGets::Rank> ExpectedGets::next(Key key) {
  const auto found = next_.find(key);
  if (found == next_.end()) return {};
  while (found->second >= 0 && found->second <= passed_) {
    found->second = following_[at(found->second)];
  }
  if (found->second >= 0) return kFirst + found->second;
  next_.erase(found);
  return {};
}

std::int64_t ExpectedGets::bytes() const {
  constexpr std::int64_t kEntry = sizeof(std::int64_t), kKey = 2 * sizeof(Key) + 32;
  return std::ssize(following_) * kEntry + std::ssize(next_) * kKey;
}

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
#include "store/tiers/filled_part.h"

#include <algorithm>

#include "base/index.h"

namespace anadrome::store {

double FilledPart::whole() const { return layout_.block_bytes() == 0 ? 0 : 1; }

double FilledPart::share_of(const EncodedBlock& encoded) const {
  if (encoded.pieces.empty()) return whole();
  std::int64_t bytes = 0;
  for (std::span<const std::int64_t> left = encoded.pieces; !left.empty();)
    bytes += round_up(take_bytes_on_disk(left), kPage);
  const std::int64_t most = layout_.block_bytes();
  return most == 0 ? 0 : real(bytes) / real(most);
}

void FilledPart::expect(std::int64_t block) {
  const auto index = size(block);
  if (index >= shares_.size()) shares_.resize(index + 1, whole());
}

void FilledPart::note(std::int64_t block, const EncodedBlock* encoded) {
  const auto index = size(block);
  shares_[index] = encoded != nullptr ? share_of(*encoded) : whole();
}

// x_0 says nothing of other states.
void FilledPart::count_below(std::int64_t block) {
  for (; counted_ < block; ++counted_) {
    const auto index = size(counted_);
    const double share = index < shares_.size() ? shares_[index] : whole();
    filled_.taken += share;
    if (counted_ == 0) continue;
    others_ += share;
    filled_.mean = others_ / real(counted_);
    filled_.share = std::max(share, filled_.mean);
  }
}

}  // namespace anadrome::store

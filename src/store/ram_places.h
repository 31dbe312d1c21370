// SPDX-License-Identifier: BSD-2-Clause
// One piece of memory for states of several sizes, in units; the schedule says where each has its
// place. A stack of states has no gaps, since what is given up first is what was kept last.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "store/tier.h"

namespace anadrome::store {

class RamPlaces {
 public:
  RamPlaces(std::byte* memory, std::int64_t unit_bytes)
      : memory_(memory), unit_bytes_(unit_bytes) {}

  std::byte* address(const Region& region) const { return memory_ + region.place * unit_bytes_; }
  std::int64_t bytes(const Region& region) const { return region.units * unit_bytes_; }

  /// A state of `bytes` bytes lies in `region`, if there is room for it.
  void note(const Region& region, std::int64_t bytes) {
    if (bytes <= this->bytes(region)) note_end(region, bytes);
  }
  /// A state whose fields lie at `extents` comes back to `region`.
  void note(const Region& region, const std::vector<Extent>& extents) {
    for (const auto& [offset, bytes] : extents) note_end(region, offset + bytes);
  }
  /// As far as the memory was filled.
  std::int64_t most_bytes() const { return most_bytes_; }

 private:
  void note_end(const Region& region, std::int64_t bytes) {
    most_bytes_ = std::max(most_bytes_, region.place * unit_bytes_ + bytes);
  }

  std::byte* memory_;
  std::int64_t unit_bytes_;
  std::int64_t most_bytes_ = 0;
};

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// A store of one's own, as simple and as fast as one could be: the limit that copies and transfers
// which share a memory set.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>
#include <memory>
#include <string>

namespace bench {

/// Blocks in huge pages, of which one is copied to or from while a thread writes or reads others
/// (O_DIRECT, two calls of 8 MiB under way). No checksums, no agreement, no file format.
class StoreByHand {
 public:
  StoreByHand(const std::string& directory, std::int64_t state_bytes, std::int64_t steps,
              std::int64_t memory);
  StoreByHand(const StoreByHand&) = delete;
  StoreByHand& operator=(const StoreByHand&) = delete;
  ~StoreByHand();

  /// Every state there and back, this rank.
  anadrome_stats sweep(std::byte* state);

 private:
  class Disk;
  std::unique_ptr<Disk> disk_;
};

/// Bytes per second of plain copies of one state to ever other places, this rank.
double copy_rate(std::int64_t bytes);

}  // namespace bench

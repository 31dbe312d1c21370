// SPDX-License-Identifier: BSD-2-Clause
// The encoding of a block's bytes on their way to disk, and back. Without a codec they go as they
// are, and nothing is called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anadrome::store {

/// Used by the I/O thread, on one part of a block (the states of one field) at a time.
class Codec {
 public:
  virtual ~Codec() = default;
  /// `from` -> the first bytes of `to`, which is as large as the part's place on disk. Returns how
  /// many; 0: they do not fit or are not worth it, and the part goes to disk as it is.
  virtual std::int64_t encode(std::span<const std::byte> from, std::span<std::byte> to) const = 0;
  /// Encoded bytes -> all of `to`. `from` may be damaged: throws ERR_CORRUPT if it sees that, and
  /// touches nothing outside `to`. The checksum, which covers the encoded bytes, is compared
  /// afterwards.
  virtual void decode(std::span<const std::byte> from, std::span<std::byte> to) const = 0;
};

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// zfp (Lindstrom, IEEE TVCG 20, 2674 (2014)): blocks of 4^d numbers, each with as many bits as the
// tolerance asks for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace anadrome::store {

/// Numbers side by side: along the first dimension they follow each other. Unused sizes are 1.
using Sizes = std::array<std::int64_t, 3>;

/// Used by one thread at a time.
class ZfpCodec {
 public:
  /// Of pieces of at most so many bytes.
  explicit ZfpCodec(std::int64_t piece_bytes);
  ~ZfpCodec();
  /// Memory that it takes, at most.
  static std::int64_t memory_bytes(std::int64_t piece_bytes);

  /// Numbers of `bytes` (4 or 8) -> the codec's buffer. Returns its bytes. zfp does not promise to
  /// keep to the tolerance, and nothing of what becomes of NaN and infinities.
  std::span<const std::byte> encode(double tolerance, std::span<const std::byte> numbers,
                                    std::int64_t bytes, const Sizes& sizes);
  /// And back; `encoded` may be damaged. Touches nothing outside `numbers`. The tolerance is that
  /// of the stream.
  void decode(std::span<const std::byte> encoded, std::span<std::byte> numbers, std::int64_t bytes,
              const Sizes& sizes);

 private:
  struct Stream;
  const std::unique_ptr<Stream> stream_;
};

}  // namespace anadrome::store

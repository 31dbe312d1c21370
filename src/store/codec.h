// SPDX-License-Identifier: BSD-2-Clause
// Compression of bytes without loss, and the names of all codecs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace anadrome::store {

/// Used by the I/O thread.
class Codec {
 public:
  virtual ~Codec() = default;
  /// `from` -> the first bytes of `to`. Returns how many; 0: it would be no fewer than `to` has.
  virtual std::int64_t encode(std::span<const std::byte> from, std::span<std::byte> to) = 0;
  /// Encoded bytes -> all of `to`. `from` may be damaged: throws ERR_CORRUPT if it sees that, and
  /// touches nothing outside `to`.
  virtual void decode(std::span<const std::byte> from, std::span<std::byte> to) = 0;
};

enum class CodecName { kLz4, kZstd, kFloat32, kRound, kZfp };

/// Does it change numbers?
inline bool is_lossy(CodecName name) { return name > CodecName::kZstd; }
/// Does it keep to a tolerance?
inline bool has_tolerance(CodecName name) { return name > CodecName::kFloat32; }

/// Of several, each block has the one that has been quickest; none stands for no codec. They are
/// lossy, or keep to a tolerance, all or none of them.
using Codecs = std::vector<std::optional<CodecName>>;
inline bool is_lossy(const Codecs& codecs) {
  return !codecs.empty() && codecs.front() && is_lossy(*codecs.front());
}
inline bool has_tolerance(const Codecs& codecs) {
  return is_lossy(codecs) && has_tolerance(*codecs.front());
}

/// LZ4 or Zstandard.
std::unique_ptr<Codec> make_codec(CodecName name);
/// Bytes of memory that it takes, at most.
std::int64_t codec_bytes(CodecName name);

/// The first bytes of all numbers, the second bytes of all, and so on: those of numbers that are
/// alike follow each other. `bytes`: of a number; what is no whole number at the end stays there.
void shuffle(std::span<const std::byte> from, std::int64_t bytes, std::byte* to);
/// And back.
void unshuffle(std::span<const std::byte> from, std::int64_t bytes, std::byte* to);

}  // namespace anadrome::store

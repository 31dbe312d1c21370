// SPDX-License-Identifier: BSD-2-Clause
// Compression of bytes without loss, and the names of all codecs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

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

/// What compresses without loss for this one: itself, or LZ4.
std::unique_ptr<Codec> make_codec(CodecName name);
/// Bytes of memory that this takes, at most.
std::int64_t codec_bytes(CodecName name);

/// The first bytes of all numbers, the second bytes of all, and so on: those of numbers that are
/// alike follow each other. `bytes`: of a number; what is no whole number at the end stays there.
void shuffle(std::span<const std::byte> from, std::int64_t bytes, std::byte* to);
/// And back.
void unshuffle(std::span<const std::byte> from, std::int64_t bytes, std::byte* to);

}  // namespace anadrome::store

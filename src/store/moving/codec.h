// SPDX-License-Identifier: BSD-2-Clause
// Compression of bytes without loss, and the names of all codecs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace anadrome::store {

enum class CodecName { kLz4, kFloat32, kRound, kZfp };

/// Does it change numbers?
inline bool is_lossy(CodecName name) { return name > CodecName::kLz4; }
/// Does it keep to a tolerance?
inline bool has_tolerance(CodecName name) { return name > CodecName::kFloat32; }

/// Was the library built with what this codec takes? Else those that read and write with it throw
/// ERR_UNSUPPORTED.
bool is_built(CodecName name);

/// Of several, each block has the one that has been quickest. They are lossy, or keep to a
/// tolerance, all or none of them. Empty: nothing is compressed.
using Codecs = std::vector<CodecName>;
inline bool is_lossy(const Codecs& codecs) { return !codecs.empty() && is_lossy(codecs.front()); }
inline bool has_tolerance(const Codecs& codecs) {
  return !codecs.empty() && has_tolerance(codecs.front());
}

/// `from` -> the first bytes of `to`, by LZ4. Returns how many; 0: they would be more than `to`
/// has.
std::int64_t compress_lz4(std::span<const std::byte> from, std::span<std::byte> to);
/// Compressed bytes -> all of `to`. `from` may be damaged: throws ERR_CORRUPT if it sees that, and
/// touches nothing outside `to`.
void expand_lz4(std::span<const std::byte> from, std::span<std::byte> to);

/// The first bytes of all numbers, the second bytes of all, and so on: those of numbers that are
/// alike follow each other. `bytes`: of a number; what is no whole number at the end stays there.
void shuffle(std::span<const std::byte> from, std::int64_t bytes, std::byte* to);
/// And back.
void unshuffle(std::span<const std::byte> from, std::int64_t bytes, std::byte* to);

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
#include "store/moving/codec.h"

#if ANADROME_HAS_LZ4
#include <lz4.h>
#endif

#include <algorithm>

#include "base/error.h"
#include "base/index.h"

namespace anadrome::store {
namespace {

// move(i, j) for each byte of whole numbers: i is its place where numbers follow each other, j
// where all first bytes come first. What is left at the end is copied.
template <class Move>
void rearrange(std::span<const std::byte> from, std::int64_t bytes, std::byte* to,
               const Move& move) {
  constexpr std::size_t kTile = 512;  // numbers at a time: they stay in the processor's cache
  const auto width = size(bytes);
  const std::size_t numbers = from.size() / width;
  for (std::size_t first = 0; first < numbers; first += kTile) {
    const std::size_t last = std::min(first + kTile, numbers);
    for (std::size_t b = 0; b < width; ++b) {
      for (std::size_t i = first; i < last; ++i) move(i * width + b, b * numbers + i);
    }
  }
  std::copy(from.begin() + static_cast<std::ptrdiff_t>(numbers * width), from.end(),
            to + numbers * width);
}

}  // namespace

bool is_built(CodecName name) {
  if (name == CodecName::kFloat32) return true;
  return name == CodecName::kZfp ? ANADROME_HAS_ZFP : ANADROME_HAS_LZ4;
}

#if ANADROME_HAS_LZ4
namespace {
const char* characters(const std::byte* bytes) { return reinterpret_cast<const char*>(bytes); }
}  // namespace

std::int64_t compress_lz4(std::span<const std::byte> from, std::span<std::byte> to) {
  return LZ4_compress_default(characters(from.data()), reinterpret_cast<char*>(to.data()),
                              static_cast<int>(from.size()), static_cast<int>(to.size()));
}

void expand_lz4(std::span<const std::byte> from, std::span<std::byte> to) {
  const int made = LZ4_decompress_safe(characters(from.data()), reinterpret_cast<char*>(to.data()),
                                       static_cast<int>(from.size()), static_cast<int>(to.size()));
  if (made != static_cast<int>(to.size()))
    throw Error(ANADROME_ERR_CORRUPT, "its bytes are no LZ4");
}
#else
std::int64_t compress_lz4(std::span<const std::byte>, std::span<std::byte>) { return 0; }

void expand_lz4(std::span<const std::byte>, std::span<std::byte>) {
  throw Error(ANADROME_ERR_UNSUPPORTED, "it is compressed by LZ4, and this build has no LZ4");
}
#endif

void shuffle(std::span<const std::byte> from, std::int64_t bytes, std::byte* to) {
  rearrange(from, bytes, to, [&](std::size_t number_by_number, std::size_t byte_by_byte) {
    to[byte_by_byte] = from[number_by_number];
  });
}

void unshuffle(std::span<const std::byte> from, std::int64_t bytes, std::byte* to) {
  rearrange(from, bytes, to, [&](std::size_t number_by_number, std::size_t byte_by_byte) {
    to[number_by_number] = from[byte_by_byte];
  });
}

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
#include "store/codec.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "base/error.h"

namespace anadrome::store {
namespace {

[[noreturn]] void throw_damaged(const char* what) {
  throw Error(ANADROME_ERR_CORRUPT, std::string("its bytes are no ") + what);
}

class Lz4 final : public Codec {
 public:
  std::int64_t encode(std::span<const std::byte> from, std::span<std::byte> to) override {
    return LZ4_compress_default(characters(from.data()), reinterpret_cast<char*>(to.data()),
                                static_cast<int>(from.size()), static_cast<int>(to.size()));
  }
  void decode(std::span<const std::byte> from, std::span<std::byte> to) override {
    const int made =
        LZ4_decompress_safe(characters(from.data()), reinterpret_cast<char*>(to.data()),
                            static_cast<int>(from.size()), static_cast<int>(to.size()));
    if (made != static_cast<int>(to.size())) throw_damaged("LZ4");
  }

 private:
  static const char* characters(const std::byte* bytes) {
    return reinterpret_cast<const char*>(bytes);
  }
};

class Zstd final : public Codec {
 public:
  Zstd() : writes_(ZSTD_createCCtx()), reads_(ZSTD_createDCtx()) {
    if (!writes_ || !reads_) throw std::bad_alloc();
  }
  std::int64_t encode(std::span<const std::byte> from, std::span<std::byte> to) override {
    constexpr int kFastest = 1;
    const std::size_t made =
        ZSTD_compressCCtx(writes_.get(), to.data(), to.size(), from.data(), from.size(), kFastest);
    return ZSTD_isError(made) != 0 ? 0 : static_cast<std::int64_t>(made);
  }
  void decode(std::span<const std::byte> from, std::span<std::byte> to) override {
    const std::size_t made =
        ZSTD_decompressDCtx(reads_.get(), to.data(), to.size(), from.data(), from.size());
    if (made != to.size()) throw_damaged("Zstandard");
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> writes_;
  std::unique_ptr<ZSTD_DCtx, Free> reads_;
};

// move(i, j) for each byte of whole numbers: i is its place where numbers follow each other, j
// where all first bytes come first. What is left at the end is copied.
template <class Move>
void rearrange(std::span<const std::byte> from, std::int64_t bytes, std::byte* to,
               const Move& move) {
  constexpr std::size_t kTile = 512;  // numbers at a time: they stay in the processor's cache
  const auto width = static_cast<std::size_t>(bytes);
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

std::unique_ptr<Codec> make_codec(CodecName name) {
  if (name == CodecName::kZstd) return std::make_unique<Zstd>();
  return std::make_unique<Lz4>();
}

std::int64_t codec_bytes(CodecName name) {
  constexpr std::int64_t kZstdBytes = std::int64_t{1} << 20;  // a test looks
  return name == CodecName::kZstd ? kZstdBytes : 0;
}

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

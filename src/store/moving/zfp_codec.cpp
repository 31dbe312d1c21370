// SPDX-License-Identifier: BSD-2-Clause
#include "store/moving/zfp_codec.h"

#if ANADROME_HAS_ZFP
#include <zfp.h>
#endif

#include <cmath>
#include <cstring>
#include <new>
#include <vector>

#include "base/checked.h"
#include "base/error.h"

namespace anadrome::store {
#if ANADROME_HAS_ZFP
namespace {

// The stream is preceded by the exponent of its tolerance.
using Exponent = std::int16_t;

// Most bytes of a stream. The numbers of a partial block are made up to 4^d; where that is too
// much, they are taken in one dimension. A word is written at a time.
std::int64_t stream_bytes(std::int64_t piece_bytes) {
  return round_up(piece_bytes + piece_bytes / 2, std::int64_t{8}) + 64;
}

struct FreeField {
  void operator()(zfp_field* field) const { zfp_field_free(field); }
};
using Field = std::unique_ptr<zfp_field, FreeField>;

Field field_of(const void* numbers, zfp_type type, const Sizes& sizes) {
  const auto [x, y, z] = sizes;
  const auto size = [](std::int64_t count) { return static_cast<std::size_t>(count); };
  void* const values = const_cast<void*>(numbers);  // the way of this C library
  Field field(z > 1   ? zfp_field_3d(values, type, size(x), size(y), size(z))
              : y > 1 ? zfp_field_2d(values, type, size(x), size(y))
                      : zfp_field_1d(values, type, size(x)));
  if (!field) throw std::bad_alloc();
  return field;
}

bool is_aligned(const void* numbers, std::int64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(numbers) % static_cast<std::uintptr_t>(bytes) == 0;
}

}  // namespace

struct ZfpCodec::Stream {
  explicit Stream(std::int64_t piece_bytes)
      : buffer(static_cast<std::size_t>(stream_bytes(piece_bytes) / 8 + 1)) {
    if (!zfp || !bits) throw std::bad_alloc();
    zfp_stream_set_bit_stream(zfp.get(), bits.get());
  }
  // The exponent is in the bytes before the stream, which begins at a word.
  std::byte* stream() { return reinterpret_cast<std::byte*>(buffer.data() + 1); }
  std::byte* begin() { return stream() - sizeof(Exponent); }
  std::size_t stream_room() const { return 8 * (buffer.size() - 1); }

  // The field, and how it is taken.
  Field open(const void* numbers, std::int64_t bytes, const Sizes& sizes, int exponent) {
    zfp_stream_set_params(zfp.get(), ZFP_MIN_BITS, ZFP_MAX_BITS, ZFP_MAX_PREC, exponent);
    zfp_stream_rewind(zfp.get());
    const zfp_type type = bytes == 4 ? zfp_type_float : zfp_type_double;
    Field field = field_of(numbers, type, sizes);
    if (zfp_stream_maximum_size(zfp.get(), field.get()) > stream_room())
      field = field_of(numbers, type, {sizes[0] * sizes[1] * sizes[2], 1, 1});
    return field;
  }

  struct Close {
    void operator()(zfp_stream* it) const { zfp_stream_close(it); }
    void operator()(bitstream* it) const { stream_close(it); }
  };
  std::vector<std::uint64_t> buffer;
  std::unique_ptr<zfp_stream, Close> zfp{zfp_stream_open(nullptr)};
  std::unique_ptr<bitstream, Close> bits{stream_open(stream(), stream_room())};
};

ZfpCodec::ZfpCodec(std::int64_t piece_bytes) : stream_(std::make_unique<Stream>(piece_bytes)) {}
ZfpCodec::~ZfpCodec() = default;

std::int64_t ZfpCodec::memory_bytes(std::int64_t piece_bytes) {
  return stream_bytes(piece_bytes) + 16;
}

std::span<const std::byte> ZfpCodec::encode(double tolerance, std::span<const std::byte> numbers,
                                            std::int64_t bytes, const Sizes& sizes) {
  const int exponent = std::ilogb(tolerance);
  if (!(tolerance > 0) || exponent <= ZFP_MIN_EXP || exponent > 1024) return {};
  if (!is_aligned(numbers.data(), bytes)) return {};
  const Field field = stream_->open(numbers.data(), bytes, sizes, exponent);
  const std::size_t made = zfp_compress(stream_->zfp.get(), field.get());
  if (made == 0) return {};
  const auto said = static_cast<Exponent>(exponent);
  std::memcpy(stream_->begin(), &said, sizeof said);
  return {stream_->begin(), sizeof said + made};
}

void ZfpCodec::decode(std::span<const std::byte> encoded, std::span<std::byte> numbers,
                      std::int64_t bytes, const Sizes& sizes) {
  const auto require = [](bool holds) {
    if (!holds) throw Error(ANADROME_ERR_CORRUPT, "its bytes are no zfp stream");
  };
  Exponent exponent = 0;
  require(encoded.size() > sizeof exponent &&
          encoded.size() - sizeof exponent <= stream_->stream_room() &&
          is_aligned(numbers.data(), bytes));
  // A damaged stream reads on: into what was there before.
  std::memmove(stream_->begin(), encoded.data(), encoded.size());
  std::memcpy(&exponent, stream_->begin(), sizeof exponent);
  require(exponent > ZFP_MIN_EXP && exponent <= 1024);
  const Field field = stream_->open(numbers.data(), bytes, sizes, exponent);
  require(zfp_decompress(stream_->zfp.get(), field.get()) > 0);
}
#else
struct ZfpCodec::Stream {};

ZfpCodec::ZfpCodec(std::int64_t) {}
ZfpCodec::~ZfpCodec() = default;

std::int64_t ZfpCodec::memory_bytes(std::int64_t) { return 0; }

std::span<const std::byte> ZfpCodec::encode(double, std::span<const std::byte>, std::int64_t,
                                            const Sizes&) {
  return {};
}

void ZfpCodec::decode(std::span<const std::byte>, std::span<std::byte>, std::int64_t,
                      const Sizes&) {
  throw Error(ANADROME_ERR_UNSUPPORTED, "it is compressed by zfp, and this build has no zfp");
}
#endif

}  // namespace anadrome::store

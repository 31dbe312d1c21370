// SPDX-License-Identifier: BSD-2-Clause
#include "store/moving/piece_codec.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/index.h"
#include "store/moving/rounding.h"

namespace anadrome::store {
namespace {

std::int64_t signed_size(std::span<const std::byte> bytes) { return std::ssize(bytes); }

bool changes_numbers(CodecName name) { return is_lossy(name); }
bool is_zfp(CodecName name) { return name == CodecName::kZfp; }

template <class Test>
bool any(std::span<const CodecName> names, const Test& test) {
  return std::any_of(names.begin(), names.end(), test);
}

}  // namespace

PieceCodec::PieceCodec(std::span<const CodecName> names, std::int64_t piece_bytes)
    : shuffled_(size(piece_bytes)), changed_(size(any(names, changes_numbers) ? piece_bytes : 0)) {
  if (any(names, is_zfp)) zfp_.emplace(piece_bytes);
}

std::int64_t PieceCodec::memory_bytes(std::span<const CodecName> names, std::int64_t piece_bytes) {
  return piece_bytes + (any(names, changes_numbers) ? piece_bytes : 0) +
         (any(names, is_zfp) ? ZfpCodec::memory_bytes(piece_bytes) : 0);
}

// What is returned was expanded to `changed_`, too. Empty: it is not to be used.
std::span<const std::byte> PieceCodec::by_zfp(std::span<const std::byte> from,
                                              const Numbers& numbers) {
  const auto encoded = zfp_->encode(numbers.tolerance, from, numbers.real_bytes, numbers.sizes);
  if (encoded.empty() || encoded.size() >= from.size()) return {};
  const std::span<std::byte> back = std::span(changed_).first(from.size());
  zfp_->decode(encoded, back, numbers.real_bytes, numbers.sizes);
  return are_within(numbers.tolerance, from, back, numbers.real_bytes, numbers.outliers)
             ? encoded
             : std::span<const std::byte>();
}

Piece PieceCodec::without_loss(std::span<const std::byte> from, std::int64_t number_bytes,
                               std::span<std::byte> to) {
  shuffle(from, number_bytes, shuffled_.data());
  const std::int64_t encoded =
      compress_lz4(std::span(shuffled_).first(from.size()), to.first(from.size() - 1));
  if (encoded > 0) return {Piece::Coding::kLz4, encoded};
  std::memcpy(to.data(), from.data(), from.size());
  return {Piece::Coding::kPlain, signed_size(from)};
}

Piece PieceCodec::encode(CodecName name, std::span<const std::byte> from, const Numbers& numbers,
                         std::span<std::byte> to) {
  const bool changes = is_lossy(name) && numbers.real_bytes > 0;
  if (changes && name == CodecName::kFloat32) {
    const auto half = std::span(changed_).first(from.size() / 2);
    if (numbers.real_bytes == 8 &&
        to_floats(from, half.data(), numbers.tolerance, numbers.outliers)) {
      std::memcpy(to.data(), half.data(), half.size());
      return {Piece::Coding::kFloat32, signed_size(half)};
    }
  } else if (changes && can_round(numbers.tolerance, numbers.real_bytes)) {
    if (is_zfp(name)) {
      const auto encoded = by_zfp(from, numbers);
      if (!encoded.empty()) {
        std::memcpy(to.data(), encoded.data(), encoded.size());
        return {Piece::Coding::kZfp, signed_size(encoded)};
      }
    }
    const auto changed = std::span(changed_).first(from.size());
    std::copy(from.begin(), from.end(), changed.begin());
    round_to(numbers.tolerance, changed, numbers.real_bytes, numbers.outliers);
    from = changed;
  }
  return without_loss(from, numbers.bytes, to);
}

void PieceCodec::decode(const Piece& piece, std::span<const std::byte> from, const Numbers& numbers,
                        std::span<std::byte> to) {
  const auto require = [](bool holds) {
    if (!holds) throw Error(ANADROME_ERR_CORRUPT, "a compressed piece has another length");
  };
  switch (piece.coding) {
    case Piece::Coding::kPlain:
      require(from.size() == to.size());
      std::memcpy(to.data(), from.data(), to.size());
      return;
    case Piece::Coding::kFloat32:
      require(2 * from.size() == to.size());
      return to_doubles(from, to.data());
    case Piece::Coding::kZfp:
      if (!zfp_ || numbers.real_bytes == 0)
        throw Error(ANADROME_ERR_CORRUPT, "a piece is zfp's where nothing can be");
      return zfp_->decode(from, to, numbers.real_bytes, numbers.sizes);
    case Piece::Coding::kLz4:
      break;
    case Piece::Coding::kNone:
      throw Error(ANADROME_ERR_CORRUPT, "a piece is compressed by another codec");
  }
  const auto shuffled = std::span(shuffled_).first(to.size());
  expand_lz4(from, shuffled);
  unshuffle(shuffled, numbers.bytes, to.data());
}

void PieceCodec::change(CodecName name, std::span<std::byte> bytes, const Numbers& numbers) {
  if (!is_lossy(name) || numbers.real_bytes == 0) return;
  if (name == CodecName::kFloat32) {
    const auto half = std::span(changed_).first(bytes.size() / 2);
    if (numbers.real_bytes == 8 &&
        to_floats(bytes, half.data(), numbers.tolerance, numbers.outliers))
      to_doubles(half, bytes.data());
    return;
  }
  if (!can_round(numbers.tolerance, numbers.real_bytes)) return;
  if (is_zfp(name) && !by_zfp(bytes, numbers).empty()) {
    std::copy_n(changed_.begin(), bytes.size(), bytes.begin());
  } else {
    round_to(numbers.tolerance, bytes, numbers.real_bytes, numbers.outliers);
  }
}

}  // namespace anadrome::store

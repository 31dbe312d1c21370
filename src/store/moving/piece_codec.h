// SPDX-License-Identifier: BSD-2-Clause
// The encoding of a piece of a field on its way to disk, and back.
//
// Without loss: bytes are shuffled, so that those of numbers that are alike follow each other, and
// compressed. With loss: numbers become those of single precision, or are rounded and then
// compressed without loss, or are zfp's. What zfp makes is expanded and compared before it is used;
// where it misses the tolerance, the piece is rounded instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "store/memory/pieces.h"
#include "store/moving/codec.h"
#include "store/moving/rounding.h"
#include "store/moving/zfp_codec.h"

namespace anadrome::store {

/// The numbers of a piece.
struct Numbers {
  std::int64_t bytes = 1;         ///< of one, as they are shuffled
  std::int64_t real_bytes = 0;    ///< 4 or 8: of a real number, if they may be changed
  double tolerance = 0;           ///< by so much at most; 0: not at all
  Sizes sizes = {1, 1, 1};        ///< in real numbers
  double outliers = kNoOutliers;  ///< numbers from here on are not changed
};

/// Used by one thread at a time.
class PieceCodec {
 public:
  /// For pieces of at most so many bytes, by any of these codecs.
  PieceCodec(std::span<const CodecName> names, std::int64_t piece_bytes);
  /// Memory that it takes, at most.
  static std::int64_t memory_bytes(std::span<const CodecName> names, std::int64_t piece_bytes);

  /// `from` -> the first bytes of `to`, which has as many as `from`. Those that lose anything take
  /// LZ4 for what they leave as it is.
  Piece encode(CodecName name, std::span<const std::byte> from, const Numbers& numbers,
               std::span<std::byte> to);
  /// And back to all of `to`. `from` may be damaged: throws ERR_CORRUPT if that shows, and touches
  /// nothing outside `to`.
  void decode(const Piece& piece, std::span<const std::byte> from, const Numbers& numbers,
              std::span<std::byte> to);
  /// The numbers -> what encoding and decoding makes of them.
  void change(CodecName name, std::span<std::byte> bytes, const Numbers& numbers);

 private:
  std::span<const std::byte> by_zfp(std::span<const std::byte> from, const Numbers& numbers);
  Piece without_loss(std::span<const std::byte> from, std::int64_t number_bytes,
                     std::span<std::byte> to);

  std::vector<std::byte> shuffled_, changed_;  ///< a piece each
  std::optional<ZfpCodec> zfp_;
};

}  // namespace anadrome::store

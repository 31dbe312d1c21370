// SPDX-License-Identifier: BSD-2-Clause
// A field's bytes in a block are encoded in pieces. What is said of them here is nowhere on disk
// but in a journal: who writes a block notes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "base/index.h"

namespace anadrome::store {

/// Of one piece, if the field has no shape; the last one is shorter.
inline constexpr std::int64_t kPieceBytes = std::int64_t{1} << 18;

inline std::int64_t pieces_of(std::int64_t bytes, std::int64_t piece_bytes) {
  return ceil_divide(bytes, piece_bytes);
}

/// How a piece lies on disk.
struct Piece {
  enum class Coding : std::uint8_t { kPlain, kLz4, kNone, kFloat32, kZfp };  // numbers on disk
  Coding coding = Coding::kPlain;
  std::int64_t bytes = 0;
  bool operator==(const Piece&) const = default;

  std::int64_t in_one_number() const { return bytes << 3 | static_cast<std::int64_t>(coding); }
  /// Throws ERR_CORRUPT for a number that no piece has.
  static Piece of(std::int64_t number) {
    const Piece piece{static_cast<Coding>(number & 7), number >> 3};
    if (piece.bytes <= 0 || piece.coding == Coding::kNone || piece.coding > Coding::kZfp)
      throw Error(ANADROME_ERR_CORRUPT, "a compressed piece is described as none can be");
    return piece;
  }
};

/// What a later read of an encoded block needs to know.
struct EncodedBlock {
  bool exact = true;  ///< nothing in it was changed
  /// For each field the number of its pieces, and these. Empty: the block is not encoded.
  std::vector<std::int64_t> pieces;
  bool operator==(const EncodedBlock&) const = default;
};

/// The pieces of the next field, from the front of `pieces`. Throws ERR_CORRUPT if they are not
/// there.
inline std::span<const std::int64_t> take_pieces(std::span<const std::int64_t>& pieces) {
  const std::int64_t count = pieces.empty() ? -1 : pieces.front();
  if (count < 0 || count >= std::ssize(pieces))
    throw Error(ANADROME_ERR_CORRUPT, "the description of compressed pieces is missing");
  const auto taken = pieces.subspan(1, size(count));
  pieces = pieces.subspan(1 + taken.size());
  return taken;
}

/// Is one of the block's pieces encoded so?
inline bool has_piece(const EncodedBlock& block, Piece::Coding coding) {
  for (std::span<const std::int64_t> left = block.pieces; !left.empty();) {
    for (const std::int64_t piece : take_pieces(left)) {
      if (Piece::of(piece).coding == coding) return true;
    }
  }
  return false;
}

/// Bytes on disk of the next field, likewise.
inline std::int64_t take_bytes_on_disk(std::span<const std::int64_t>& pieces) {
  std::int64_t sum = 0;
  for (const std::int64_t piece : take_pieces(pieces))
    sum = checked_add(sum, Piece::of(piece).bytes);
  return sum;
}

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// A field's bytes in a block are compressed in pieces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/checked.h"
#include "base/error.h"

namespace anadrome::store {

/// Of one piece; the last one is shorter.
inline constexpr std::int64_t kPieceBytes = std::int64_t{1} << 18;

inline std::int64_t pieces_of(std::int64_t bytes) { return ceil_divide(bytes, kPieceBytes); }

/// Bytes on disk of a field of so many bytes, of which the next lengths are: those of its pieces,
/// 0 for one that is there as it is. They are taken from `lengths`. Throws ERR_CORRUPT if there are
/// too few.
inline std::int64_t bytes_on_disk(std::int64_t bytes, std::span<const std::int64_t>& lengths) {
  const auto pieces = static_cast<std::size_t>(pieces_of(bytes));
  if (lengths.size() < pieces)
    throw Error(ANADROME_ERR_CORRUPT, "the lengths of compressed pieces are missing");
  std::int64_t sum = 0;
  for (std::size_t p = 0; p < pieces; ++p) {
    const std::int64_t whole = std::min(kPieceBytes, bytes);
    bytes -= whole;
    sum += lengths[p] == 0 ? whole : lengths[p];
  }
  lengths = lengths.subspan(pieces);
  return sum;
}

}  // namespace anadrome::store

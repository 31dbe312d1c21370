// SPDX-License-Identifier: BSD-2-Clause
// Where blocks lie on disk.
#pragma once

#include <cstdint>

#include "store/files/segment.h"

namespace anadrome::store {

class BlockPlaces {
 public:
  virtual ~BlockPlaces() = default;
  /// Blocks [0, this) have a place.
  virtual std::int64_t capacity() const = 0;
  /// The file that has the place of `block`, which is below capacity(). Segments stay where they
  /// are as long as transfers may use them.
  virtual const Segment& segment_of(std::int64_t block) const = 0;
  /// The second place of block 0, which nothing can be recomputed without; NULL: there is none.
  virtual const Segment* copy_of_first_block() const = 0;
};

}  // namespace anadrome::store

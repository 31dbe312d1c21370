// SPDX-License-Identifier: BSD-2-Clause
// How much room this rank's blocks take on disk, where blocks that are compressed leave some. The
// answer is about blocks below a number, so that it does not depend on which writes have ended.
#pragma once

#include <cstdint>
#include <vector>

#include "store/memory/block_layout.h"
#include "store/memory/pieces.h"

namespace anadrome::store {

/// In blocks of full size.
struct Filled {
  double taken = 0;  ///< by the blocks that are counted
  double share = 0;  ///< of a block: the mean, or the newest if that took more; 0: unknown
  double mean = 0;   ///< of a block, x_0 left out
};

class FilledPart {
 public:
  explicit FilledPart(const BlockLayout& layout) : layout_(layout) {}

  /// The block is to be written: it may be there from here on. May lack the memory.
  void expect(std::int64_t block);
  /// What is known of a block that was expected; NULL: no more than that.
  void note(std::int64_t block, const EncodedBlock* encoded);
  /// Blocks below this number are counted, whose writes ended.
  void count_below(std::int64_t block);
  std::int64_t counted() const { return counted_; }
  Filled filled() const { return filled_; }

 private:
  double whole() const;
  double share_of(const EncodedBlock& encoded) const;

  const BlockLayout& layout_;
  std::vector<double> shares_;  ///< by number
  std::int64_t counted_ = 0;
  double others_ = 0;  ///< taken by those but x_0
  Filled filled_;
};

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// The account of anchors and of their blocks: which were kept, of which steps they are, and how the
// write of each block ended. Who writes and reads blocks notes it here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/checksum.h"
#include "base/error.h"
#include "base/index.h"
#include "store/journal/journal_record.h"
#include "store/memory/block_layout.h"
#include "store/moving/transport.h"
#include "store/tiers/tier.h"

namespace anadrome::store {

class AnchorBlocks {
 public:
  /// The states of a block.
  struct States {
    std::int64_t first_step = 0, last_step = 0;
    std::int64_t count = 0;
  };
  /// A block that was written, or given up.
  struct Block {
    States states;
    int volume = 0;          ///< where it is, or was to be
    std::int64_t place = 0;  ///< of those of the volume
    Checksum checksum;
    EncodedBlock encoded;
    Failure failure;      ///< why the block is not on disk
    bool copied = false;  ///< there is another copy
  };

  AnchorBlocks(const BlockLayout& layout, const BlockIdentity& identity)
      : layout_(layout), identity_(identity) {}

  /// `anchors` anchors that another process left, of steps step_of(number): `blocks` are on disk,
  /// those missing are lost.
  void take_over(std::int64_t anchors, const std::function<std::int64_t(std::int64_t)>& step_of,
                 const std::map<std::int64_t, JournalBlock>& blocks);
  /// Only the first `anchors` anchors count; the next one to be kept begins a block.
  void truncate(std::int64_t anchors);

  /// `anchor` is the newest from here on. `note` then takes no memory for its block.
  void keep(const KeptState& anchor) {
    const std::size_t blocks = size(layout_.block_of(anchor.number)) + 1;
    if (blocks > blocks_.capacity()) blocks_.reserve(2 * blocks);
    if (layout_.index_in_block(anchor.number) == 0) first_step_ = anchor.step;
    last_step_ = anchor.step;
    kept_ = anchor.number + 1;
  }
  std::int64_t kept() const { return kept_; }
  /// The block of the newest anchor, and the states in it so far.
  std::int64_t newest_block() const { return layout_.block_of(kept_ - 1); }
  States newest_states() const {
    return {first_step_, last_step_, layout_.index_in_block(kept_ - 1) + 1};
  }

  /// Anchors [0, this) are on disk, or on their way.
  std::int64_t written() const { return written_; }
  void all_are_written() { written_ = kept_; }
  /// The write of anchor `number` was taken back.
  void take_back(std::int64_t number) { written_ = std::min(written_, number); }
  /// Anchors that can be restored at the end of a reverse sweep: those on disk, or the first
  /// block's.
  std::int64_t restorable() const {
    return written_ > 0 ? written_ : std::min(kept_, layout_.states());
  }

  /// `block` is to be written, or given up: earlier notes on this number are void.
  Block& note(std::int64_t block, const States& states);
  /// A write is done. What it leaves is moved from the transfer, which takes no memory.
  void note_written(Transfer& transfer);
  Block& operator[](std::int64_t block) { return blocks_[at(block)]; }
  const Block& operator[](std::int64_t block) const { return blocks_[at(block)]; }
  BlockIdentity identity_of(std::int64_t block) const;

  /// Blocks that were noted at some time.
  std::int64_t noted() const { return std::ssize(blocks_); }

  /// Block 0 is read from its copy from here on.
  void turn_to_copy() { from_copy_ = true; }
  bool reads_copy(std::int64_t block) const { return block == 0 && from_copy_; }
  /// Can the block be read, as far as is known?
  bool is_on_disk(std::int64_t block) const;
  Failure why_not_on_disk(std::int64_t block) const;
  /// Were both writes of block 0 in vain?
  bool first_is_nowhere() const {
    return !blocks_.empty() && blocks_.front().failure && !blocks_.front().copied;
  }
  /// Low and high words of the blocks' checksums.
  std::vector<std::uint64_t> checksums() const;

 private:
  const BlockLayout& layout_;
  const BlockIdentity identity_;
  std::vector<Block> blocks_;  ///< by number
  std::int64_t kept_ = 0, written_ = 0;
  std::int64_t first_step_ = 0, last_step_ = 0;  ///< of the block being filled
  bool from_copy_ = false;
};

}  // namespace anadrome::store

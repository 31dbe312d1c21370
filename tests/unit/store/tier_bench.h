// SPDX-License-Identifier: BSD-2-Clause
// A tier on disk with all that it is made of, for one rank.
#pragma once

#include <memory>
#include <vector>

#include "copied_live.h"
#include "segment_file.h"
#include "store/tiers/disk_tier.h"

namespace anadrome::store {

// Places in one file, and in a second one for the copy of block 0.
class FilePlaces final : public BlockPlaces {
 public:
  FilePlaces(const BlockLayout& layout, const std::vector<Field>& fields, std::int64_t blocks)
      : file(layout, fields, blocks), copy(layout, fields, 1), capacity_(blocks) {}
  std::int64_t capacity() const override { return capacity_; }
  const Segment& segment_of(std::int64_t) const override { return file.segment; }
  const Segment* copy_of_first_block() const override { return has_copy ? &copy.segment : nullptr; }
  SegmentFile file, copy;
  bool has_copy = true;

 private:
  std::int64_t capacity_;
};

struct CountingObserver final : TierObserver {
  void waited(double, double) override {}
  void moved(const Transfer&, std::int64_t, std::int64_t) override { ++moves; }
  int moves = 0;
};

struct TierShape {
  std::int64_t states = 1;  ///< in a block
  std::int64_t pool_blocks = 4;
};

struct TierBench {
  static constexpr std::int64_t kDiskBlocks = 8;

  /// `make` makes the transport for a layout.
  template <class Make>
  TierBench(const TierShape& shape, const Make& make)
      : values(512),  // a page
        fields({CopiedLive::field(values.all)}),
        layout({shape.states, true}, fields),
        pool(layout.block_bytes(), shape.pool_blocks),
        live(layout, pool, values.all),
        disk(layout, fields, kDiskBlocks),
        transport(make(layout)) {
    const Volume volume = {disk, *transport, times};
    const DiskTier::Parts parts = {layout, blocks, {&volume, 1}, live};
    tier = std::make_unique<DiskTier>(parts, BlockIdentity{}, observer);
  }

  /// The state of a step is 100 + step.
  void keep(std::int64_t number, std::int64_t step) {
    values.set(100 + step);
    tier->keep({number, step});
  }
  void keep_and_write(std::int64_t number, std::int64_t step) {
    keep(number, step);
    if (layout.fills_block(number)) tier->write_newest_block();
  }
  bool brings_back(std::int64_t number, std::int64_t step) {
    values.set(-1);
    if (tier->load(number)) return false;
    tier->restore({number, step});
    return values.are(100 + step);
  }

  Values values;
  std::vector<Field> fields;
  BlockLayout layout;
  Pool pool;
  BlockKeeper blocks{pool};
  CopiedLive live;
  FilePlaces disk;
  std::unique_ptr<Transport> transport;
  TransferTimes times;
  CountingObserver observer;
  std::unique_ptr<DiskTier> tier;
};

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// The tier on disk: anchors go there and come back a block at a time. A block is written from the
// memory it was kept in, stays there while there is room, and is read into the memory it is
// restored from. Block 0 is written twice.
//
// Disk is one volume, or two, each with a thread of its own. A block is written once, to the volume
// that the caller names, and read from there.
//
// A write that fails costs its anchor, no more: a block that is not on disk, or not as it was
// written, is lost when it is asked for, and then on all ranks. Block 0 stays in memory until it is
// on disk.
//
// The caller's thread owns all of this; the transport alone touches a block between start and done.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/index.h"
#include "store/memory/block_layout.h"
#include "store/moving/transport.h"
#include "store/tiers/anchor_blocks.h"
#include "store/tiers/block_keeper.h"
#include "store/tiers/filled_part.h"
#include "store/tiers/tier.h"
#include "store/tiers/transfer_notes.h"
#include "store/tiers/volume.h"

namespace anadrome::store {

class DiskTier final : public Tier, private BlockKeeper::Backing {
 public:
  /// The parts of the tier, which outlive it.
  struct Parts {
    const BlockLayout& layout;
    BlockKeeper& blocks;
    std::span<const Volume> volumes;  ///< home first
    Live& live;
  };
  DiskTier(const Parts& parts, const BlockIdentity& identity, TierObserver& observer);
  ~DiskTier() override;

  /// Blocks read ahead of the one being worked on; with a second volume one more, which is home's
  /// next.
  void set_prefetch_depth(std::int64_t depth);
  /// Writes that are still queued when their block is not needed any more may be left out; a rewind
  /// finds fewer anchors then.
  void allow_cancelling() { may_cancel_ = true; }

  /// Before any anchor is kept: see AnchorBlocks.
  void take_over(std::int64_t anchors, const std::function<std::int64_t(std::int64_t)>& step_of,
                 const std::map<std::int64_t, JournalBlock>& blocks);
  void truncate(std::int64_t anchors);

  /// Anchors come in order.
  void keep(const KeptState& anchor) override;
  Failure load(std::int64_t number) override;
  bool lose(std::int64_t number) override;
  /// A state is the one that a read from disk brings, whether or not it was ever written; so what
  /// a lossy codec does to it does not depend on what is where.
  void restore(const KeptState& anchor) override;
  /// As it was kept; only for one whose block was written so: see is_exact.
  void restore_exactly(const KeptState& anchor);
  /// From here on anchor `number` is restored with an error that is so many times larger.
  void begin_trial(std::int64_t number, double times) {
    trial_ = {layout_.block_of(number), times};
  }
  /// As it was before; the anchor has to be loaded again.
  void end_trial();
  /// True if the block of this anchor is known to hold the numbers that were kept.
  bool is_exact(std::int64_t number) const;
  void drop(std::int64_t number) override;
  /// Has `volume` a place for the block of anchor `number`, which was not written yet?
  bool has_place(std::int64_t number, int volume) const;
  /// Of places, on this volume.
  std::int64_t blocks_written(int volume) const { return lane(volume).next_place; }
  /// Does a block take the next place, and not that of its number? With two volumes, and where a
  /// run goes on that had two.
  bool places_in_turn() const { return in_turn_; }
  /// After take_over and truncate, where a rank may know of fewer blocks than another one: blocks
  /// take places in turn, the next one none on this volume below this one.
  void begin_places_at(int volume, std::int64_t place) {
    in_turn_ = true;
    lane(volume).next_place = place;
  }
  Cost cost() const override { return cost_of(kHome); }
  Cost cost_of(int volume) const { return lane(volume).notes.cost(); }
  /// A load takes no memory of its own then: collective transfers wait for every rank.
  void expect_load() { blocks_.expect_one(); }
  Agreed agreed_before_use() const override {
    return overlaps() ? Agreed::kLoaded : Agreed::kAboutToLoad;
  }

  /// Begin to write the block that ends with the newest anchor, as every block that is full must
  /// be; its place on disk exists. `refused`: it does not, and what is kept can be restored as long
  /// as its memory is not needed.
  /// `exact`: without loss, whatever the codec.
  void write_newest_block(const Failure& refused = {}, bool exact = false, int volume = kHome);
  /// What will be needed after a block is the one so many blocks on; -1 at first. 0: nothing is
  /// read ahead.
  void read_ahead_by(std::int64_t stride);
  /// Begin to read what will be needed after anchor `number`, as far as memory allows.
  void prefetch(std::int64_t number) { prefetch_after(layout_.block_of(number)); }
  /// The same, where anchor `number` is needed next.
  void prefetch_from(std::int64_t number) { prefetch_after(layout_.block_of(number) - stride_); }

  /// The block of the pool in which the anchor is, even if on its way to disk; -1: it would have to
  /// be read.
  std::int64_t block_in_memory(std::int64_t number) const;
  /// Anchors below this number are on disk, as far as is known.
  std::int64_t good_places() const;
  /// Blocks that are on their way to this volume.
  std::int64_t writes_under_way(int volume) const;
  /// Note what the transport has finished since.
  void settle_finished() override;
  /// Wait until everything is written.
  void flush();
  /// What is queued at home from here on follows block 0's write there.
  void queue_first_block_at_home();

  const AnchorBlocks& anchors() const { return anchors_; }
  int volumes() const { return static_cast<int>(lanes_.size()); }
  const TransferNotes& notes(int volume = kHome) const { return lane(volume).notes; }
  /// What blocks below this number take on disk counts from here on; waits until they are there.
  void count_below(std::int64_t block);
  std::int64_t counted() const { return filled_.counted(); }
  Filled filled() const { return filled_.filled(); }

 private:
  using State = Resident::State;

  bool is_on_disk(std::int64_t block) const override {
    return block < anchors_.noted() && anchors_.is_on_disk(block);
  }
  bool first_block_stays() const override;
  Failure why_no_memory() const override;
  void finish(std::int64_t block) override;
  bool write_first_block_again() override;

  /// A volume, and what is known of its transfers.
  struct Lane {
    Volume volume;
    TransferNotes notes;
    std::int64_t next_place = 0;
  };
  const Lane& lane(int volume) const { return lanes_[at(volume)]; }
  Lane& lane(int volume) { return lanes_[at(volume)]; }
  const Volume& home() const { return lanes_.front().volume; }
  bool overlaps() const { return home().transport.overlaps(); }
  TransferNotes& notes_of(const Resident& resident) { return lane(resident.transfer.volume).notes; }
  Transport& transport_of(const Resident& resident) const {
    return lane(resident.transfer.volume).volume.transport;
  }
  const Segment* copy_of_first_block() const { return home().places.copy_of_first_block(); }

  Residents& residents() const { return blocks_.residents(); }
  std::byte* address_of(const Resident& resident) const {
    return blocks_.pool().address(resident.pool_block);
  }
  const Segment& segment_of(const AnchorBlocks::Block& block) const;
  void work_on(std::int64_t block);
  BlockKeeper::Window window(std::int64_t block);
  std::int64_t next_at_home(std::int64_t block);
  bool read_ahead_to(std::int64_t block, BlockKeeper::Window stays);
  void prefetch_after(std::int64_t block);
  Residents::iterator settle(Residents::iterator resident);
  bool is_resident(std::int64_t block);
  void forget(std::int64_t block);
  AnchorBlocks::Block& note(std::int64_t block, const AnchorBlocks::States& states,
                            int volume = kHome);
  void put(std::int64_t block, const AnchorBlocks::States& states, const Failure& refused,
           bool exact = false, int volume = kHome);
  void note_places();
  double wait_for(const Resident& resident) const;
  void start_write(std::int64_t block, bool exact);
  void start_copy(Resident& first);
  bool has_places(int volume) const { return lane(volume).volume.places.capacity() > 0; }
  void start_change(Resident& resident, std::int64_t block, double times);
  void change(std::int64_t block, double times);
  bool change_ahead(std::int64_t block);
  void start_read(std::int64_t block, std::int64_t pool_block);
  Failure read_and_wait(std::int64_t block);

  const BlockLayout& layout_;
  BlockKeeper& blocks_;
  std::vector<Lane> lanes_;
  Live& live_;
  AnchorBlocks anchors_;
  FilledPart filled_;
  bool in_turn_ = false;
  bool may_cancel_ = false;
  std::int64_t prefetch_depth_ = 0;
  std::int64_t current_ = 0;  ///< block of the interval being worked on
  std::int64_t begun_ = 0;    ///< transfers that were
  bool reads_ahead_ = false;  ///< blocks beyond the current one are being read ahead
  std::int64_t stride_ = -1;  ///< from one of them to the next
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  /// What next_at_home found last.
  struct AtHome {
    std::int64_t from = kNone, next = -1;
  } at_home_;
  /// All blocks to be read ahead of this one are on their way.
  std::int64_t read_ahead_of_ = kNone;
  struct Trial {
    std::int64_t block = -1;
    double times = 0;
  };
  Trial trial_;
  bool tried_copy_ = false;  ///< some rank had to read the copy of block 0
};

}  // namespace anadrome::store

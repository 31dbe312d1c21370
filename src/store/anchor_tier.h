// Anchors: states that go to disk and come back, a block at a time, through the same pool that
// holds the RAM checkpoints. A block is written from the memory it was kept in, stays there while
// there is room, and is read into the memory it is restored from. Block 0 is written twice.
//
// A write that fails costs its anchor, no more: a block that is not on disk, or not as it was
// written, is lost when it is asked for, and then on all ranks. Block 0 stays in memory until it is
// on disk.
//
// The caller's thread owns all of this; the transport alone touches a block between start and done.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/error.h"
#include "store/block_layout.h"
#include "store/block_places.h"
#include "store/journal_record.h"
#include "store/live_state.h"
#include "store/meter.h"
#include "store/pool.h"
#include "store/ram_stack.h"
#include "store/transport.h"

namespace anadrome::store {

/// Who wants to know what happens when; times are on the monotonic clock.
class TierObserver {
 public:
  virtual ~TierObserver() = default;
  /// The caller waited for a transfer.
  virtual void waited(double start, double end) = 0;
  /// A transfer is done; it has the states of steps first .. last.
  virtual void moved(const Transfer& transfer, std::int64_t first, std::int64_t last) = 0;
};

class AnchorTier {
 public:
  AnchorTier(const BlockLayout& layout, Pool& pool, BlockPlaces& disk, Transport& transport,
             BlockIdentity identity, TransferTimes& times, TierObserver& observer);
  ~AnchorTier();
  AnchorTier(const AnchorTier&) = delete;
  AnchorTier& operator=(const AnchorTier&) = delete;

  /// Blocks read ahead of the one being worked on.
  void set_prefetch_depth(std::int64_t depth) { prefetch_depth_ = depth; }
  /// Writes that are still queued when their block is not needed any more may be left out; a rewind
  /// finds fewer anchors then.
  void allow_cancelling() { may_cancel_ = true; }
  /// Anchors are replaced: a dropped number can be kept again, with another state. Blocks hold one
  /// state then, load comes before every restore, and whatever is safe on disk may make room.
  void allow_replacing() { replaces_ = true; }
  /// The schedule says what is written and read, and when. Likewise, and what is in memory stays
  /// there until it is dropped; dropped, it can be read again.
  void follow_plan() { replaces_ = planned_ = true; }
  /// By plan: states have several sizes, and places that the plan gives them. No block of the pool
  /// is used.
  struct Region {
    std::int64_t place = 0, units = 0;
  };
  void use_stack(RamStack& stack) { stack_ = &stack; }

  /// `anchors` anchors that another process left, of steps step_of(number): `blocks` are on disk,
  /// those missing are lost.
  void take_over(std::int64_t anchors, const std::function<std::int64_t(std::int64_t)>& step_of,
                 const std::map<std::int64_t, JournalBlock>& blocks);
  /// Only the first `anchors` of them count; the next one to be kept begins a block.
  void truncate(std::int64_t anchors);

  /// Live state -> anchor `number`, x_step. Anchors come in order, or replace dropped ones.
  void keep(LiveState& live, std::int64_t number, std::int64_t step);
  /// Does anchor `number` fill its block? Then write_block must follow.
  bool fills_block(std::int64_t number) const { return (number + 1) % layout_.states() == 0; }
  /// Begin to write the block that ends with the newest anchor; its place on disk exists.
  void write_newest_block();
  /// By plan: begin to write anchor `number`, x_step, or give it up; and to read it.
  void write(std::int64_t number, std::int64_t step);
  void give_up(std::int64_t number, std::int64_t step, const Failure& why);
  void read(std::int64_t number);
  /// The same in a stack: the live state -> anchor `number`, x_step, at `region`. Returns what it
  /// takes in bytes: if that is more than the region has, it is not kept.
  std::int64_t keep_at(std::int64_t number, std::int64_t step, const Region& region);
  void read_to(std::int64_t number, const Region& region);
  /// Wait until nothing moves there any more.
  void clear(const Region& region);
  /// There is no place for it: it can be restored as long as its memory is not needed.
  void give_up_newest_block(const Failure& why);

  /// Begin to read what will be needed after anchor `number`, as far as memory allows.
  void prefetch_below(std::int64_t number);
  /// Have the block of anchor `number` in memory; waits. Returns what went wrong.
  Failure load(std::int64_t number);
  /// Some rank could not: the block is dropped. True: there is a copy of it, and load is worth
  /// another try. The same on all ranks.
  bool lose(std::int64_t number);
  /// Anchor `number` -> live state; load came before.
  void restore(LiveState& live, std::int64_t number);
  /// Anchor `number` is not needed in this reverse sweep any more.
  void drop(std::int64_t number);

  /// A block of the pool for a RAM checkpoint; a block that is safe on disk makes room, if need be
  /// once it is written. The interval being worked on and those being read ahead stay.
  std::int64_t take_block();

  /// Is a block on its way to disk?
  bool is_writing() const;
  /// What the first write of all has taken so far, per state; 0 once it is done.
  double seconds_of_first_write() const;
  /// Note what the transport has finished since.
  void settle_finished();
  /// Wait until everything is written.
  void flush();
  std::int64_t block_of(std::int64_t number) const { return number / layout_.states(); }
  std::int64_t anchors_kept() const { return anchors_kept_; }
  /// Anchors that can be restored at the end of a reverse sweep: those on disk, or the first
  /// block's.
  std::int64_t anchors_restorable() const;
  /// Anchors [0, this) are on disk, or on their way.
  std::int64_t anchors_written() const { return anchors_written_; }
  /// Low and high words of the blocks' checksums.
  std::vector<std::uint64_t> checksums() const;

  /// The first write that failed on this rank.
  const Failure& failed_write() const { return failed_write_; }
  std::int64_t writes_failed() const { return writes_failed_; }
  /// The disk takes no more: it is full, or one write after the other failed.
  bool disk_refuses() const { return full_ || failed_in_series_ >= kRefusals; }

  double seconds_stalled_write() const { return seconds_stalled_write_; }
  double seconds_stalled_read() const { return seconds_stalled_read_; }

 private:
  enum class State { kFilling, kWriting, kCopying, kReading, kClean };
  static constexpr int kRefusals = 3;
  struct Resident {
    State state = State::kFilling;
    bool dropped = false;   ///< not needed any more, but still being written
    std::int64_t turn = 0;  ///< in the order of transfers
    std::int64_t pool_block = -1;
    Region region;  ///< in a stack, instead
    Transfer transfer;
  };
  using Residents = std::map<std::int64_t, Resident>;

  /// Blocks that stay in memory: first .. last.
  struct Window {
    std::int64_t first, last;
    bool has(std::int64_t block) const { return first <= block && block <= last; }
  };
  Window worked_on() const {
    return {reversing_ ? current_ - prefetch_depth_ : current_, current_};
  }
  Residents::iterator settle(Residents::iterator resident);
  Residents::iterator first_to_wait_for(const Window& stays);
  bool is_resident(std::int64_t block);
  std::int64_t find_block(Window stays);
  bool first_block_stays() const;
  Failure first_failure() const;
  bool write_first_block_again(const Window& stays);
  bool free_one_clean_block(const Window& stays);
  bool lose_one_clean_block(const Window& stays);
  template <class Iterator>
  bool free_first(Iterator from, Iterator end, const Window& stays, bool on_disk);
  void forget(std::int64_t block);
  std::byte* address_of(const Resident& resident) const {
    return stack_ != nullptr ? stack_->address(resident.region.place)
                             : pool_.address(resident.pool_block);
  }
  void give_back(const Resident& resident) {
    if (resident.pool_block >= 0) pool_.give_back(resident.pool_block);
  }
  void start_read(std::int64_t block, std::int64_t pool_block);
  Failure read_and_wait(std::int64_t block);
  static bool is_moving(const Resident& resident);
  void note_result(const Resident& resident, std::int64_t block);
  bool is_on_disk(std::int64_t block) const;
  void start(Transfer& transfer);
  void note_time(const Transfer& transfer);
  void note_wait(const Transfer& transfer, double seconds);

  const BlockLayout& layout_;
  Pool& pool_;
  BlockPlaces& disk_;
  Transport& transport_;
  const BlockIdentity identity_;
  TransferTimes& times_;
  TierObserver& observer_;
  std::int64_t prefetch_depth_ = 0;
  Residents residents_;  ///< by block number
  std::int64_t anchors_kept_ = 0;
  std::int64_t anchors_written_ = 0;
  struct Written {
    Checksum checksum;
    std::int64_t first_step = 0, last_step = 0;
    std::int64_t states = 0;
    Failure failure;              ///< it is not on disk
    bool copied = false;          ///< there is another copy
    std::vector<Extent> extents;  ///< in a stack
    Region region;                ///< where it is to be read to
  };
  Written& note_newest_block();
  Written& note_block(std::int64_t block, std::int64_t first_step, std::int64_t last_step,
                      std::int64_t states);
  void start_write(std::int64_t block, const Written& written);
  std::vector<Written> written_;                 ///< by block number
  std::int64_t first_step_ = 0, last_step_ = 0;  ///< of the block being filled
  std::int64_t current_ = 0;                     ///< block of the interval being worked on
  bool may_cancel_ = false;
  bool replaces_ = false;
  bool planned_ = false;
  RamStack* stack_ = nullptr;
  std::int64_t most_moved_ = 0;  ///< bytes of a state that is not a whole block
  std::int64_t writes_begun_ = 0;
  double first_write_began_ = 0;
  bool reversing_ = false;           ///< blocks below it are being read ahead
  std::int64_t read_ahead_of_ = -1;  ///< all blocks to be read ahead of this one are on their way
  bool tried_copy_ = false;          ///< some rank had to read the copy of block 0
  bool from_copy_ = false;           ///< this one did
  Failure failed_write_;
  std::int64_t writes_failed_ = 0;
  int failed_in_series_ = 0;
  bool full_ = false;
  double seconds_stalled_write_ = 0, seconds_stalled_read_ = 0;
};

}  // namespace anadrome::store

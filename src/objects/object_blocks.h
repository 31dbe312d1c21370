// SPDX-License-Identifier: BSD-2-Clause
// The blocks of an object store: in memory, on disk, or on the way. Whoever wants memory gets a
// free block, then that of the block on disk that is needed last, then that of the oldest write,
// once it is done. A block whose write fails stays in memory.
//
// The caller's thread owns all of this; the transport alone touches a block between start and done.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/checksum.h"
#include "base/error.h"
#include "base/index.h"
#include "objects/object_files.h"
#include "store/memory/block_layout.h"
#include "store/memory/pool.h"
#include "store/moving/transport.h"

namespace anadrome::store {

/// The layout of the blocks of a store with so much memory: at least 16 of them. Throws ERR_MEMORY.
BlockLayout object_layout(std::int64_t memory);

class ObjectBlocks {
 public:
  using Number = std::int32_t;
  static constexpr Number kNone = -1;
  /// When a block is needed next: the smaller, the sooner.
  using Rank = std::int64_t;
  static constexpr Rank kNever = std::numeric_limits<Rank>::max();

  /// The parts, which outlive this. Without files and a transport nothing goes to disk.
  struct Parts {
    const BlockLayout& layout;
    Pool& pool;
    ObjectFiles* files = nullptr;
    Transport* transport = nullptr;
  };
  ObjectBlocks(const Parts& parts, std::uint64_t id_low, std::uint64_t id_high);
  ~ObjectBlocks();
  ObjectBlocks(const ObjectBlocks&) = delete;
  ObjectBlocks& operator=(const ObjectBlocks&) = delete;

  std::int64_t block_bytes() const { return parts_.layout.block_bytes(); }
  /// Bytes of the largest object that there is memory for.
  std::int64_t usable_bytes() const;
  /// Of all blocks, those that are withheld included.
  std::int64_t memory_bytes() const { return parts_.pool.blocks() * block_bytes(); }
  std::int64_t withheld_bytes() const { return std::ssize(withheld_) * block_bytes(); }
  /// Takes so many blocks from what the pool has for others. Throws as take does.
  void withhold(std::int64_t blocks);

  /// `count` blocks to be filled, behind those of `taken`. May wait. On failure there is none: all
  /// is pinned (ERR_MEMORY), or nothing can be written (ERR_NO_SPACE, or the failure of the disk).
  void take(std::int64_t count, std::vector<Number>& taken);
  /// One more, if that needs neither waiting nor making room; kNone otherwise.
  Number take_free();
  /// The first `used` bytes are filled, and nothing is added any more.
  void filled(Number block, std::int64_t used);
  /// One that may move is to be filled again, and not on disk any more.
  void reopen(Number block);
  void free(Number block);

  void set_needed(Number block, Rank rank) { at(block).needed = rank; }
  Rank needed(Number block) const { return at(block).needed; }
  /// The soonest rank of the blocks that made room since the last call.
  Rank soonest_evicted();

  std::int64_t used(Number block) const { return at(block).used; }
  bool in_memory(Number block) const;
  bool is_on_disk(Number block) const { return at(block).state == State::kOnDisk; }
  std::byte* address(Number block) { return parts_.pool.address(at(block).memory); }
  /// Begin to read a block that is on disk, in memory that is free or that of a block which is
  /// needed later. False: there is none.
  bool fetch(Number block);
  /// fetch, for a block that load comes for at once: before all others, if there is memory for it
  /// without waiting.
  void fetch_now(Number block);
  /// The block in memory; waits. Throws ERR_CORRUPT or ERR_IO; ERR_MEMORY as take does.
  std::byte* load(Number block);
  void pin(Number block) { ++at(block).pins; }
  void unpin(Number block) { --at(block).pins; }
  /// May its bytes go to another block?
  bool may_move(Number block) const;

  /// Wait until all that is filled is on disk. Returns the first failure.
  Failure flush();

  /// The file in which a block lies, for messages.
  std::string path_of(Number block) const;
  double seconds_waited_for_writes() const { return waited_for_writes_; }
  double seconds_waited_for_reads() const { return waited_for_reads_; }
  std::int64_t blocks_in_memory() const;
  /// Most blocks whose memory was touched so far, without those that are withheld.
  std::int64_t most_blocks_in_memory() const {
    return parts_.pool.touched_blocks() - std::ssize(withheld_);
  }
  /// Bytes of the table, an estimate.
  std::int64_t table_bytes() const;

 private:
  enum class State : std::uint8_t {
    kUnused,
    kFilling,
    kDirty,
    kWriting,
    kClean,
    kReading,
    kOnDisk
  };
  struct Block {
    State state = State::kUnused;
    bool dropped = false;  ///< free, as soon as its transfer is done
    std::int32_t pins = 0;
    std::int64_t memory = -1;  ///< block of the pool
    std::int64_t place = -1;   ///< on disk
    std::int64_t used = 0;
    std::int64_t serial = 0;  ///< no other block of this store has it
    Rank needed = 0;
    Checksum checksum;
    std::unique_ptr<Transfer> transfer;  ///< while it moves
  };
  Block& at(Number block) { return blocks_[size(block)]; }
  const Block& at(Number block) const { return blocks_[size(block)]; }

  Number new_block(std::int64_t memory);
  /// A block that reads always find, whatever cannot be written.
  std::int64_t spare() const { return parts_.transport != nullptr ? 1 : 0; }
  std::int64_t take_memory(std::int64_t leaves);
  bool make_room(std::int64_t leaves);
  bool evict(Rank later_than);
  bool wait_for_oldest(State state);
  bool write_again();
  [[noreturn]] void throw_no_room() const;
  void write_dirty();
  bool few_in_use() const;
  void start_write(Number block);
  void start_read(Number block, std::int64_t memory, bool urgent);
  void start(Number block, bool write, bool urgent);
  bool take_back(Number block);
  void settle();
  void finish(Number block);
  void wait(Number block);
  void set_memory(Number block, std::int64_t memory);
  std::int64_t leave_memory(Number block);
  void release(Number block);
  void give_back_place(Block& block);

  const Parts parts_;
  const std::uint64_t id_low_, id_high_;
  std::vector<Block> blocks_;
  std::vector<Number> unused_;
  std::vector<Number> in_pool_;    ///< by block of the pool: the block that is in it
  std::vector<Number> moving_;     ///< in the order in which they began
  std::vector<Number> unwritten_;  ///< dirty ones, in the order in which they were filled
  std::vector<std::int64_t> withheld_;
  std::int64_t serials_ = 0;
  Rank soonest_evicted_;
  Failure refused_;       ///< why the newest write failed; none if one went well since
  Failure read_failure_;  ///< of the newest read that failed
  double waited_for_writes_ = 0, waited_for_reads_ = 0;
};

}  // namespace anadrome::store

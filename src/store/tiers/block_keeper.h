// SPDX-License-Identifier: BSD-2-Clause
// Who has which block of the pool, and who makes room for whom. All tiers take their blocks here.
//
// A block of anchors stays in memory after it was written, as long as there is room. Whoever wants
// a block gets, in this order: a free one; that of the lowest block that is safe on disk, which is
// needed last; one that is moving, once it is done. Only then goes what cannot be read again, the
// highest first. The blocks being worked on and read ahead stay, and so does step 0 while it is on
// no disk: without it nothing can be computed again.
#pragma once

#include <cstdint>
#include <map>

#include "base/error.h"
#include "store/memory/pool.h"
#include "store/moving/transport.h"
#include "store/tiers/tier.h"

namespace anadrome::store {

/// A block of anchors in memory.
struct Resident {
  enum class State { kFilling, kWriting, kCopying, kReading, kChanging, kClean };
  State state = State::kFilling;
  bool dropped = false;   ///< not needed any more, but still moving
  bool exact = true;      ///< its numbers are those that were kept
  bool on_trial = false;  ///< its numbers have a larger error than those on disk
  std::int64_t turn = 0;  ///< of its transfer, in the order in which they begin
  std::int64_t pool_block = -1;
  Transfer transfer;

  bool moving() const { return state != State::kFilling && state != State::kClean; }
};
using Residents = std::map<std::int64_t, Resident>;  ///< by block number

class BlockKeeper {
 public:
  /// The tier that has these blocks on disk, too.
  class Backing {
   public:
    virtual ~Backing() = default;
    /// Can the block be read again?
    virtual bool is_on_disk(std::int64_t block) const = 0;
    /// Is block 0 in memory and on no disk?
    virtual bool first_block_stays() const = 0;
    virtual Failure why_no_memory() const = 0;
    /// Note which transfers have finished.
    virtual void settle_finished() = 0;
    /// Wait for the transfer of a moving block, and note its result.
    virtual void finish(std::int64_t block) = 0;
    /// The failure may have been an accident. False: block 0 is not worth another try.
    virtual bool write_first_block_again() = 0;
  };

  /// Blocks first .. last, of which `current` goes last of all, and one more.
  struct Window {
    std::int64_t first = 0, last = -1, current = last, one_more = -1;
    bool empty() const { return last < first; }
    bool has(std::int64_t block) const {
      return (first <= block && block <= last) || block == one_more;
    }
    bool has_others() const { return first < last || one_more >= 0; }
    void keep_current() {
      first = last = current;
      one_more = -1;
    }
  };

  explicit BlockKeeper(Pool& pool) : pool_(pool) {}
  BlockKeeper(const BlockKeeper&) = delete;
  BlockKeeper& operator=(const BlockKeeper&) = delete;

  Pool& pool() const { return pool_; }
  /// One tier at a time; without one there are no residents.
  void back_with(Backing& backing) { backing_ = &backing; }
  void no_backing();
  /// The blocks being worked on: those that are to stay when others want memory.
  void work_on(const Window& blocks) { worked_on_ = blocks; }

  /// A block for a checkpoint in memory, or to read to; waits if it must. Throws ERR_INTERNAL if
  /// there is none, which is the schedule's fault, or what keeps step 0 in the last one.
  std::int64_t take();
  /// take() for a block that is to be filled, for which nothing has to stay; -1 if there is none
  /// beside step 0's.
  std::int64_t take_to_fill() { return find({}); }
  /// take() without waiting, if nothing in `stays` has to go; -1 if there is none.
  std::int64_t take_idle(const Window& stays);
  /// take() for reading; -1 if there is none beside step 0's.
  std::int64_t take_to_read() { return find(worked_on_); }

  Residents& residents() { return residents_; }
  const Residents& residents() const { return residents_; }
  Resident& add(std::int64_t block, std::int64_t pool_block);
  /// The next `add` takes no memory for its entry.
  void expect_one();
  /// Frees the memory of a resident. Returns the next one.
  Residents::iterator release(Residents::iterator resident);

 private:
  std::int64_t find(Window stays);
  bool make_room(Window& stays);
  bool evict_safe_block(const Window& stays);
  bool evict_lost_block(const Window& stays);
  bool may_go(std::int64_t block, const Resident& resident, const Window& stays) const;
  Residents::iterator first_to_wait_for(const Window& stays);

  Pool& pool_;
  Backing* backing_ = nullptr;
  Window worked_on_;
  Residents residents_;
  Residents::node_type unused_;  ///< an entry for the next one
};

}  // namespace anadrome::store

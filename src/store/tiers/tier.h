// SPDX-License-Identifier: BSD-2-Clause
// Where the states of a sweep are kept: in memory, on disk. The engine has a tier for each, and
// knows them by the number in the schedule's actions; all of them take their memory from one pool.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "device/device.h"
#include "store/memory/block_layout.h"
#include "store/memory/pool.h"
#include "store/moving/transport.h"

namespace anadrome::store {

/// A state as the schedule names it.
struct KeptState {
  std::int64_t number = 0;  ///< its slot, or the number of its anchor
  std::int64_t step = 0;
};

/// The live state: the caller's own memory, into a tier's and back. Where it lies in a block of the
/// pool itself, keeping it means another holder of this block, and no copy.
class Live {
 public:
  virtual ~Live() = default;
  /// The block that it is in, with a holder more, if that can be handed over; otherwise -1, and it
  /// wants a block to be copied to.
  virtual std::int64_t share_block() = 0;
  /// The live state -> state `index` of `block`, as far as it is not there yet. Throws ERR_PEER if
  /// a callback fails, ERR_ARGUMENT if a field of changing size is larger than it was registered;
  /// every other field is still copied, since callbacks may be collective.
  void keep(std::int64_t block, std::int64_t index) {
    if (arrays_.empty()) return keep_fields(block, index);
    for (const Array& array : arrays_) {
      std::memcpy(address(array, block, index), array.values, array.bytes);
    }
  }
  void restore(std::int64_t block, std::int64_t index) {
    if (arrays_.empty()) return restore_fields(block, index);
    for (const Array& array : arrays_) {
      std::memcpy(array.values, address(array, block, index), array.bytes);
    }
  }
  /// Copies between `block` and a device that were begun, not waited for.
  virtual device::Ticket ticket(std::int64_t) const { return {}; }
  /// The live state -> at most `room` bytes at `place`, as keep_piece does, and back.
  virtual void keep_at(std::byte* place, std::int64_t room) = 0;
  virtual void restore_from(const std::byte* place) = 0;

 protected:
  explicit Live(Pool& pool) : pool_(pool) {}

  virtual void keep_fields(std::int64_t block, std::int64_t index) = 0;
  virtual void restore_fields(std::int64_t block, std::int64_t index) = 0;

  /// An array that memcpy can copy, and where it goes in a block.
  struct Array {
    std::byte* values;
    std::size_t bytes;
    std::int64_t offset, stride;
  };

  Pool& pool_;
  /// All fields, if all are such arrays: small states are copied in less time than a call takes.
  std::vector<Array> arrays_;

 private:
  std::byte* address(const Array& array, std::int64_t block, std::int64_t index) const {
    return pool_.address(block) + array.offset + index * array.stride;
  }
};

/// Who wants to know what happens when; times are on the monotonic clock.
class TierObserver {
 public:
  virtual ~TierObserver() = default;
  /// The caller waited for a transfer.
  virtual void waited(double start, double end) = 0;
  /// A transfer is done; it has the states of steps first .. last.
  virtual void moved(const Transfer& transfer, std::int64_t first, std::int64_t last) = 0;
};

class Tier {
 public:
  virtual ~Tier() = default;

  /// The live state -> the tier. Throws as Live::keep does.
  virtual void keep(const KeptState& state) = 0;
  /// Brings the state into memory; waits. Returns what went wrong on this rank.
  virtual Failure load(std::int64_t number) = 0;
  /// Some rank could not load the state. True: there is a copy, and load is worth another try. The
  /// same on all ranks.
  virtual bool lose(std::int64_t number) = 0;
  /// The tier -> the live state; load came before.
  virtual void restore(const KeptState& state) = 0;
  /// The state is not needed any more.
  virtual void drop(std::int64_t number) = 0;

  /// Measured seconds for a state to get there and back; 0: not known yet, or next to nothing.
  struct Cost {
    double write = 0, read = 0;
  };
  virtual Cost cost() const = 0;
  /// The agreement that ranks need before a state is used: none, that all of them could load it, or
  /// also that all are about to load it.
  enum class Agreed { kNothing, kLoaded, kAboutToLoad };
  virtual Agreed agreed_before_use() const = 0;
};

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// The times of transfers between memory and disk, and their failures.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "store/memory/block_layout.h"
#include "store/memory/meter.h"
#include "store/moving/transport.h"
#include "store/tiers/tier.h"

namespace anadrome::store {

class TransferNotes {
 public:
  TransferNotes(const BlockLayout& layout, TransferTimes& times, TierObserver& observer)
      : layout_(layout), times_(times), observer_(observer) {}

  /// Begin a transfer, and measure the caller's time for that.
  void start(Transport& transport, Transfer& transfer);
  /// The caller has just waited so long.
  void waited(const Transfer& transfer, double seconds);
  /// A transfer is done; it has the states of steps first .. last.
  void finished(const Transfer& transfer, std::int64_t first, std::int64_t last);

  /// Measured seconds per state; a first write that is not done yet counts for what it has taken.
  Tier::Cost cost() const;
  double seconds_stalled() const { return seconds_stalled_write_ + seconds_stalled_read_; }
  double seconds_stalled_write() const { return seconds_stalled_write_; }
  double seconds_stalled_read() const { return seconds_stalled_read_; }
  std::int64_t states_written() const { return states_written_; }
  std::int64_t states_read() const { return states_read_; }

  /// The first write that failed on this rank.
  const Failure& failed_write() const { return failed_write_; }
  std::int64_t writes_failed() const { return writes_failed_; }
  /// The disk takes no more: it is full, or one write after the other failed.
  bool disk_refuses() const { return full_ || failed_in_series_ >= kRefusals; }

 private:
  static constexpr int kRefusals = 3;
  void note_time(const Transfer& transfer);
  void note_write(const Failure& failure);

  const BlockLayout& layout_;
  TransferTimes& times_;
  TierObserver& observer_;
  double first_write_began_ = 0;
  double seconds_stalled_write_ = 0, seconds_stalled_read_ = 0;
  std::int64_t states_written_ = 0, states_read_ = 0;
  Failure failed_write_;
  std::int64_t writes_failed_ = 0;
  int failed_in_series_ = 0;
  bool full_ = false;
};

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// Commits: what a killed run goes on from. A commit is the adjoint fields as they are now, the
// anchors that are on disk, and a record in the journal that says so.
//
// The I/O thread does it, after the writes that were started before (those to home beside a fast
// volume wait): first the bytes are synced, then the record. Adjoint fields lie in two places in
// turn, so that one whole commit is there at any time; the next one begins only when all ranks are
// through with the last (Resumption sees to that).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/disk/recovery.h"
#include "store/files/directory.h"
#include "store/journal/journal.h"
#include "store/memory/block_layout.h"
#include "store/moving/transport.h"
#include "store/tiers/volume.h"

namespace anadrome::engine {

class Committer {
 public:
  /// Begins a journal, in the run's home; an earlier one of this rank is gone then. `fast`: the
  /// transport to the fast volume, if there is one.
  Committer(store::Directory directory, const store::JournalHeader& header,
            std::span<const store::Field> adjoint_fields, double seconds_between,
            store::Transport& transport, store::Transport* fast = nullptr);
  /// Goes on with the one that `recovery` was found in, and takes its adjoint bytes; blocks from
  /// `good_blocks` on are void (-1: none will be written).
  Committer(store::Directory directory, Recovery& recovery, std::int64_t good_blocks,
            std::span<const store::Field> adjoint_fields, double seconds_between,
            store::Transport& transport, store::Transport* fast = nullptr);
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  /// Is it time for the next one? On this rank's clock.
  bool due() const;
  bool busy() const;
  /// Generation of the newest commit that is whole on this rank; 0: none.
  std::int64_t committed();
  /// Why the newest commit that ended could not be made on this rank, if it could not.
  const Failure& failure() const { return failure_; }
  /// Is the newest commit that was begun whole on all ranks, where `last_common` is the newest that
  /// is? Once no rank is busy.
  bool made(std::int64_t last_common) const { return !begun_ || last_common == last_started_; }

  /// Copies the adjoint fields for the commit that is about to start. Every field is copied on
  /// every rank, whatever the callback of another one returns; then the first failure is thrown.
  void pack();
  /// Begin a commit, once not busy: `last_common` is the newest generation that is whole on all
  /// ranks. `segments`: all there are, at home and on the fast volume.
  void start(store::JournalCommit commit, std::int64_t last_common,
             std::span<const store::JournalSegment> segments,
             std::span<const store::JournalSegment> fast_segments = {});
  void wait();
  /// The adjoint bytes of the recovery -> the caller's arrays; before the first start.
  void unpack() const;

 private:
  void write();
  void add_new_segments(int volume, std::span<const store::JournalSegment> segments);
  void sync_blocks();
  void sync_fast_blocks();
  void write_adjoint();

  const store::Directory directory_;
  const std::vector<store::Field> fields_;
  const double seconds_between_;
  store::Transport& transport_;
  store::Transport* const fast_;
  store::Journal journal_;
  store::File adjoint_file_;
  std::vector<std::byte> buffer_;
  store::Transfer transfer_;  ///< the task
  bool under_way_ = false;
  bool begun_ = false;  ///< one was
  double last_started_at_;
  std::int64_t last_started_ = 0;  ///< generations, the same on all ranks
  std::int64_t committed_ = 0;
  std::array<std::size_t, store::kMostVolumes> segments_known_{};  ///< those that the journal has
  Failure failure_;

  // The I/O thread's while a commit is under way.
  store::JournalCommit commit_;
  std::vector<store::JournalSegment> new_segments_;
  struct Written {
    int volume;
    store::FinishedWrite write;
  };
  std::vector<Written> blocks_;  ///< on their way to the journal
  bool files_are_new_ = true;
  /// Of block 0: where it is, or was to be.
  std::optional<store::JournalBlock::Place> place_of_first_ =
      store::JournalBlock::Place{store::kFast, 0};
  bool has_first_block_ = false;  ///< the journal does, or blocks_
};

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// Commits: what a killed run goes on from. A commit is the adjoint fields as they are now, the
// anchors that are on disk, and a record in the journal that says so.
//
// The I/O thread does it, after the writes that were started before: first the bytes are synced,
// then the record. Adjoint fields lie in two places in turn, so that one whole commit is there at
// any time; the next one begins only when all ranks are through with the last (Run sees to that).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/recovery.h"
#include "store/block_layout.h"
#include "store/journal.h"
#include "store/transport.h"

namespace anadrome::engine {

class Committer {
 public:
  /// Begins a journal, in the run's directory; an earlier one of this rank is gone then.
  Committer(const std::string& directory, const store::JournalHeader& header,
            std::span<const store::Field> adjoint_fields, double seconds_between,
            store::Transport& transport);
  /// Goes on with the one that `recovery` was found in, and takes its adjoint bytes; blocks from
  /// `good_blocks` on are void (-1: none will be written).
  Committer(const std::string& directory, Recovery& recovery, std::int64_t good_blocks,
            std::span<const store::Field> adjoint_fields, double seconds_between,
            store::Transport& transport);
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  /// Is it time for the next one? On this rank's clock.
  bool due() const;
  bool busy() const;
  /// Generation of the newest commit that is whole on this rank; 0: none.
  std::int64_t committed();
  std::int64_t last_started() const { return last_started_; }
  /// The first thing that went wrong.
  const Failure& failure() const { return failure_; }

  /// Begin a commit, once not busy: `last_common` is the newest generation that is whole on all
  /// ranks. The fields are copied before this returns. `segments`: all there are.
  void start(store::JournalCommit commit, std::int64_t last_common,
             std::span<const store::JournalSegment> segments);
  void wait();
  /// The adjoint bytes of the recovery -> the caller's arrays; before the first start.
  void unpack() const;

 private:
  void pack();
  void write();
  void sync_blocks();
  void write_adjoint();

  const std::string directory_;
  const std::vector<store::Field> fields_;
  const double seconds_between_;
  store::Transport& transport_;
  store::Journal journal_;
  store::File adjoint_file_;
  std::vector<std::byte> buffer_;
  store::Transfer transfer_;  ///< the task
  bool under_way_ = false;
  double last_started_at_;
  std::int64_t last_started_ = 0;  ///< generations, the same on all ranks
  std::int64_t committed_ = 0;
  std::size_t segments_known_ = 0;  ///< those that the journal has
  Failure failure_;

  // The I/O thread's while a commit is under way.
  store::JournalCommit commit_;
  std::vector<store::JournalSegment> new_segments_;
  std::vector<store::FinishedWrite> blocks_;  ///< on their way to the journal
  bool files_are_new_ = true;
  bool has_first_block_ = false;  ///< the journal does, or blocks_
};

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// The run's place on disk: its private directory and its segments, on the communicator of each
// file. Everything here that touches more than one rank is collective and ends in an agreement.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/asked/options.h"
#include "engine/disk/watch.h"
#include "engine/ranks/agreement.h"
#include "engine/ranks/communicator.h"
#include "schedule/words/anchor_list.h"
#include "store/directory/run_directory.h"
#include "store/files/segment.h"
#include "store/journal/journal_record.h"
#include "store/memory/block_layout.h"
#include "store/tiers/block_places.h"

namespace anadrome::engine {

class DiskSpace final : public store::BlockPlaces {
 public:
  /// Local; open comes next.
  DiskSpace(Agreement& agreement, const Options& options, const store::BlockLayout& layout,
            std::span<const store::Field> state_fields, std::string run_id);
  /// Makes and locks the directory. Collective.
  void open(store::Leftovers leftovers);

  /// Open the segments of a run that died. Local. Throws ERR_CORRUPT if they are not all there, or
  /// what keeps them from being opened.
  void reopen(std::span<const store::JournalSegment> segments);
  /// The segments that there are, as reopen takes them.
  const std::vector<store::JournalSegment>& records() const { return records_; }
  const std::string& path() const { return path_; }
  /// The directory, once it is open.
  const store::Directory& held() const { return held_; }
  /// NULL: this rank holds no lock and nobody is looked for.
  Watch* watch() const { return watch_.get(); }

  /// Removes the segments. Collective: nobody uses them any more.
  void clear();
  /// What an encoded block leaves of its place takes no room, likewise.
  void punch_behind(std::int64_t block, const store::EncodedBlock& encoded);
  /// What lies in the places of block `block` and of those after it takes no room, where the file
  /// system can do that. Local.
  void punch_from(std::int64_t block);

  /// Make room for `blocks` more blocks. Collective; on failure nothing of the new segment is left.
  void grow(std::int64_t blocks, Call call);
  /// A file for another copy of block 0, which nothing can be recomputed without. Collective, as
  /// grow.
  void make_room_for_copy(Call call);

  std::int64_t capacity() const override {
    return segments_.empty() ? 0 : segments_.back().end_block();
  }
  const store::Segment& segment_of(std::int64_t block) const override;
  const store::Segment* copy_of_first_block() const override { return copy_ ? &*copy_ : nullptr; }
  /// Length of all files of the run that this process has made.
  std::int64_t file_bytes_all_ranks() const { return file_bytes_all_ranks_; }
  bool direct() const { return !segments_.empty() && segments_.back().direct(); }
  MPI_Comm file_comm() const { return file_comm_.get(); }

  /// keep=on: complete the files for readers (steps, checksums of this rank, master) and leave
  /// them. Returns this rank's failure. Collective, without an agreement.
  Failure keep(const schedule::AnchorList& anchors, std::int64_t anchors_written,
               std::span<const std::uint64_t> checksums, std::int64_t sweep, std::int64_t steps,
               const char* schedule_name);
  /// All ranks have made files of adjoint fields. Local. Throws ERR_IO.
  void note_adjoints() { directory_.note_adjoints(agreement_.size()); }
  /// Leave everything as it is, for a run that goes on from it. Local.
  void leave();
  /// Close this rank's descriptors. Local.
  void release() {
    segments_.clear();
    copy_.reset();
    records_.clear();
  }
  /// Close this rank's descriptors, and note that the run came to its end: no rank may remove a
  /// file before all ranks did. Local.
  void prepare_to_remove();
  /// Is the end noted in the directory that this rank owns, if it owns one? After a kill none goes
  /// on then, whichever files are gone.
  bool end_is_noted() const { return end_is_noted_; }
  /// Remove the files that this rank made, as far as that can be done; remove sees to the others.
  /// Local; the others must be done with the files, and the end noted on all.
  void remove_own();
  /// NFS keeps a name in the directory for each file that is open. Local.
  void end_watch() { watch_.reset(); }
  /// Remove all files. Local to the owners of directories; the others must be done with the files.
  Failure remove();

 private:
  void make_directory(store::Leftovers leftovers);
  void make_directories_of_nodes(store::Leftovers leftovers);
  Failure find_directory();
  void require_one_directory(const Failure& other) const;
  void start_watch();
  void gather_shapes();
  store::SegmentDescription describe(const store::Segment::Range& range) const;
  template <class Take>
  void make_segment(store::Segment::Range range, Call call, Take&& take);
  void punch(const store::Segment& segment, std::int64_t first, std::int64_t end) const;
  /// The first rank of a file tells the others where its parts lie; NULL: it was not made, and
  /// false comes back on all. Collective over the ranks of the file.
  bool share(const store::SegmentOffsets* made);
  void take_shared(store::SegmentOffsets& offsets) const;
  store::Segment open_segment(const store::JournalSegment& record) const;
  std::string file_name(const std::string& stem, std::int64_t file) const;
  std::string copy_name() const;
  std::string segment_name(std::int64_t number, std::int64_t file) const;
  void write_tables(const schedule::AnchorList& anchors, std::int64_t anchors_written,
                    std::span<const std::uint64_t> checksums, std::int64_t sweep) const;
  Failure write_master(const schedule::AnchorList& anchors, std::int64_t anchors_written,
                       std::int64_t steps, const char* schedule_name);

  Agreement& agreement_;
  const Options options_;
  const store::BlockLayout layout_;
  const std::vector<store::Field> fields_;
  const std::string run_id_;
  std::string path_;
  store::RunDirectory directory_;
  store::Directory held_;  ///< the same, on each rank
  std::unique_ptr<Watch> watch_;
  Communicator file_comm_;
  int file_rank_ = 0;
  std::int64_t file_index_ = 0;               ///< which of the files of a segment this rank uses
  std::vector<std::int64_t> strides_before_;  ///< elements, per field
  std::vector<store::FieldDescription> descriptions_;  ///< complete on rank 0 of the file only
  std::vector<std::int64_t> file_ranks_;               ///< likewise
  std::int64_t file_bytes_all_ranks_ = 0;
  std::deque<store::Segment> segments_;  ///< transfers point to them: they stay where they are
  std::optional<store::Segment> copy_;
  std::vector<store::JournalSegment> records_;
  std::vector<std::string> own_;  ///< files that this rank made, once it is to remove them
  bool end_is_noted_ = false;
  std::vector<std::int64_t> wire_;  ///< the message in share
};

/// To be said after the message of a remove that failed.
const char* who_removes_it(const Failure& left);

}  // namespace anadrome::engine

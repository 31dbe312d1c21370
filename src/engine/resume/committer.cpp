// SPDX-License-Identifier: BSD-2-Clause
#include "engine/resume/committer.h"

#include <fcntl.h>

#include <algorithm>
#include <map>

#include "base/clock.h"
#include "base/index.h"
#include "store/directory/run_files.h"
#include "store/memory/field_copy.h"

namespace anadrome::engine {
Committer::Committer(store::Directory directory, const store::JournalHeader& header,
                     std::span<const store::Field> adjoint_fields, double seconds_between,
                     store::Transport& transport, store::Transport* fast)
    : directory_(std::move(directory)),
      fields_(adjoint_fields.begin(), adjoint_fields.end()),
      seconds_between_(seconds_between),
      transport_(transport),
      fast_(fast),
      last_started_at_(now_seconds()) {
  const std::string name = store::journal_file_name(header.rank);
  // The journal of the sweep before says that the adjoint fields beside it are the run's, too.
  const int flags = store::RunFiles::remove_one(directory_, name) ? O_CREAT : O_CREAT | O_EXCL;
  adjoint_file_ = directory_.open_file(adjoint_file_name(header.rank), O_RDWR | flags);
  journal_ = store::Journal::create({directory_, name}, header);
  buffer_.resize(size(store::total_bytes(fields_)));
}

Committer::Committer(store::Directory directory, Recovery& recovery, std::int64_t good_blocks,
                     std::span<const store::Field> adjoint_fields, double seconds_between,
                     store::Transport& transport, store::Transport* fast)
    : directory_(std::move(directory)),
      fields_(adjoint_fields.begin(), adjoint_fields.end()),
      seconds_between_(seconds_between),
      transport_(transport),
      fast_(fast),
      last_started_at_(now_seconds()),
      last_started_(recovery.newest_generation),
      committed_(recovery.commit.generation),
      has_first_block_(recovery.journal.blocks.count(0) > 0) {
  for (const store::JournalSegment& segment : recovery.journal.segments)
    ++segments_known_[at(segment.volume)];
  const std::int64_t rank = recovery.journal.header.rank;
  journal_ = store::Journal::reopen({directory_, store::journal_file_name(rank)},
                                    recovery.journal.good_bytes, recovery.journal.last);
  // Before anything is written over the others.
  if (recovery.lost_fast) journal_.add(store::JournalTruncate{0, store::kFast});
  if (good_blocks >= 0) journal_.add(store::JournalTruncate{good_blocks, {}});
  if (recovery.lost_fast || good_blocks >= 0) journal_.commit();
  adjoint_file_ = directory_.open_file(adjoint_file_name(rank), O_RDWR | O_CREAT);
  buffer_ = std::move(recovery.adjoint);  // the memory is for one copy
}

Committer::~Committer() { wait(); }

bool Committer::due() const { return now_seconds() - last_started_at_ >= seconds_between_; }

bool Committer::busy() const { return under_way_ && !transport_.done(transfer_); }

std::int64_t Committer::committed() {
  if (under_way_ && transport_.done(transfer_)) {
    under_way_ = false;
    failure_ = transfer_.failure;
    if (!failure_) committed_ = commit_.generation;
  }
  return committed_;
}

void Committer::wait() {
  if (under_way_) transport_.wait(transfer_);
  committed();
}

void Committer::start(store::JournalCommit commit, std::int64_t last_common,
                      std::span<const store::JournalSegment> segments,
                      std::span<const store::JournalSegment> fast_segments) {
  // Never the same number twice, and never over the last common one.
  ++last_started_;
  if (last_started_ % 2 == last_common % 2 && last_common > 0) ++last_started_;
  commit.generation = last_started_;
  last_started_at_ = now_seconds();
  commit_ = std::move(commit);
  add_new_segments(store::kHome, segments);
  add_new_segments(store::kFast, fast_segments);
  transfer_ = {};
  transfer_.task = [this] { write(); };
  transfer_.urgent = fast_ != nullptr;  // as what it follows: see DiskTier
  transport_.start(transfer_);
  under_way_ = begun_ = true;  // last: only a task that began is waited for
}

void Committer::add_new_segments(int volume, std::span<const store::JournalSegment> segments) {
  const auto new_ones = size(
      std::count_if(new_segments_.begin(), new_segments_.end(),
                    [&](const store::JournalSegment& known) { return known.volume == volume; }));
  const std::size_t known = segments_known_[at(volume)] + new_ones;
  for (const store::JournalSegment& segment : segments.subspan(known)) {
    new_segments_.push_back(segment);
    new_segments_.back().volume = volume;
  }
}

void Committer::pack() {
  const Failure failure = store::copy_all_out(fields_, buffer_.data());
  if (failure) throw Error(failure.status, failure.message);
}

void Committer::unpack() const {
  const Failure failure = store::copy_all_in(fields_, buffer_.data());
  if (failure) throw Error(failure.status, failure.message);
}

// ---- on the I/O thread ----

void Committer::write() {
  if (fast_ != nullptr) sync_fast_blocks();
  sync_blocks();
  write_adjoint();
  for (const auto& [volume, block] : blocks_) {
    store::JournalBlock record = {block.identity.block,  block.identity.first_step,
                                  block.identity.states, block.checksum,
                                  block.encoded,         {}};
    const bool place_is_number = fast_ == nullptr && block.place == block.identity.block;
    if (!place_is_number && !block.is_copy) record.place = {volume, block.place};
    if (fast_ != nullptr && block.is_copy) {
      using Place = store::JournalBlock::Place;
      record.place = place_of_first_.value_or(Place{store::kFast, store::JournalBlock::kGone});
    }
    if (block.identity.block == 0) place_of_first_ = record.place;
    journal_.add(record);
  }
  for (const store::JournalSegment& segment : new_segments_) journal_.add(segment);
  journal_.add(commit_);
  blocks_.clear();
  for (const store::JournalSegment& segment : new_segments_) ++segments_known_[at(segment.volume)];
  new_segments_.clear();
  journal_.commit();
}

namespace {

// Once each. What could not be synced may be gone, though a later sync says nothing of it.
class SyncedFiles {
 public:
  Failure holds(const store::FinishedWrite& write) {
    if (write.failure) return write.failure;
    const auto [file, is_new] = files_.try_emplace(write.segment);
    if (is_new) file->second = failure_from([&] { write.segment->file().sync(); });
    return file->second;
  }

 private:
  std::map<const store::Segment*, Failure> files_;
};

}  // namespace

// The blocks written since the last commit. In the forward sweep the newest of them is where the
// run would go on.
void Committer::sync_blocks() {
  SyncedFiles files;
  Failure newest;
  for (store::FinishedWrite& write : transport_.take_finished_writes()) {
    const Failure failure = files.holds(write);
    if (!write.is_copy) newest = failure;
    if (failure) continue;
    has_first_block_ = has_first_block_ || write.identity.block == 0;
    // A copy says the same, and may be all there is.
    blocks_.push_back({store::kHome, std::move(write)});
  }
  if (files_are_new_ || !new_segments_.empty()) directory_.sync();
  files_are_new_ = false;
  if (newest && commit_.phase == store::JournalCommit::Phase::kForward) {
    throw Error(newest.status, newest.message);
  }
  // A run that went on from a commit without x_0 could not come to its end.
  if (!has_first_block_) throw Error(ANADROME_ERR_IO, "the state of step 0 is not on disk");
}

// A commit does without those that are not there. Where x_0 is on the fast volume, its copy is what
// counts.
void Committer::sync_fast_blocks() {
  SyncedFiles files;
  for (store::FinishedWrite& write : fast_->take_finished_writes()) {
    if (!files.holds(write)) blocks_.push_back({store::kFast, std::move(write)});
  }
}

void Committer::write_adjoint() {
  if (buffer_.empty()) return;
  const std::int64_t slot = commit_.generation % 2;
  const std::int64_t bytes = adjoint_slot_bytes(std::ssize(buffer_));
  adjoint_file_.write_all(buffer_.data(), buffer_.size(), slot * bytes);
  adjoint_file_.sync();
  commit_.adjoint = adjoint_checksum(commit_.generation, buffer_);
}

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
#include "engine/disk/disk_space.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/checked.h"
#include "store/directory/run_files.h"
#include "store/files/skeleton.h"
#include "store/journal/journal.h"

namespace anadrome::engine {
namespace {

constexpr const char* kCopyStem = "segment-copy";
constexpr std::int64_t kCopyNumber = -1;
/// The numbers of a file that its ranks learn beside the fields' places.
using store::SegmentOffsets;
constexpr std::array kOnWire = {&SegmentOffsets::sweep, &SegmentOffsets::slots_used,
                                &SegmentOffsets::slot_step, &SegmentOffsets::checksum,
                                &SegmentOffsets::file_bytes};

Communicator files_communicator(Layout layout, Agreement& agreement) {
  MPI_Comm result = MPI_COMM_NULL;
  switch (layout) {
    case Layout::kShared:
      MPI_Comm_dup(agreement.comm(), &result);
      break;
    case Layout::kNode:
      MPI_Comm_dup(agreement.node(), &result);
      break;
    case Layout::kRank:
      MPI_Comm_dup(MPI_COMM_SELF, &result);
      break;
  }
  return Communicator(result);
}

}  // namespace

DiskSpace::DiskSpace(Agreement& agreement, const Options& options, const store::BlockLayout& layout,
                     std::span<const store::Field> state_fields, std::string run_id)
    : agreement_(agreement),
      options_(options),
      layout_(layout),
      fields_(state_fields.begin(), state_fields.end()),
      run_id_(std::move(run_id)),
      path_(store::RunDirectory::path(options.directory, options.name)),
      wire_(fields_.size() + kOnWire.size() + 1) {}

void DiskSpace::open(store::Leftovers leftovers) {
  file_comm_ = files_communicator(options_.layout, agreement_);
  MPI_Comm_rank(file_comm_.get(), &file_rank_);
  try {
    make_directory(leftovers);
    start_watch();
    gather_shapes();
  } catch (...) {
    if (leftovers == store::Leftovers::kTakeOver) failure_from([&] { directory_.keep(); });
    throw;
  }
}

// Rank 0 first. Then, for layouts that may be node-local, one rank per node: it finds rank 0's
// directory (a shared file system) or makes one of its own. Then every rank looks.
void DiskSpace::make_directory(store::Leftovers leftovers) {
  const bool first = agreement_.rank() == 0;
  Failure failure = failure_from([&] {
    if (first) {
      directory_ =
          store::RunDirectory::create(options_.directory, options_.name, run_id_, leftovers);
    }
  });
  if (options_.watchdog > 0) agreement_.call_roll();  // nobody listens to heartbeats yet
  agreement_.agree({.call = Call::kBegin, .failure = failure});
  if (options_.layout != Layout::kShared) make_directories_of_nodes(leftovers);
  const Failure other = find_directory();
  failure = failure_from([&] {
    require_one_directory(other);
    if (first && options_.watchdog > 0)
      store::HeartbeatFile::create(store::HeartbeatFile::place(held_, run_id_));
  });
  agreement_.agree({.call = Call::kBegin, .failure = failure});
}

void DiskSpace::make_directories_of_nodes(store::Leftovers leftovers) {
  const bool looks = agreement_.ranks().rank_on_node() == 0;
  const Failure failure = failure_from([&] {
    if (looks && agreement_.rank() != 0) {
      directory_ = store::RunDirectory::create_or_join(options_.directory, options_.name, run_id_,
                                                       leftovers);
    }
  });
  agreement_.agree({.call = Call::kBegin, .failure = failure});
}

// A file of the right name may be another run's: nobody opens one before this run's lock was seen
// beside it. One rank of each node looks; for the others that directory is theirs, too, or they
// look themselves.
Failure DiskSpace::find_directory() {
  const auto look = [&](double seconds) {
    return store::RunDirectory::find(options_.directory, options_.name, run_id_, seconds, &held_);
  };
  constexpr double kSeconds = 10;
  Ranks& ranks = agreement_.ranks();
  const bool looks = ranks.rank_on_node() == 0;
  Failure other = looks ? look(kSeconds) : Failure{};
  store::FileId seen = held_ ? held_.id() : store::FileId{};
  ranks.broadcast_on_node(std::as_writable_bytes(std::span(&seen, 1)));
  if (looks) return other;
  const Failure unfound = failure_from([&] {
    const auto there = store::Directory::find(options_.directory, options_.name);
    if (there && there->id() == seen) held_ = *there;
  });
  const bool was_seen = seen != store::FileId{};
  return held_ ? Failure{} : look(was_seen && !unfound ? kSeconds : 0);
}

void DiskSpace::require_one_directory(const Failure& other) const {
  if (!other) return;
  if (other.status != ANADROME_ERR_ARGUMENT) throw Error(other.status, other.message);
  const std::string here = store::this_process().host, first = agreement_.process_of(0).host;
  const bool shared = options_.layout == Layout::kShared;
  std::string text = "directory is not the same on ";
  if (!shared) {
    text += "all ranks of node " + here + ": set the same there";
  } else if (here != first) {
    text += "node " + here + " as on " + first +
            ": layout=shared needs a file system that all nodes share; set layout=node or "
            "layout=rank";
  } else {
    text += "rank " + std::to_string(agreement_.rank()) + " as on rank 0: set the same on all";
  }
  throw Error(ANADROME_ERR_ARGUMENT, text + " (on " + here + ": " + other.message + ")");
}

void DiskSpace::start_watch() {
  const Failure failure = failure_from([&] {
    if (!directory_.owned() && options_.watchdog <= 0) return;
    Watch::Settings settings;
    settings.directory = held_;
    settings.run_id = run_id_;
    settings.holds_lock = directory_.owned();
    settings.seconds = options_.watchdog;
    settings.aborts = options_.watchdog_aborts;
    settings.rank = agreement_.rank();
    settings.ranks = agreement_.size();
    settings.process_of = [this](int rank) { return agreement_.process_of(rank); };
    watch_ = std::make_unique<Watch>(settings);
  });
  agreement_.agree({.call = Call::kBegin, .failure = failure});
}

void DiskSpace::gather_shapes() {
  const MPI_Comm comm = file_comm_.get();
  int size = 1;
  MPI_Comm_size(comm, &size);
  const auto entries = static_cast<std::size_t>(file_rank_ == 0 ? size : 0);
  agreement_.agree({.call = Call::kBegin, .failure = failure_from([&] {
                                            file_ranks_.resize(entries);
                                            strides_before_.resize(fields_.size());
                                            for (const store::Field& field : fields_) {
                                              descriptions_.push_back(
                                                  {field.name, field.type,
                                                   std::vector<std::int64_t>(entries),
                                                   std::vector<std::int64_t>(entries)});
                                            }
                                          })});
  // Number the files: the lowest ranks of their communicators, in order.
  std::int64_t is_first = file_rank_ == 0 ? 1 : 0, before = 0;
  MPI_Exscan(&is_first, &before, 1, MPI_INT64_T, MPI_SUM, agreement_.comm());
  file_index_ = agreement_.rank() == 0 ? 0 : before;
  MPI_Bcast(&file_index_, 1, MPI_INT64_T, 0, comm);

  const auto gather = [&](std::int64_t value, std::vector<std::int64_t>& values) {
    MPI_Gather(&value, 1, MPI_INT64_T, values.data(), 1, MPI_INT64_T, 0, comm);
  };
  gather(agreement_.rank(), file_ranks_);
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const store::Field& field = fields_[f];
    const std::int64_t stride = layout_.parts()[f].stride / store::element_bytes(field.type);
    gather(field.count, descriptions_[f].counts);
    gather(stride, descriptions_[f].strides);
    MPI_Exscan(&stride, &strides_before_[f], 1, MPI_INT64_T, MPI_SUM, comm);
    if (file_rank_ == 0) strides_before_[f] = 0;
  }
}

std::string DiskSpace::file_name(const std::string& stem, std::int64_t file) const {
  if (options_.layout == Layout::kShared) return stem + ".h5";
  char rest[40];
  std::snprintf(rest, sizeof rest, "-%s-%06lld.h5", to_string(options_.layout),
                static_cast<long long>(file));
  return stem + rest;
}

std::string DiskSpace::copy_name() const { return file_name(kCopyStem, file_index_); }

std::string DiskSpace::segment_name(std::int64_t number, std::int64_t file) const {
  char stem[40];
  std::snprintf(stem, sizeof stem, "segment-%05lld", static_cast<long long>(number));
  return file_name(stem, file);
}

store::SegmentDescription DiskSpace::describe(const store::Segment::Range& range) const {
  store::SegmentDescription description;
  description.run_id = run_id_;
  description.layout = to_string(options_.layout);
  description.number = range.number;
  description.first_block = range.first_block;
  description.blocks = range.blocks;
  description.states_per_block = layout_.states();
  description.ranks = file_ranks_;
  description.fields = descriptions_;
  description.compressed = !options_.compress.empty();
  description.views = options_.keep;
  description.reserved = !options_.leaves_holes();
  description.lasts = options_.resume ? store::Lasts::kPowerLoss : store::Lasts::kProcess;
  return description;
}

// Journals that name the files are gone for good before the files are.
void DiskSpace::clear() {
  std::vector<store::JournalSegment> records = std::exchange(records_, {});
  release();
  agreement_.agree({.call = Call::kBegin, .failure = {}});
  const Failure failure = failure_from([&] {
    if (file_rank_ != 0) return;
    if (options_.resume) held_.sync();
    for (const store::JournalSegment& record : records)
      store::RunFiles::remove_one(held_, record.file);
  });
  if (failure) records_ = std::move(records);  // the next begin removes what is left
  file_bytes_all_ranks_ = 0;
  agreement_.agree({.call = Call::kBegin, .failure = failure});
}

void DiskSpace::punch_from(std::int64_t block) {
  for (const store::Segment& segment : segments_) {
    punch(segment, std::max(block, segment.range().first_block), segment.end_block());
  }
}

void DiskSpace::punch_behind(std::int64_t block, const store::EncodedBlock& encoded) {
  if (encoded.pieces.empty() || block >= capacity()) return;
  const store::Segment& segment = segment_of(block);
  std::span<const std::int64_t> left = encoded.pieces;
  for (std::size_t f = 0; f < fields_.size(); ++f) {
    const std::int64_t bytes = round_up(store::take_bytes_on_disk(left), store::kPage);
    const std::int64_t behind = layout_.part_bytes(f) - bytes;
    if (behind > 0)
      store::file_system().punch(segment.file().get(), segment.byte_of(block, f) + bytes, behind);
  }
}

void DiskSpace::punch(const store::Segment& segment, std::int64_t first, std::int64_t end) const {
  for (std::size_t f = 0; f < fields_.size() && first < end; ++f) {
    const std::int64_t begin = segment.byte_of(first, f);
    store::file_system().punch(segment.file().get(), begin, segment.byte_of(end, f) - begin);
  }
}

void DiskSpace::grow(std::int64_t blocks, Call call) {
  const auto number = std::ssize(segments_);
  make_segment({number, capacity(), blocks}, call, [&](const store::JournalSegment& record) {
    segments_.push_back(open_segment(record));
  });
}

void DiskSpace::make_room_for_copy(Call call) {
  make_segment({kCopyNumber, 0, 1}, call,
               [&](const store::JournalSegment& record) { copy_.emplace(open_segment(record)); });
}

// Takes no memory: all ranks of the file meet here. The last number says whether it was made.
bool DiskSpace::share(const SegmentOffsets* made) {
  std::fill(wire_.begin(), wire_.end(), 0);
  if (made != nullptr) {
    auto rest = std::copy(made->fields.begin(), made->fields.end(), wire_.begin());
    for (const auto offset : kOnWire) *rest++ = made->*offset;
    *rest = 1;
  }
  MPI_Bcast(wire_.data(), static_cast<int>(wire_.size()), MPI_INT64_T, 0, file_comm_.get());
  return wire_.back() == 1;
}

void DiskSpace::take_shared(SegmentOffsets& offsets) const {
  offsets.fields.resize(fields_.size());
  auto from = wire_.begin();
  for (std::int64_t& offset : offsets.fields) offset = *from++;
  for (const auto offset : kOnWire) offsets.*offset = *from++;
}

// `take` opens it on this rank; nothing may fail after that.
template <class Take>
void DiskSpace::make_segment(store::Segment::Range range, Call call, Take&& take) {
  const bool is_copy = range.number == kCopyNumber;
  store::JournalSegment record;
  std::optional<store::FilePlace> place;
  Failure failure = failure_from([&] {
    record.file = is_copy ? copy_name() : segment_name(range.number, file_index_);
    place.emplace(held_, record.file);
    records_.reserve(records_.size() + 1);
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      record.strides_before.push_back(
          checked_multiply(strides_before_[f], store::element_bytes(fields_[f].type)));
    }
  });
  if (is_copy) range.number = 0;
  SegmentOffsets offsets;
  if (file_rank_ == 0 && !failure)
    failure = failure_from([&] { offsets = store::create_segment(*place, describe(range)); });
  const bool made = share(file_rank_ == 0 && !failure ? &offsets : nullptr);
  const std::int64_t file_bytes = wire_[wire_.size() - 2];
  bool taken = false;
  if (made && !failure) {
    failure = failure_from([&] {
      record.number = range.number;
      record.first_block = range.first_block;
      record.blocks = range.blocks;
      take_shared(record.offsets);
      take(record);
      taken = true;
      records_.push_back(std::move(record));
    });
  }
  try {
    agreement_.agree({.call = call, .failure = failure});
  } catch (const Error&) {
    if (taken && is_copy) copy_.reset();
    if (taken && !is_copy) segments_.pop_back();
    if (taken) records_.pop_back();
    if (made && file_rank_ == 0) {
      failure_from([&] { store::RunFiles::remove_one(held_, place->name()); });
    }
    throw;
  }
  std::int64_t mine = file_rank_ == 0 ? file_bytes : 0, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, agreement_.comm());
  file_bytes_all_ranks_ += all;
}

store::Segment DiskSpace::open_segment(const store::JournalSegment& record) const {
  return {store::FilePlace(held_, record.file),
          {record.number, record.first_block, record.blocks},
          record.offsets,
          record.strides_before,
          layout_,
          options_.transport};
}

void DiskSpace::reopen(std::span<const store::JournalSegment> segments) {
  for (const store::JournalSegment& record : segments) {
    if (record.offsets.fields.size() != fields_.size() ||
        record.strides_before.size() != fields_.size()) {
      throw Error(ANADROME_ERR_CORRUPT, "the journal's segments have other fields");
    }
    if (held_.lacks(record.file)) {
      throw Error(ANADROME_ERR_IO,
                  held_.path_of(record.file) + " is missing, which a commit names");
    }
    if (record.file.rfind(kCopyStem, 0) == 0) {
      copy_.emplace(open_segment(record));
    } else {
      if (record.first_block != capacity()) {
        throw Error(ANADROME_ERR_CORRUPT, "the journal's segments do not follow each other");
      }
      segments_.push_back(open_segment(record));
    }
    records_.push_back(record);
  }
  if (file_rank_ != 0) return;
  // A process that was killed leaves files that no commit names.
  for (auto number = std::ssize(segments_);; ++number) {
    if (!store::RunFiles::remove_one(held_, segment_name(number, file_index_))) break;
  }
}

void DiskSpace::leave() {
  release();
  directory_.keep();
}

void DiskSpace::prepare_to_remove() {
  failure_from([&] {
    if (file_rank_ != 0) return;
    for (const store::JournalSegment& record : records_) own_.push_back(record.file);
  });
  release();
  end_is_noted_ = directory_.note_end(options_.resume);
}

void DiskSpace::remove_own() {
  failure_from(
      [&] { store::RunFiles::remove_of_rank(held_, store::journal_file_name(agreement_.rank())); });
  for (const std::string& name : own_) {
    failure_from([&] { store::RunFiles::remove_one(held_, name); });
  }
}

const store::Segment& DiskSpace::segment_of(std::int64_t block) const {
  return *std::upper_bound(
      segments_.begin(), segments_.end(), block,
      [](std::int64_t b, const store::Segment& segment) { return b < segment.end_block(); });
}

const char* who_removes_it(const Failure& left) {
  const bool somebody_elses = left.status == ANADROME_ERR_ARGUMENT;
  return somebody_elses ? "" : "; the next run or store of this name removes what is left";
}

Failure DiskSpace::remove() {
  release();
  return failure_from([&] { directory_.remove(); });
}

}  // namespace anadrome::engine

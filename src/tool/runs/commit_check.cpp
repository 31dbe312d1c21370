// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/commit_check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "base/index.h"
#include "store/files/file_system.h"
#include "store/journal/journal.h"
#include "store/journal/journal_record.h"
#include "store/memory/field_table.h"
#include "store/memory/pieces.h"
#include "store/moving/byte_code.h"
#include "store/tiers/volume.h"
#include "tool/runs/segments/block_bytes.h"

namespace anadrome::tool {
namespace {

using store::Decoder;

// Looked at, and summed: files that were made to take long do not.
constexpr std::size_t kMostBytes = std::size_t{16} << 20, kMostSummed = std::size_t{1} << 30;

std::string bytes_from(const std::string& path, std::int64_t offset) {
  const store::File file = store::File::open(path, O_RDONLY);
  constexpr std::size_t kPiece = std::size_t{1} << 16;
  std::string bytes;
  for (std::size_t have = 0; have < kMostBytes;) {
    bytes.resize(have + kPiece);
    const ssize_t got = store::file_system().read(file.get(), bytes.data() + have, kPiece,
                                                  offset + static_cast<std::int64_t>(have));
    if (got == -EINTR) continue;
    if (got < 0) store::throw_errno(static_cast<int>(got), "read", path);
    have += size(got);
    bytes.resize(have);
    if (got == 0) break;
  }
  return bytes;
}

struct RecordExtent {
  std::uint32_t type = 0;
  std::size_t end = 0;  ///< 0: it does not end in these bytes
};

RecordExtent extent_at(std::string_view bytes, std::size_t at) {
  Decoder head(bytes.substr(at));
  const std::size_t length = head.u32();
  const std::uint32_t type = head.u32();
  const std::size_t end = at + store::kRecordHeadBytes + length + store::kRecordSumBytes;
  return head.good() && length <= store::kMostPayloadBytes && end <= bytes.size()
             ? RecordExtent{type, end}
             : RecordExtent{};
}

// Is there a record with a right sum, chained to the sum that lies before it?
bool is_record(std::string_view bytes, std::size_t at, std::size_t& summed) {
  const RecordExtent extent = extent_at(bytes, at);
  if (extent.end == 0 || !store::is_record_type(extent.type) || summed > kMostSummed) return false;
  summed += extent.end - at;
  const std::size_t sum_at = extent.end - store::kRecordSumBytes;
  const Checksum before = Decoder(bytes.substr(at - store::kRecordSumBytes)).sum();
  return store::record_sum(before, bytes.substr(at, sum_at - at)) ==
         Decoder(bytes.substr(sum_at)).sum();
}

// Do the lengths of the records from `at` on lead to `end`, past one that is synced?
bool passes_a_synced_one(std::string_view bytes, std::size_t at, std::size_t end) {
  bool synced = false;
  while (at < end) {
    const RecordExtent extent = extent_at(bytes, at);
    if (extent.end == 0) return false;
    synced = synced || store::is_synced_type(extent.type);
    at = extent.end;
  }
  return at == end && synced;
}

// The bytes after the last whole record: none, a commit that was under way when the run ended, or
// records that were synced once and have changed since. A change in the newest commit cannot be
// told from what a crash leaves; behind a record something is written only once it was synced.
void check_tail(const std::string& path, CheckedJournal& checked) {
  const std::int64_t good = checked.contents->good_bytes;
  const std::string where = "from byte " + std::to_string(good) + " on ";
  constexpr std::size_t kFirst = store::kRecordSumBytes;  // the sum of the last whole record
  const std::string bytes = bytes_from(path, good - static_cast<std::int64_t>(kFirst));
  if (bytes.size() <= kFirst) return;
  std::size_t at = kFirst, summed = 0;
  while (at < bytes.size() && !is_record(bytes, at, summed)) ++at;
  bool synced = passes_a_synced_one(bytes, kFirst, at);
  while (at < bytes.size() && is_record(bytes, at, summed)) {
    if (synced) {
      checked.problems.push_back(where + "it is not what was written; later commits are lost");
      return;
    }
    const RecordExtent extent = extent_at(bytes, at);
    synced = store::is_synced_type(extent.type);
    at = extent.end;
  }
  checked.notes.push_back(where + "there is no whole commit: one was under way, or it is damaged");
}

bool has_no_bytes(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0;
}

}  // namespace

CheckedJournal check_journal(const std::string& directory, const std::string& file) {
  const std::string path = directory + "/" + file;
  CheckedJournal checked;
  checked.file = file;
  try {
    checked.is_empty = has_no_bytes(path);
    if (checked.is_empty) return checked;
    checked.contents = store::read_journal(path);
    if (const std::int64_t rank = checked.contents->header.rank;
        store::journal_file_name(rank) != file) {
      checked.problems.push_back("its header names rank " + std::to_string(rank) + "'s");
    }
    check_tail(path, checked);
  } catch (const std::exception& error) {
    checked.problems.emplace_back(error.what());
  }
  return checked;
}

// ---- what a commit needs ----

namespace {

using store::JournalCommit;
using store::JournalContents;
using store::JournalSegment;

std::vector<store::Field> fields_of(const store::JournalHeader& header, anadrome_role role) {
  std::vector<store::Field> fields;
  for (store::Field& field : store::parse_field_table(header.fields)) {
    if (field.role == role) fields.push_back(std::move(field));
  }
  return fields;
}

bool is_copy(const JournalSegment& segment) { return segment.file.starts_with("segment-copy"); }

// Where the rank's part of a block lies: as store::Segment finds it.
std::vector<BlockPart> parts_of(const store::BlockLayout& layout, const JournalSegment& segment,
                                const store::JournalBlock& block, std::int64_t place) {
  if (segment.offsets.fields.size() != layout.parts().size()) {
    throw Error(ANADROME_ERR_CORRUPT, "the journal names another number of fields");
  }
  std::vector<BlockPart> parts;
  std::span<const std::int64_t> pieces = block.encoded.pieces;
  for (std::size_t f = 0; f < layout.parts().size(); ++f) {
    const std::int64_t before = checked_multiply(
        checked_multiply(segment.strides_before[f], segment.blocks), layout.states());
    const std::int64_t within = checked_multiply(place - segment.first_block, layout.part_bytes(f));
    parts.push_back({checked_add(segment.offsets.fields[f], checked_add(before, within)),
                     layout.parts()[f].bytes, layout.parts()[f].stride});
    if (block.encoded.pieces.empty()) continue;
    parts.back().bytes = store::take_bytes_on_disk(pieces);
    parts.back().encoded = true;
  }
  return parts;
}

class CommitCheck {
 public:
  CommitCheck(const std::string& directory, const JournalContents& journal,
              const JournalCommit& commit, CommitFindings& findings)
      : directory_(directory),
        journal_(journal),
        commit_(commit),
        findings_(findings),
        rank_(std::to_string(journal.header.rank)),
        layout_(journal.header.shape, fields_of(journal.header, ANADROME_ROLE_STATE)) {}

  // A run that goes on opens all of them.
  void lengths() {
    for (const JournalSegment& segment : journal_.segments) {
      if (is_elsewhere(segment.volume)) continue;
      has_bytes(segment.file, segment.offsets.file_bytes);
    }
    const std::int64_t bytes = adjoint_bytes();
    const std::int64_t begin = checked_multiply(commit_.generation % 2, slot_bytes());
    if (bytes > 0) has_bytes(adjoint_file(), checked_add(begin, bytes));
  }

  void blocks() {
    const std::int64_t needed = ceil_divide(commit_.anchors, layout_.states());
    for (const auto& [number, block] : journal_.blocks) {
      if (number >= needed) break;
      if (block.place && is_elsewhere(block.place->volume)) {
        ++findings_.elsewhere;
        if (number == 0) copy(block);
        continue;
      }
      const std::int64_t place = block.place ? block.place->place : number;
      const JournalSegment* segment = segment_of(place);
      if (segment == nullptr || block.states > layout_.states()) {
        findings_.missing.insert("block " + std::to_string(number) + " of rank " + rank_ +
                                 " is in no segment of the journal");
        continue;
      }
      const std::string which = "block " + std::to_string(number) + " of rank " + rank_ +
                                ", from step " + std::to_string(block.first_step) + " on,";
      const std::string wrong = is_wrong(*segment, block, place);
      if (!wrong.empty()) findings_.problems[segment->file].insert(which + " is " + wrong);
      if (number == 0) copy(block);
    }
  }

  void adjoint() {
    const std::int64_t bytes = adjoint_bytes();
    if (bytes == 0 || !commit_.adjoint) return;
    ++findings_.adjoints;
    const std::string wrong = failure_text([&] {
      ChecksumStream stream;
      stream.add_value(commit_.generation);
      add_bytes_on_disk(open(adjoint_file()),
                        checked_multiply(commit_.generation % 2, slot_bytes()), bytes, stream);
      if (stream.finish() != *commit_.adjoint) throw Error(ANADROME_ERR_CORRUPT, "");
    });
    if (wrong.empty()) return;
    findings_.problems[adjoint_file()].insert("the adjoint fields of generation " +
                                              std::to_string(commit_.generation) + " are " + wrong);
  }

 private:
  store::File open(const std::string& file) const {
    return store::File::open(directory_ + "/" + file, O_RDONLY);
  }
  std::string adjoint_file() const {
    const std::string journal = store::journal_file_name(journal_.header.rank);
    return "adjoint" + journal.substr(journal.find('-'));
  }
  std::int64_t adjoint_bytes() const {
    return store::total_bytes(fields_of(journal_.header, ANADROME_ROLE_ADJOINT));
  }
  std::int64_t slot_bytes() const { return round_up(adjoint_bytes(), store::kPage); }

  void has_bytes(const std::string& file, std::int64_t bytes) {
    struct stat status {};
    if (::lstat((directory_ + "/" + file).c_str(), &status) != 0) {
      findings_.missing.insert(file + " is missing");
    } else if (status.st_size < bytes) {
      findings_.problems[file].insert("it has " + std::to_string(status.st_size) + " of " +
                                      std::to_string(bytes) + " bytes");
    }
  }

  // The fast directory of the run is not looked at: the run does without it.
  static bool is_elsewhere(std::int64_t volume) { return volume != store::kHome; }

  // The newest that holds the place: a resumed run may have made it anew.
  const JournalSegment* segment_of(std::int64_t place) const {
    const auto& all = journal_.segments;
    const auto found = std::find_if(all.rbegin(), all.rend(), [&](const JournalSegment& segment) {
      return !is_copy(segment) && !is_elsewhere(segment.volume) && place >= segment.first_block &&
             place - segment.first_block < segment.blocks;
    });
    return found == all.rend() ? nullptr : &*found;
  }

  // Written after the block itself, perhaps behind the first commit; before the second it is.
  void copy(const store::JournalBlock& block) {
    for (const JournalSegment& segment : journal_.segments) {
      if (!is_copy(segment)) continue;
      const std::string wrong = is_wrong(segment, block, 0);
      if (wrong.empty()) continue;
      const std::string which = "the second copy of block 0 of rank " + rank_;
      if (journal_.commits.size() > 1) {
        findings_.problems[segment.file].insert(which + " is " + wrong);
      } else {
        findings_.notes[segment.file].insert(which + " is not written yet, or damaged");
      }
    }
  }

  // "" or what to say of it.
  std::string is_wrong(const JournalSegment& segment, const store::JournalBlock& block,
                       std::int64_t place) {
    store::BlockIdentity identity;
    identity.run_id_low = journal_.header.run_id_low;
    identity.run_id_high = journal_.header.run_id_high;
    identity.sweep = journal_.header.sweep;
    identity.block = block.block;
    identity.first_step = block.first_step;
    identity.states = block.states;
    ++findings_.blocks;
    return failure_text([&] {
      const store::File file = open(segment.file);
      if (sum_on_disk([&](std::size_t, std::int64_t from, char* to,
                          std::size_t bytes) { file.read_all(to, bytes, from); },
                      identity, parts_of(layout_, segment, block, place)) != block.sum) {
        throw Error(ANADROME_ERR_CORRUPT, "");
      }
    });
  }

  template <class Body>
  static std::string failure_text(const Body& body) {
    const Failure failure = failure_from(body);
    if (!failure) return "";
    return "not what was written" + (failure.message.empty() ? "" : ": " + failure.message);
  }

  const std::string& directory_;
  const JournalContents& journal_;
  const JournalCommit& commit_;
  CommitFindings& findings_;
  const std::string rank_;
  const store::BlockLayout layout_;
};

}  // namespace

void check_commit(const std::string& directory, const JournalContents& journal,
                  const JournalCommit& commit, Depth depth, CommitFindings& findings) {
  CommitCheck check(directory, journal, commit, findings);
  check.lengths();
  if (depth != Depth::kBytes) return;
  check.blocks();
  check.adjoint();
}

}  // namespace anadrome::tool

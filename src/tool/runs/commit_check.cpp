// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/commit_check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "store/journal/journal.h"
#include "store/memory/field_table.h"
#include "store/memory/pieces.h"
#include "store/tiers/volume.h"
#include "tool/runs/segments/block_bytes.h"

namespace anadrome::tool {
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

// SPDX-License-Identifier: BSD-2-Clause
// Journals for tests: records of every kind, and what a reader must make of them.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/journal/journal_reader.h"
#include "store/journal/journal_record.h"
#include "store/memory/pieces.h"

namespace anadrome::store {

inline JournalHeader sample_header() {
  JournalHeader header;
  header.run_id_low = 0x0123456789abcdef;
  header.run_id_high = 0xfedcba9876543210;
  header.sweep = 3;
  header.ranks = 4;
  header.rank = 2;
  header.steps = 1000;
  header.shape = {16, true};
  header.fields = "u state float64 1000\nlambda adjoint float64 1000\n";
  header.options = "schedule=async\n";
  header.problem = "heat";
  return header;
}

inline JournalSegment sample_segment() {
  JournalSegment segment;
  segment.number = 1;
  segment.first_block = segment.blocks = 8;
  segment.file = "segment-00001.h5";
  segment.offsets = {{4096, 1 << 20}, 800, 808, 816, 824, 1 << 21};
  segment.strides_before = {0, 8192};
  return segment;
}

inline JournalCommit sample_commit() {
  JournalCommit commit;
  commit.generation = 7;
  commit.phase = JournalCommit::Phase::kReverse;
  commit.position = 90;
  commit.steps = 1000;
  commit.anchors = 12;
  commit.stretches = {{0, 0, 10}, {10, 110, 50}};
  commit.interval = 50;
  commit.slots = 9;
  commit.adjoint = Checksum{11, 12};
  return commit;
}

/// The records after the header in a journal with every kind of record.
inline std::vector<JournalRecord> sample_records() {
  JournalCommit forward = sample_commit();
  forward.generation = 1;
  forward.phase = JournalCommit::Phase::kForward;
  forward.adjoint.reset();
  return {sample_segment(),
          JournalBlock{8, 0, 16, {1, 2}, {}},
          JournalBlock{9, 160, 16, {3, 4}, {}},
          forward,
          JournalBlock{9, 160, 4, {5, 6}, {}},
          JournalTruncate{9, {}},
          JournalBlock{8, 0, 2, {7, 8}, {}},
          sample_commit()};
}

/// The file's bytes, and where in it each record ends; the first end is that of the header.
struct SampleBytes {
  std::string bytes;
  std::vector<std::size_t> ends;
};

inline SampleBytes encode_journal(const JournalHeader& header,
                                  const std::vector<JournalRecord>& records) {
  SampleBytes sample;
  Checksum chain = journal_preamble_sum();
  sample.bytes = journal_preamble() + encode_record(header, chain);
  sample.ends.push_back(sample.bytes.size());
  for (const JournalRecord& record : records) {
    sample.bytes += encode_record(record, chain);
    sample.ends.push_back(sample.bytes.size());
  }
  return sample;
}

inline JournalContents read_bytes(const std::string& bytes) {
  const ReadBytes read = [&](char* to, std::size_t count, std::int64_t offset) {
    const auto at = static_cast<std::size_t>(offset);
    const std::size_t got = at < bytes.size() ? std::min(count, bytes.size() - at) : 0;
    std::memcpy(to, bytes.data() + at, got);
    return got;
  };
  return read_journal(read, "journal");
}

/// Does `contents` say what the header and the first `count` records do?
inline bool says(const JournalContents& contents, const JournalHeader& header,
                 const std::vector<JournalRecord>& records, std::size_t count) {
  std::vector<JournalSegment> segments;
  std::vector<JournalCommit> commits;
  std::map<std::int64_t, JournalBlock> blocks;
  for (std::size_t r = 0; r < count; ++r) {
    if (const auto* segment = std::get_if<JournalSegment>(&records[r])) {
      std::size_t before = 0;  // it replaces one of the same file, and those after that
      while (before < segments.size() && segments[before].file != segment->file) ++before;
      segments.resize(before);
      segments.push_back(*segment);
    } else if (const auto* commit = std::get_if<JournalCommit>(&records[r])) {
      commits.push_back(*commit);
    } else if (const auto* block = std::get_if<JournalBlock>(&records[r])) {
      blocks[block->block] = *block;
    } else if (const auto* truncate = std::get_if<JournalTruncate>(&records[r])) {
      std::erase_if(blocks, [&](const auto& b) { return b.first >= truncate->blocks; });
    }
  }
  const std::size_t kept = contents.commits.size();
  if (kept < std::min<std::size_t>(commits.size(), 4) || kept > commits.size()) return false;
  return contents.header == header && contents.segments == segments && contents.blocks == blocks &&
         std::equal(contents.commits.rbegin(), contents.commits.rend(), commits.rbegin());
}

/// Records that properties are tested with; small numbers make them meet, large ones test limits.
class RecordDraw {
 public:
  static JournalHeader header() {
    JournalHeader header;
    header.run_id_low = *rc::gen::arbitrary<std::uint64_t>();
    header.run_id_high = *rc::gen::arbitrary<std::uint64_t>();
    header.sweep = size();
    header.ranks = *rc::gen::inRange<std::int64_t>(1, 1 << 30);
    header.rank = *rc::gen::inRange<std::int64_t>(0, header.ranks);
    header.steps = *rc::gen::inRange(0, 3) == 0 ? -1 : size();
    header.shape = {1 + size() / 2, *rc::gen::arbitrary<bool>()};
    header.fields = text();
    header.options = text();
    header.problem = text();
    return header;
  }

  static JournalRecord record() {
    switch (*rc::gen::inRange(0, 7)) {
      case 0:
        return segment();
      case 1:
        return JournalTruncate{small(), {}};
      case 2:
      case 3:
        return commit();
      default:
        return JournalBlock{small(), size(), 1 + small(), sum(), encoded()};
    }
  }

 private:
  static std::int64_t small() { return *rc::gen::inRange<std::int64_t>(0, 6); }
  static std::int64_t size() {
    return *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << *rc::gen::inRange(1, 62));
  }
  static EncodedBlock encoded() {
    const auto pieces = *rc::gen::container<std::vector<std::int64_t>>(
        rc::gen::inRange<std::int64_t>(0, kPieceBytes));
    return {pieces.empty() || *rc::gen::arbitrary<bool>(), pieces};
  }
  static std::string text() { return *rc::gen::arbitrary<std::string>(); }
  static Checksum sum() {
    return {*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::arbitrary<std::uint64_t>()};
  }

  static JournalSegment segment() {
    JournalSegment segment;
    segment.number = size();
    segment.first_block = size();
    segment.blocks = 1 + size() / 2;
    segment.file = "segment-" + std::to_string(segment.number) + ".h5";
    const auto fields = static_cast<std::size_t>(small());
    for (std::size_t f = 0; f < fields; ++f) {
      segment.offsets.fields.push_back(size());
      segment.strides_before.push_back(size());
    }
    auto& at = segment.offsets;
    for (std::int64_t* offset :
         {&at.sweep, &at.slots_used, &at.slot_step, &at.checksum, &at.file_bytes})
      *offset = size();
    return segment;
  }

  static JournalCommit commit() {
    JournalCommit commit;
    commit.generation = 1 + size() / 2;
    commit.phase =
        *rc::gen::element(JournalCommit::Phase::kForward, JournalCommit::Phase::kReverse);
    commit.position = size();
    commit.steps = *rc::gen::inRange(0, 3) == 0 ? -1 : size();
    std::int64_t step = small();
    for (std::int64_t many = small(); many > 0; --many) {
      const std::int64_t anchors = 1 + small(), spacing = 1 + small();
      commit.stretches.push_back({commit.anchors, step, spacing});
      commit.anchors += anchors;
      step += anchors * spacing + small();
    }
    commit.interval = size();
    commit.slots = size();
    if (*rc::gen::arbitrary<bool>()) commit.adjoint = sum();
    return commit;
  }
};

}  // namespace anadrome::store

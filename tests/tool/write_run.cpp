// SPDX-License-Identifier: BSD-2-Clause
// write_run DIRECTORY NAME kept|dead|live|stopped|elsewhere|silent
//
// Writes the files of a run of two ranks to DIRECTORY/NAME: two fields, anchors 0 .. 4 at steps 0,
// 10, 20, 30, 40 in two segments. kept: with the tables and the master of keep=on. dead: with
// journals, adjoint fields, a second copy of block 0, and a lock that nobody holds. live: the same
// while standard input is open. stopped: as dead, without the lock. on_nodes: as dead, with
// layout=node. elsewhere: with the lock of
// another host, just written; silent: written 500 s ago.
#include <fcntl.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "store/directory/heartbeat_file.h"
#include "store/directory/lock_record.h"
#include "store/directory/run_directory.h"
#include "store/directory/run_files.h"
#include "store/files/master.h"
#include "store/files/segment.h"
#include "store/journal/journal.h"
#include "store/memory/field_table.h"
#include "store/moving/transport.h"

namespace {

using namespace anadrome;
using namespace anadrome::store;

constexpr std::int64_t kRanks = 2, kAnchors = 5, kSpacing = 10, kSteps = 50, kBlocks = 3;
constexpr std::size_t kSegments = 2;
const std::string kRunId = "00112233445566778899aabbccddeeff";

std::vector<Field> fields_of(std::int64_t rank) {  // of the state
  std::vector<Field> fields(2);
  fields[0].name = "u";
  fields[0].type = ANADROME_FLOAT64;
  fields[0].count = rank == 0 ? 1000 : 700;
  fields[1].name = "age";
  fields[1].type = ANADROME_INT32;
  fields[1].count = rank == 0 ? 3 : 0;
  return fields;
}

std::int64_t adjoint_bytes(std::int64_t rank) { return rank == 0 ? 5000 : 300; }

std::vector<Field> all_fields_of(std::int64_t rank) {
  std::vector<Field> fields = fields_of(rank);
  Field& gradient = fields.emplace_back();
  gradient.name = "gradient";
  gradient.role = ANADROME_ROLE_ADJOINT;
  gradient.count = adjoint_bytes(rank);
  return fields;
}

BlockLayout layout_of(std::int64_t rank) { return BlockLayout({1, true}, fields_of(rank)); }

std::int64_t stride_of(std::int64_t rank, std::size_t field) {
  return layout_of(rank).parts()[field].stride;
}

std::string segment_name(std::int64_t number) {
  return "segment-0000" + std::to_string(number) + ".h5";
}

const std::string kCopyName = "segment-copy.h5";

std::byte byte_at(std::size_t place, std::int64_t salt) {  // runs_test.py computes the same
  return static_cast<std::byte>((place * 2654435761 + static_cast<std::size_t>(salt)) >> 13);
}

SegmentDescription describe(std::int64_t number) {
  SegmentDescription description;
  description.run_id = kRunId;
  description.layout = "shared";
  description.number = number;
  description.first_block = number * kBlocks;
  description.blocks = kBlocks;
  description.ranks = {0, 1};
  for (std::size_t f = 0; f < 2; ++f) {
    const Field field = fields_of(0)[f];
    FieldDescription described{field.name, field.type, {}, {}};
    for (std::int64_t rank = 0; rank < kRanks; ++rank) {
      described.counts.push_back(fields_of(rank)[f].count);
      described.strides.push_back(stride_of(rank, f) / element_bytes(field.type));
    }
    description.fields.push_back(described);
  }
  return description;
}

BlockIdentity identity_of(std::int64_t block) {
  return {hash_of(kRunId), hash_of(kRunId + "'"), 1, block, block * kSpacing, 1};
}

std::vector<std::int64_t> strides_before(std::int64_t rank) {
  if (rank == 0) return {0, 0};
  return {stride_of(0, 0), stride_of(0, 1)};
}

void write_block(const Segment& segment, const BlockLayout& layout, std::int64_t block,
                 const std::vector<std::byte>& bytes) {
  for (std::size_t f = 0; f < 2; ++f) {
    segment.file().write_all(bytes.data() + layout.parts()[f].offset,
                             static_cast<std::size_t>(layout.part_bytes(f)),
                             segment.byte_of(block, f));
  }
}

// The rank's blocks in the files; returns their sums.
std::vector<Checksum> write_blocks(const std::string& path, std::int64_t rank,
                                   const std::vector<SegmentOffsets>& offsets) {
  const BlockLayout layout = layout_of(rank);
  std::vector<Checksum> sums;
  for (std::int64_t block = 0; block < kAnchors; ++block) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(layout.block_bytes()));
    for (std::size_t b = 0; b < bytes.size(); ++b) bytes[b] = byte_at(b, 40503 * block + 97 * rank);
    const std::int64_t number = block / kBlocks;
    const Segment segment(path + "/" + segment_name(number), {number, number * kBlocks, kBlocks},
                          offsets[static_cast<std::size_t>(number)], strides_before(rank), layout,
                          TransportName::kBuffered);
    write_block(segment, layout, block, bytes);
    if (block == 0 && offsets.size() > kSegments) {
      write_block({path + "/" + kCopyName,
                   {0, 0, 1},
                   offsets[kSegments],
                   strides_before(rank),
                   layout,
                   TransportName::kBuffered},
                  layout, block, bytes);
    }
    Transfer transfer;
    transfer.identity = identity_of(block);
    transfer.bytes = bytes.data();
    sums.push_back(checksum_of(layout, transfer));
  }
  return sums;
}

void write_tables(const std::string& path, const std::vector<SegmentOffsets>& offsets,
                  const std::vector<std::vector<Checksum>>& sums) {
  for (std::int64_t number = 0; number < 2; ++number) {
    const SegmentOffsets& places = offsets[static_cast<std::size_t>(number)];
    const File file = File::open(path + "/" + segment_name(number), O_WRONLY);
    const std::int64_t sweep = 1, used = number == 0 ? kBlocks : kAnchors - kBlocks;
    file.write_all(&sweep, sizeof sweep, places.sweep);
    file.write_all(&used, sizeof used, places.slots_used);
    for (std::int64_t slot = 0; slot < used; ++slot) {
      const std::int64_t block = number * kBlocks + slot, step = block * kSpacing;
      file.write_all(&step, sizeof step, places.slot_step + slot * 8);
      for (std::int64_t rank = 0; rank < kRanks; ++rank) {
        const Checksum& sum = sums[static_cast<std::size_t>(rank)][static_cast<std::size_t>(block)];
        file.write_all(&sum, sizeof sum, places.checksum + (rank * kBlocks + slot) * 16);
      }
    }
  }
  MasterDescription master;
  master.run_id = kRunId;
  master.schedule = "async";
  master.steps = kSteps;
  for (std::size_t f = 0; f < 2; ++f) {
    MasterField field{fields_of(0)[f].name, fields_of(0)[f].type, {}};
    const std::int64_t element = element_bytes(field.type);
    for (std::int64_t rank = 0; rank < kRanks; ++rank) {
      field.parts.push_back({fields_of(rank)[f].count, stride_of(rank, f) / element,
                             strides_before(rank)[f] / element, 0});
    }
    master.fields.push_back(field);
  }
  master.segments = {{{segment_name(0)}, kBlocks, kBlocks},
                     {{segment_name(1)}, kBlocks, kAnchors - kBlocks}};
  for (std::int64_t anchor = 0; anchor < kAnchors; ++anchor) {
    master.slot_steps.push_back(anchor * kSpacing);
  }
  create_master(path + "/states.h5", master);
}

// The rank's adjoint fields, in the place of their generation; returns their sum.
Checksum write_adjoint(const std::string& path, std::int64_t rank, std::int64_t generation) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(adjoint_bytes(rank)));
  for (std::size_t b = 0; b < bytes.size(); ++b) bytes[b] = byte_at(b, 7919 * generation + rank);
  const File file = File::open(path + "/adjoint-00000" + std::to_string(rank), O_WRONLY | O_CREAT);
  file.write_all(bytes.data(), bytes.size(), generation % 2 * round_up(adjoint_bytes(rank), kPage));
  ChecksumStream stream;
  stream.add_value(generation);
  stream.add(bytes.data(), bytes.size());
  return stream.finish();
}

void write_journal(const std::string& path, std::int64_t rank, const std::string& layout,
                   const std::vector<SegmentOffsets>& offsets, const std::vector<Checksum>& sums) {
  JournalHeader header;
  header.run_id_low = hash_of(kRunId);
  header.run_id_high = hash_of(kRunId + "'");
  header.ranks = kRanks;
  header.rank = rank;
  header.steps = kSteps;
  header.shape = {1, true};
  header.fields = field_table(all_fields_of(rank));
  header.options = "layout=" + layout + "\n";
  Journal journal = Journal::create(path + "/" + journal_file_name(rank), header);
  for (std::int64_t number = 0; number < 2; ++number) {
    journal.add(JournalSegment{number, number * kBlocks, kBlocks, segment_name(number),
                               offsets[static_cast<std::size_t>(number)], strides_before(rank)});
  }
  journal.add(JournalSegment{0, 0, 1, kCopyName, offsets[kSegments], strides_before(rank)});
  for (std::int64_t block = 0; block < kAnchors; ++block) {
    journal.add(
        JournalBlock{block, block * kSpacing, 1, sums[static_cast<std::size_t>(block)], {}});
  }
  JournalCommit commit;
  commit.position = 40;
  commit.steps = kSteps;
  commit.anchors = kAnchors;
  commit.stretches = {{0, 0, kSpacing}};
  commit.adjoint = write_adjoint(path, rank, 1);
  journal.add(commit);
  commit.generation = 2;
  commit.phase = JournalCommit::Phase::kReverse;
  commit.position = 25;
  commit.anchors = 3;
  commit.adjoint = write_adjoint(path, rank, 2);
  journal.add(commit);
  if (rank == 0) {  // the other rank had not got so far
    commit.generation = 3;
    commit.position = 20;
    commit.adjoint = write_adjoint(path, rank, 3);
    journal.add(commit);
  }
  journal.commit();
}

void write_foreign_lock(const std::string& path, std::int64_t seconds_ago) {
  LockRecord record = new_lock_record(kRunId);
  record.holder.host = "node017";
  record.holder.machine = "another";
  record.heartbeat -= seconds_ago;
  write_lock(File::open(path + "/" + kLockName, O_RDWR), record);
}

void write_run(const std::string& path, bool kept, const std::string& layout) {
  std::vector<SegmentOffsets> offsets;
  for (std::int64_t number = 0; number < 2; ++number) {
    offsets.push_back(create_segment(path + "/" + segment_name(number), describe(number)));
  }
  if (!kept) {
    SegmentDescription copy = describe(0);
    copy.blocks = 1;
    offsets.push_back(create_segment(path + "/" + kCopyName, copy));
  }
  std::vector<std::vector<Checksum>> sums;
  for (std::int64_t rank = 0; rank < kRanks; ++rank) {
    sums.push_back(write_blocks(path, rank, offsets));
    if (!kept) write_journal(path, rank, layout, offsets, sums.back());
  }
  if (kept) write_tables(path, offsets, sums);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string kind = argv[3];
  try {
    RunDirectory directory = RunDirectory::create(argv[1], argv[2], kRunId);
    const std::string path = RunDirectory::path(argv[1], argv[2]);
    write_run(path, kind == "kept", kind == "on_nodes" ? "node" : "shared");
    if (kind == "elsewhere") write_foreign_lock(path, 0);
    if (kind == "silent") write_foreign_lock(path, 500);
    if (kind == "kept" || kind == "stopped") {
      directory.keep();
      return 0;
    }
    if (kind == "live") {  // which has a watchdog: rank 0 runs forward from step 30
      const FilePlace place = HeartbeatFile::place(Directory::open(path), kRunId);
      HeartbeatFile::create(place);
      HeartbeatFile(place).write(0, {1, {}, std::uint64_t{2} << 56 | 30, false});
    }
    std::puts("ready");
    std::fflush(stdout);
    while (kind == "live" && std::getchar() != EOF) {
    }
    std::_Exit(0);  // as if it were killed: the lock stays
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_run: %s\n", error.what());
    return 1;
  }
}

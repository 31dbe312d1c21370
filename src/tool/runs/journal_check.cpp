#include "tool/runs/journal_check.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "base/checked.h"
#include "base/error.h"
#include "store/field_table.h"
#include "store/journal_reader.h"
#include "tool/runs/block_bytes.h"

namespace anadrome::tool {
namespace {

using nlohmann::json;
using store::JournalCommit;

// Where the rank's part of a block lies: as store::Segment finds it.
std::vector<BlockPart> parts_of(const store::BlockLayout& layout,
                                const store::JournalSegment& segment, std::int64_t block) {
  if (segment.offsets.fields.size() != layout.parts().size()) {
    throw Error(ANADROME_ERR_CORRUPT, segment.file + " has another number of fields");
  }
  std::vector<BlockPart> parts;
  for (std::size_t f = 0; f < layout.parts().size(); ++f) {
    const std::int64_t before = checked_multiply(
        checked_multiply(segment.strides_before[f], segment.blocks), layout.states());
    const std::int64_t within = checked_multiply(block - segment.first_block, layout.part_bytes(f));
    parts.push_back({checked_add(segment.offsets.fields[f], checked_add(before, within)),
                     layout.parts()[f].bytes, layout.parts()[f].stride});
  }
  return parts;
}

store::BlockLayout layout_of(const store::JournalHeader& header) {
  std::vector<store::Field> state_fields;
  for (store::Field& field : store::parse_field_table(header.fields)) {
    if (field.role == ANADROME_ROLE_STATE) state_fields.push_back(std::move(field));
  }
  return store::BlockLayout(header.shape, state_fields);
}

// The newest segment that holds the block: a resumed run may have made it anew.
const store::JournalSegment* segment_of(const store::JournalContents& journal, std::int64_t block) {
  const auto found = std::find_if(journal.segments.rbegin(), journal.segments.rend(),
                                  [&](const store::JournalSegment& segment) {
                                    return block >= segment.first_block &&
                                           block < segment.first_block + segment.blocks;
                                  });
  return found == journal.segments.rend() ? nullptr : &*found;
}

// The blocks that going on from the newest commit needs.
void check_blocks(const std::string& directory, const store::JournalContents& journal, Depth depth,
                  json& report) {
  const store::BlockLayout layout = layout_of(journal.header);
  const std::int64_t needed =
      journal.commits.empty() ? 0 : ceil_divide(journal.commits.back().anchors, layout.states());
  std::int64_t checked = 0, next = 0;
  const auto complain = [&](std::int64_t block, const std::string& what) {
    report["problems"].push_back("block " + std::to_string(block) + " " + what);
  };
  for (const auto& [number, block] : journal.blocks) {
    if (number >= needed) break;
    if (number > next) complain(next, "is missing");
    next = number + 1;
    const store::JournalSegment* segment = segment_of(journal, number);
    if (segment == nullptr || block.states > layout.states()) {
      complain(number, "is in no segment");
      continue;
    }
    if (depth != Depth::kBytes || block.sum == Checksum{}) continue;
    store::BlockIdentity identity;
    identity.run_id_low = journal.header.run_id_low;
    identity.run_id_high = journal.header.run_id_high;
    identity.sweep = journal.header.sweep;
    identity.block = number;
    identity.first_step = block.first_step;
    identity.states = block.states;
    ++checked;
    const Failure failure = failure_from([&] {
      const store::File file =
          store::File::open(directory + "/" + segment->file, O_RDONLY | O_NONBLOCK);
      if (sum_on_disk(file, identity, parts_of(layout, *segment, number)) != block.sum) {
        throw Error(ANADROME_ERR_CORRUPT, "its checksum in " + segment->file + " differs");
      }
    });
    if (failure) {
      complain(number, "of step " + std::to_string(block.first_step) +
                           " is not what was written: " + failure.message);
    }
  }
  if (next < needed) complain(next, "is missing");
  report["blocks_checked"] = checked;
}

}  // namespace

json check_journal(const std::string& directory, const std::string& file, Depth depth) {
  json report = {{"problems", json::array()}};
  try {
    const store::JournalContents journal = store::read_journal(directory + "/" + file);
    const store::JournalHeader& header = journal.header;
    char run[40];
    std::snprintf(run, sizeof run, "%016llx%016llx",
                  static_cast<unsigned long long>(header.run_id_high),
                  static_cast<unsigned long long>(header.run_id_low));
    report["run"] = run;
    report["rank"] = header.rank;
    report["ranks"] = header.ranks;
    report["sweep"] = header.sweep;
    report["steps"] = header.steps;
    report["torn"] = !journal.complete;
    report["blocks"] = journal.blocks.size();
    report["segments"] = json::array();
    for (const store::JournalSegment& segment : journal.segments) {
      report["segments"].push_back(segment.file);
    }
    report["commits"] = json::array();
    for (const JournalCommit& commit : journal.commits) {
      report["commits"].push_back(
          {{"generation", commit.generation},
           {"phase", commit.phase == JournalCommit::Phase::kForward ? "forward" : "reverse"},
           {"position", commit.position},
           {"steps", commit.steps},
           {"anchors", commit.anchors}});
    }
    check_blocks(directory, journal, depth, report);
  } catch (const std::exception& error) {
    report["problems"].push_back(error.what());
  }
  return report;
}

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
// A segment for one rank, in a directory of its own, for tests of what is done with one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/files/segment.h"
#include "store/files/skeleton.h"
#include "temporary_directory.h"

namespace anadrome::store {

/// So many numbers, and 13 bytes.
inline std::vector<Field> two_fields(std::int64_t numbers) {
  return {{"values", ANADROME_ROLE_STATE, ANADROME_FLOAT64, numbers, false, nullptr, {}},
          {"marks", ANADROME_ROLE_STATE, ANADROME_BYTE, 13, false, nullptr, {}}};
}

/// The skeleton's numbers when a single rank with these fields and this layout uses the file.
inline SegmentDescription describe(const BlockLayout& layout, const std::vector<Field>& fields,
                                   std::int64_t blocks) {
  SegmentDescription description;
  description.run_id = "0123456789abcdef";
  description.layout = "rank";
  description.blocks = blocks;
  description.states_per_block = layout.states();
  description.ranks = {0};
  for (std::size_t f = 0; f < fields.size(); ++f) {
    description.fields.push_back({fields[f].name,
                                  fields[f].type,
                                  {fields[f].count},
                                  {layout.parts()[f].stride / element_bytes(fields[f].type)}});
  }
  return description;
}

struct SegmentFile {
  SegmentFile(const BlockLayout& layout, const std::vector<Field>& fields, std::int64_t blocks,
              TransportName transport = TransportName::kAuto)
      : path(directory / "segment-00000.h5"),
        offsets(create_segment(path, describe(layout, fields, blocks))),
        segment(path, {0, 0, blocks}, offsets, std::vector<std::int64_t>(fields.size(), 0), layout,
                transport) {}

  TemporaryDirectory directory;
  std::string path;
  SegmentOffsets offsets;
  Segment segment;
};

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// A segment's description of its states, checked against itself and the file's length.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tool/runs/segments/hdf5_read.h"

namespace anadrome::tool {

/// One field of the file.
struct StoredField {
  std::string name;
  DatasetPlace place;
  std::int64_t number = 0;  ///< in the order in which fields were registered
  /// Per rank of the file: elements of a state, from one state to the next, first element, column.
  std::vector<std::int64_t> rows;

  /// Where state number `slot` of the file's rank number `rank` begins in the file.
  std::int64_t byte_of(std::size_t rank, std::int64_t slot) const {
    return place.offset + (rows[4 * rank + 2] + slot * rows[4 * rank + 1]) * place.element_bytes;
  }
};

struct SegmentDescription {
  std::string run_id, layout;
  std::int64_t number = 0, first_block = 0, blocks = 0, states_per_block = 1;
  std::vector<std::int64_t> ranks;
  std::vector<StoredField> fields;
  // In kept files only.
  std::int64_t sweep = 0, used = 0;
  std::vector<std::int64_t> steps, sums;
};

/// Throws ERR_CORRUPT. `kept`: the tables for readers are there.
SegmentDescription read_description(hid_t file, std::int64_t file_bytes, bool kept);

}  // namespace anadrome::tool

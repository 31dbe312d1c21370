// SPDX-License-Identifier: BSD-2-Clause
// A segment's description of its states, checked against itself and the file's length.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/files/file_system.h"
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

/// The bytes of its states: at their places in the file, or behind HDF5's filters.
class SegmentBytes {
 public:
  SegmentBytes() = default;
  /// Throws ERR_IO, ERR_CORRUPT, as read does.
  explicit SegmentBytes(const std::string& path);
  /// From `byte` on, as StoredField::byte_of says, of whole elements.
  void read(const StoredField& field, std::int64_t byte, char* to, std::size_t bytes);

 private:
  std::string path_;
  store::File file_;
  Hdf5File hdf5_;
  Hdf5Dataset dataset_;
  std::string name_;  ///< of the field whose dataset is open
};

}  // namespace anadrome::tool

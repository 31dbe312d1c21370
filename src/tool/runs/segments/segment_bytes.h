// SPDX-License-Identifier: BSD-2-Clause
// The bytes of states in a segment: at their places in the file, or behind HDF5's filters.
#pragma once

#include <cstdint>
#include <string>

#include "store/files/file_system.h"
#include "tool/runs/segments/segment_description.h"

namespace anadrome::tool {

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

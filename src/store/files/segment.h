// SPDX-License-Identifier: BSD-2-Clause
// A segment as one rank sees it: an open descriptor and the byte at which each block of each field
// lies.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/files/directory.h"
#include "store/files/skeleton.h"
#include "store/memory/block_layout.h"

namespace anadrome::store {

/// How states get to their files; with kMpio HDF5 opens these itself.
enum class TransportName { kAuto, kDirect, kBuffered, kMpio };

class Segment {
 public:
  /// Which blocks it holds.
  struct Range {
    std::int64_t number, first_block, blocks;
  };
  /// Open the file that create_segment made. `strides_before`: per state field, the sum of the
  /// strides of the file's lower ranks, in bytes. With kAuto, O_DIRECT is used where the file
  /// system takes it; kDirect throws ERR_UNSUPPORTED where it does not.
  Segment(FilePlace place, const Range& range, const SegmentOffsets& offsets,
          std::span<const std::int64_t> strides_before, const BlockLayout& layout,
          TransportName transport);

  const File& file() const { return file_; }
  const FilePlace& place() const { return place_; }
  const std::string& path() const { return file_.path(); }
  bool direct() const { return direct_; }
  const Range& range() const { return range_; }
  std::int64_t end_block() const { return range_.first_block + range_.blocks; }
  const SegmentOffsets& offsets() const { return offsets_; }

  /// First byte in the file of block `block` of state field `field`.
  std::int64_t byte_of(std::int64_t block, std::size_t field) const {
    return field_starts_[field] + (block - range_.first_block) * part_bytes_[field];
  }

 private:
  FilePlace place_;
  File file_;
  bool direct_ = false;
  Range range_;
  SegmentOffsets offsets_;
  std::vector<std::int64_t> field_starts_, part_bytes_;
};

}  // namespace anadrome::store

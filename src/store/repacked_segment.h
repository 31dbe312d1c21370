// SPDX-License-Identifier: BSD-2-Clause
// keep=on with compress: a segment written anew by HDF5, so that every reader that has HDF5's LZ4
// filter can read its states. One process writes it, from the first rank's first block on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "store/filtered_dataset.h"
#include "store/skeleton.h"

namespace anadrome::store {

class RepackedSegment {
 public:
  /// Creates the file at `path`, which must not exist, with all but the states. Throws ERR_NO_SPACE
  /// or ERR_IO, and leaves nothing then.
  RepackedSegment(const std::string& path, const SegmentDescription& segment);
  /// Removes the file unless it was finished.
  ~RepackedSegment();
  RepackedSegment(const RepackedSegment&) = delete;
  RepackedSegment& operator=(const RepackedSegment&) = delete;

  /// The next bytes of a field's part of the file, or so many that nobody wrote. Throw ERR_IO.
  void append(std::size_t field, std::span<const std::byte> bytes);
  void skip(std::size_t field, std::int64_t bytes);
  /// All is there. Returns where the tables lie. Throws ERR_IO.
  SegmentOffsets finish();

 private:
  void give_up();

  const std::string path_;
  SegmentOffsets offsets_;
  Hdf5File file_;
  ChunkEncoder encoder_;
  /// NULL: the field is empty on all ranks.
  std::vector<std::unique_ptr<FilteredWriter>> fields_;
  bool finished_ = false;
};

}  // namespace anadrome::store

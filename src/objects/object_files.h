// SPDX-License-Identifier: BSD-2-Clause
// The places of an object store's blocks on disk: segments of one rank, which grow without a word
// to other ranks. A place that was given back is used again.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "store/files/directory.h"
#include "store/files/segment.h"
#include "store/memory/block_layout.h"

namespace anadrome::store {

class ObjectFiles {
 public:
  struct Settings {
    Directory directory;  ///< of the store
    std::string run_id;
    std::int64_t rank = 0;
    std::int64_t most_blocks = 0;
    TransportName transport = TransportName::kAuto;
  };
  /// `layout`: of a block, which outlives this.
  ObjectFiles(const BlockLayout& layout, Settings settings)
      : layout_(layout), settings_(std::move(settings)) {}

  /// A place. The files grow where none is free. Throws ERR_NO_SPACE or ERR_IO.
  std::int64_t take();
  void give_back(std::int64_t place) { free_.push_back(place); }
  /// The disk failed there: all other free places come before it.
  void give_back_last(std::int64_t place) { free_.insert(free_.begin(), place); }
  const Segment& segment_of(std::int64_t place) const;
  bool in_use() const { return !segments_.empty(); }
  /// Removes all files. What is read or written afterwards is nobody's.
  void remove();
  bool direct() const { return !segments_.empty() && segments_.back().direct(); }
  /// All writes so far last through a power loss. Throws ERR_IO.
  void sync() const;

 private:
  std::int64_t capacity() const { return segments_.empty() ? 0 : segments_.back().end_block(); }
  void grow();
  void add_segment(std::int64_t blocks);

  const BlockLayout& layout_;
  const Settings settings_;
  std::deque<Segment> segments_;  ///< transfers point to them: they stay where they are
  std::vector<std::int64_t> free_;
};

}  // namespace anadrome::store

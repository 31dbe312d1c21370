// SPDX-License-Identifier: BSD-2-Clause
#include "objects/object_files.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/checked.h"
#include "base/index.h"
#include "store/directory/run_files.h"
#include "store/files/skeleton.h"

namespace anadrome::store {

std::int64_t ObjectFiles::take() {
  if (free_.empty()) grow();
  const std::int64_t place = free_.back();
  free_.pop_back();
  return place;
}

// Segments grow with the store, so that there are few, and are bounded, so that little space is
// reserved in vain. A disk without room for so many blocks may have it for fewer.
void ObjectFiles::grow() {
  constexpr std::int64_t kSegmentBytes = std::int64_t{4} << 30, kFirstBlocks = 16;
  const std::int64_t left = settings_.most_blocks - capacity();
  if (left <= 0) {
    throw Error(ANADROME_ERR_NO_SPACE,
                "the option disk allows " + std::to_string(settings_.most_blocks) + " blocks of " +
                    std::to_string(layout_.block_bytes()) + " bytes, and all are in use");
  }
  const std::int64_t most = std::max<std::int64_t>(kSegmentBytes / layout_.block_bytes(), 1);
  std::int64_t blocks = std::min({std::max(kFirstBlocks, capacity() / 2), most, left});
  for (;; blocks = ceil_divide(blocks, 2)) {
    try {
      return add_segment(blocks);
    } catch (const Error& error) {
      if (error.status() != ANADROME_ERR_NO_SPACE || blocks <= 1) throw;
    }
  }
}

void ObjectFiles::add_segment(std::int64_t blocks) {
  SegmentDescription description;
  description.run_id = settings_.run_id;
  description.layout = "rank";
  description.number = std::ssize(segments_);
  description.first_block = capacity();
  description.blocks = blocks;
  description.ranks = {settings_.rank};
  const std::int64_t bytes = layout_.block_bytes();
  description.fields = {{"bytes", ANADROME_BYTE, {bytes}, {bytes}}};
  description.views = false;
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), "segment-%05lld-rank-%06lld.h5",
                static_cast<long long>(description.number), static_cast<long long>(settings_.rank));
  const FilePlace file(settings_.directory, name.data());
  free_.reserve(size(capacity() + blocks));
  const SegmentOffsets offsets = create_segment(file, description);
  const std::array<std::int64_t, 1> before = {0};
  try {
    segments_.emplace_back(file,
                           Segment::Range{description.number, description.first_block, blocks},
                           offsets, before, layout_, settings_.transport);
  } catch (...) {
    file.unlink();
    throw;
  }
  for (std::int64_t place = capacity(); place-- > description.first_block;) free_.push_back(place);
}

const Segment& ObjectFiles::segment_of(std::int64_t place) const {
  return *std::upper_bound(
      segments_.begin(), segments_.end(), place,
      [](std::int64_t p, const Segment& segment) { return p < segment.end_block(); });
}

void ObjectFiles::remove() {
  failure_from([&] {
    for (const Segment& segment : segments_)
      RunFiles::remove_one(settings_.directory, segment.place().name());
  });
  segments_.clear();
}

void ObjectFiles::sync() const {
  for (const Segment& segment : segments_) segment.file().sync();
}

}  // namespace anadrome::store

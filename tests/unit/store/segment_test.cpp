// SPDX-License-Identifier: BSD-2-Clause
#include "store/files/segment.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "segment_file.h"

namespace anadrome::store {
namespace {

std::vector<Field> two_fields() {
  return {{"first", ANADROME_ROLE_STATE, ANADROME_BYTE, 5000, false, nullptr, {}},
          {"second", ANADROME_ROLE_STATE, ANADROME_BYTE, 100, false, nullptr, {}}};
}

TEST(Segment, HasAPlaceForEachBlockOfEachField) {
  const BlockLayout layout({3, true}, two_fields());
  const SegmentFile file(layout, two_fields(), 4);
  const Segment& s = file.segment;
  EXPECT_EQ(s.end_block(), 4);
  EXPECT_EQ(s.path(), file.path);
  EXPECT_EQ(s.offsets().file_bytes, file.offsets.file_bytes);
  for (std::size_t f = 0; f < 2; ++f) {
    EXPECT_EQ(s.byte_of(0, f), file.offsets.fields[f]);
    for (std::int64_t block = 1; block < 4; ++block) {
      EXPECT_EQ(s.byte_of(block, f) - s.byte_of(block - 1, f), layout.part_bytes(f));
    }
    EXPECT_LE(s.byte_of(3, f) + layout.part_bytes(f), s.offsets().file_bytes);
  }
}

TEST(Segment, BeginsBehindTheLowerRanksAndAtItsFirstBlock) {
  const BlockLayout layout({2, true}, two_fields());
  const SegmentFile file(layout, two_fields(), 4);
  const std::vector<std::int64_t> before = {2 * kPage, 0};
  const Segment later(file.path, {1, 10, 2}, file.offsets, before, layout,
                      TransportName::kBuffered);
  EXPECT_EQ(later.end_block(), 12);
  // The lower ranks have so many bytes of each of the segment's states.
  EXPECT_EQ(later.byte_of(10, 0), file.offsets.fields[0] + 2 * kPage * 2 * 2);
  EXPECT_EQ(later.byte_of(11, 0), later.byte_of(10, 0) + layout.part_bytes(0));
  EXPECT_FALSE(later.direct());
}

TEST(Segment, IsNotOpenedWhereThereIsNoFile) {
  const BlockLayout layout({1, true}, two_fields());
  const TemporaryDirectory directory;
  SegmentOffsets offsets;
  offsets.fields = {0, 0};
  const std::vector<std::int64_t> before(2, 0);
  EXPECT_THROW(
      Segment(directory / "none.h5", {0, 0, 1}, offsets, before, layout, TransportName::kAuto),
      Error);
}

}  // namespace
}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// The bytes that a transfer moves, and those that its checksum covers.
#include "store/moving/transport.h"

#include <gtest/gtest.h>

#include <cstring>

#include "store/memory/block_layout.h"

namespace anadrome::store {
namespace {

// A field of 13 bytes and one of two words.
std::vector<Field> marks_and_words() {
  return {{"marks", ANADROME_ROLE_STATE, ANADROME_BYTE, 13, false, nullptr, {}},
          {"words", ANADROME_ROLE_STATE, ANADROME_INT64, 2, false, nullptr, {}}};
}

struct TransportBench {
  explicit TransportBench(const BlockShape& shape)
      : layout(shape, marks_and_words()), bytes(static_cast<std::size_t>(layout.block_bytes())) {
    transfer.bytes = bytes.data();
    transfer.identity.states = shape.states;
  }
  Checksum sum() const { return checksum_of(layout, transfer); }
  BlockLayout layout;
  std::vector<std::byte> bytes;
  Transfer transfer;
};

TEST(BlockChecksum, CoversEveryByteOfTheStatesAndNoPadding) {
  TransportBench s({3, false});
  const Checksum zero = s.sum();
  for (std::int64_t index = 0; index < 3; ++index) {
    for (std::size_t f = 0; f < 2; ++f) {
      const BlockLayout::Part& part = s.layout.parts()[f];
      std::byte* state = s.layout.address(s.bytes.data(), index, f);
      for (std::int64_t i = 0; i < part.stride; ++i) {
        state[i] = std::byte{1};
        EXPECT_EQ(s.sum() == zero, i >= part.bytes) << index << " " << f << " " << i;
        state[i] = std::byte{0};
      }
    }
  }
}

TEST(BlockChecksum, IsTheSameInPieces) {
  for (const std::int64_t states : {1, 4}) {
    TransportBench s({states, false});
    std::memset(s.bytes.data(), 7, s.bytes.size());
    for (const std::int64_t piece : {1, 5, 8, 24, 1000}) {
      BlockChecksum sum(s.layout, s.transfer);
      for (std::size_t f = 0; f < 2; ++f) {
        const std::int64_t length = s.layout.part_bytes(f);
        for (std::int64_t end = piece; end < length; end += piece) sum.add_up_to(f, end);
        sum.add_up_to(f, length);
      }
      EXPECT_TRUE(sum.finish() == s.sum()) << piece;
    }
  }
}

TEST(BlockChecksum, CoversNoMoreThanTheExtentsOfAStateThatIsSmaller) {
  TransportBench s({1, true});
  s.transfer.extents = {{0, 5}, {kPage, 8}};
  const Checksum zero = s.sum();
  s.bytes[4] = std::byte{1};
  EXPECT_FALSE(s.sum() == zero);
  s.bytes[4] = std::byte{0};
  s.bytes[5] = std::byte{1};
  s.bytes[kPage + 8] = std::byte{1};
  EXPECT_TRUE(s.sum() == zero);
}

TEST(Transfer, MovesWhatAStateTakesWhereItHasItsOwnExtents) {
  TransportBench s({1, true});
  s.transfer.extents = {{kPage, 5}, {0, 0}};
  EXPECT_EQ(moved_extent(s.layout, s.transfer, 0).offset, kPage);
  EXPECT_EQ(moved_extent(s.layout, s.transfer, 0).bytes, kPage);
  EXPECT_EQ(moved_extent(s.layout, s.transfer, 1).bytes, 0);
}

}  // namespace
}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
#include "store/tiers/filled_part.h"

#include <gtest/gtest.h>

#include <array>

namespace anadrome::store {
namespace {

constexpr std::int64_t kPages = 8;

struct Part {
  std::vector<Field> fields = {{"x",
                                ANADROME_ROLE_STATE,
                                ANADROME_FLOAT64,
                                kPages* kPage / 8,
                                false,
                                nullptr,
                                nullptr,
                                {},
                                -1}};
  BlockLayout layout{{1, true}, fields};
  FilledPart part{layout};

  // A block's write, which leaves so many bytes; 0: as many as there are; -1: it fails.
  void write(std::int64_t block, std::int64_t bytes) {
    EncodedBlock encoded;
    if (bytes > 0) encoded.pieces = {1, Piece{Piece::Coding::kLz4, bytes}.in_one_number()};
    part.expect(block);
    part.note(block, bytes < 0 ? nullptr : &encoded);
  }
  Filled filled_below(std::int64_t block) {
    part.count_below(block);
    return part.filled();
  }
};

TEST(FilledPart, CountsWholePagesOfWhatBlocksTake) {
  Part rank;
  rank.write(0, 1);
  rank.write(1, kPage + 1);
  rank.write(2, 0);
  EXPECT_EQ(rank.filled_below(0).taken, 0);
  EXPECT_EQ(rank.filled_below(1).taken, 1.0 / kPages);
  EXPECT_EQ(rank.part.filled().share, 0) << "x_0 says nothing of others";
  EXPECT_EQ(rank.filled_below(2).share, 2.0 / kPages);
  EXPECT_EQ(rank.filled_below(3).taken, 1 + 3.0 / kPages);
  EXPECT_EQ(rank.filled_below(2).taken, 1 + 3.0 / kPages) << "what was counted stays so";
}

TEST(FilledPart, ExpectsTheMeanOrTheNewestIfThatIsMore) {
  Part rank;
  for (std::int64_t block = 0; block < 5; ++block)
    rank.write(block, std::array{8, 2, 4, 3, 1}[static_cast<std::size_t>(block)] * kPage);
  EXPECT_EQ(rank.filled_below(3).share, 4.0 / kPages);
  EXPECT_EQ(rank.filled_below(4).share, 3.0 / kPages);
  EXPECT_EQ(rank.filled_below(5).share, 2.5 / kPages);
}

TEST(FilledPart, CountsWholeWhatNobodyKnows) {
  Part rank;
  rank.write(0, kPage);
  rank.write(1, -1);
  rank.write(3, kPage);
  EXPECT_EQ(rank.filled_below(4).taken, 2 + 2.0 / kPages) << "failed, and never written";
}

}  // namespace
}  // namespace anadrome::store

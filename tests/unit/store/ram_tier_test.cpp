// SPDX-License-Identifier: BSD-2-Clause
// States in the pool, with all of their bits or in single precision; and what blocks take of a
// disk.
#include "store/tiers/ram_tier.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "base/error.h"
#include "copied_live.h"
#include "has_part.h"
#include "store/memory/field_copy.h"
#include "store/tiers/filled_part.h"
#include "store/tiers/single_state.h"

namespace anadrome::store {
namespace {

// States of one array in a pool of a few blocks.
struct RamBench {
  explicit RamBench(std::int64_t states, std::int64_t pool_blocks = 3)
      : values(5),
        layout({states, false}, std::vector<Field>{CopiedLive::field(values.all)}),
        pool(layout.block_bytes(), pool_blocks),
        live(layout, pool, values.all),
        tier(layout, blocks, live) {}
  void keep(std::int64_t slot, std::int64_t value) {
    values.set(value);
    tier.keep({slot, 0});
  }
  bool brings_back(std::int64_t slot, std::int64_t value) {
    values.set(-1);
    EXPECT_FALSE(tier.load(slot));
    tier.restore({slot, 0});
    return values.are(value);
  }

  Values values;
  BlockLayout layout;
  Pool pool;
  BlockKeeper blocks{pool};
  CopiedLive live;
  RamTier tier;
};

TEST(RamTier, BringsBackWhatItWasGiven) {
  for (const std::int64_t states : {1, 3}) {
    RamBench s(states);
    for (std::int64_t slot = 0; slot < 3; ++slot) s.keep(slot, 10 + slot);
    for (std::int64_t slot = 2; slot >= 0; --slot) EXPECT_TRUE(s.brings_back(slot, 10 + slot));
    s.tier.drop(2);
    s.keep(2, 77);
    EXPECT_TRUE(s.brings_back(2, 77));
    EXPECT_TRUE(s.brings_back(0, 10));
  }
}

TEST(RamTier, TakesABlockWithItsFirstStateAndGivesItBackWithItsLast) {
  RamBench s(2);
  s.keep(0, 1);
  EXPECT_EQ(s.pool.free_blocks(), 2);
  s.keep(1, 2);
  s.tier.drop(0);
  EXPECT_EQ(s.pool.free_blocks(), 2);
  s.tier.drop(1);
  EXPECT_EQ(s.pool.free_blocks(), 3);
  RamBench shares(1);
  shares.live.shared = shares.pool.take();
  shares.tier.keep({0, 0});
  EXPECT_EQ(shares.pool.holders(shares.live.shared), 2) << "it is handed over";
  EXPECT_EQ(shares.pool.free_blocks(), 2);
  shares.tier.drop(0);
  EXPECT_EQ(shares.pool.holders(shares.live.shared), 1);
}

TEST(RamTier, HasRoomForAsManyStatesAsThePoolAndMissesNoneThatCouldNotBeKept) {
  RamBench s(2);
  for (std::int64_t slot = 0; slot < 6; ++slot) s.keep(slot, slot);
  EXPECT_THROW(s.keep(6, 6), Error);
  EXPECT_THROW(s.tier.restore({6, 0}), Error);
  s.tier.drop(6);
  EXPECT_TRUE(s.brings_back(0, 0));
  EXPECT_EQ(s.tier.agreed_before_use(), Tier::Agreed::kNothing);
  EXPECT_EQ(s.tier.cost().write, 0);
  EXPECT_FALSE(s.tier.lose(0));
  EXPECT_EQ(s.blocks.take_idle({}), -1) << "there is no tier on disk";
}

TEST(RamTier, HoldsSlotsForWhatIsNoState) {
  RamBench s(2);
  s.keep(0, 9);
  const auto held = s.tier.hold(1, 3);
  ASSERT_EQ(held.size(), 3u);
  EXPECT_EQ(held[0].index, 1) << "in the block of state 0";
  EXPECT_EQ(held[1].block, held[2].block);
  for (const BlockPlace& place : held)
    *s.layout.address(place.block, place.index, 0) = std::byte{3};
  EXPECT_TRUE(s.brings_back(0, 9));
  for (const BlockPlace& place : s.tier.held(1, 3)) {
    EXPECT_EQ(*s.layout.address(place.block, place.index, 0), std::byte{3});
  }
  s.tier.let_go(1, 3);
  EXPECT_EQ(s.pool.free_blocks(), 2);
  EXPECT_THROW(s.tier.held(2, 1), Error);
}

TEST(RamTier, CountsTheSlotsOfATape) {
  EXPECT_EQ(RamTier::slots_for(0, 40), 1);
  EXPECT_EQ(RamTier::slots_for(80, 40), 2);
  EXPECT_EQ(RamTier::slots_for(81, 40), 3);
  EXPECT_EQ(RamTier::slots_for(81, 0), -1);
}

// ---- in single precision ----

template <class Number>
Field field(const char* name, anadrome_type type, std::vector<Number>& numbers,
            double tolerance = -1) {
  Field field;
  field.name = name;
  field.type = type;
  field.count = static_cast<std::int64_t>(numbers.size());
  field.values = numbers.data();
  field.tolerance = tolerance;
  return field;
}

// Doubles, complex numbers and integers in slots of a pool of one block.
struct Slots {
  explicit Slots(double tolerance = -1) : reals_tolerance(tolerance) {}

  std::vector<double> reals = {1.0 / 3, -1e-300, 1e30, std::numeric_limits<double>::infinity()};
  std::vector<std::complex<double>> complexes = {{0.1, -0.2}};
  std::vector<std::int64_t> integers = {std::int64_t{1} << 60, 7, -1};
  double reals_tolerance;
  std::vector<Field> fields = {field("u", ANADROME_FLOAT64, reals, reals_tolerance),
                               field("z", ANADROME_COMPLEX128, complexes),
                               field("n", ANADROME_INT64, integers)};
  BlockLayout layout{{4, false}, single_fields(fields)};
  Pool pool{layout.block_bytes(), 1};
  SingleState live{layout, fields, pool};
};

TEST(SingleState, BringsBackTheNearestNumbersInSinglePrecision) {
  Slots s;
  const auto integers = s.integers;
  const std::int64_t block = s.pool.take();
  s.live.keep(block, 2);
  s.reals.assign(4, 0);
  s.complexes[0] = 0;
  s.integers.assign(3, 0);
  s.live.restore(block, 2);
  const std::vector<double> nearest = {double(1.0F / 3.0F), -0.0, double(1e30F), INFINITY};
  EXPECT_EQ(s.reals, nearest);
  EXPECT_EQ(s.complexes[0], std::complex<double>(0.1F, -0.2F));
  EXPECT_EQ(s.integers, integers);
  // Side by side.
  for (std::int64_t i = 0; i < 4; ++i) {
    s.integers[2] = i;
    s.reals[0] = double(i);
    s.live.keep(block, i);
  }
  for (std::int64_t i = 0; i < 4; ++i) {
    s.live.restore(block, i);
    EXPECT_EQ(s.reals[0], double(i));
    EXPECT_EQ(s.integers[2], i);
  }
}

TEST(SingleState, RefusesWhatItWouldChangeByTooMuchWithEveryOtherFieldKept) {
  Slots s;
  const std::int64_t block = s.pool.take();
  s.reals[1] = 1e39;  // too large
  const Failure failure = failure_from([&] { s.live.keep(block, 0); });
  EXPECT_EQ(failure.status, ANADROME_ERR_ARGUMENT);
  EXPECT_TRUE(test::has_part(failure.message, "'u'"));
  s.integers[0] = 0;
  s.live.restore(block, 0);
  EXPECT_EQ(s.integers[0], std::int64_t{1} << 60);
  Slots fills, exact;
  fills.reals = {1e20, 1e20, 2, 1};
  EXPECT_EQ(failure_from([&] { fills.live.keep(fills.pool.take(), 0); }).status,
            ANADROME_ERR_ARGUMENT);
  exact.reals = {std::ldexp(1.0, 66), std::ldexp(1.0, 66), 2, 1};
  EXPECT_FALSE(failure_from([&] { exact.live.keep(exact.pool.take(), 0); }));
}

TEST(SingleState, ChangesNoNumberByMoreThanItsField) {
  Slots coarse(1), fine(1e-12), exact(0);
  coarse.reals = fine.reals = exact.reals = {1.0 / 3, 0.1, 2, 1};
  EXPECT_FALSE(failure_from([&] { coarse.live.keep(coarse.pool.take(), 0); }));
  EXPECT_EQ(failure_from([&] { fine.live.keep(fine.pool.take(), 0); }).status,
            ANADROME_ERR_ARGUMENT);
  const auto reals = exact.reals;
  const std::int64_t block = exact.pool.take();
  exact.live.keep(block, 0);
  exact.reals.assign(4, 0);
  exact.live.restore(block, 0);
  EXPECT_EQ(exact.reals, reals);
}

TEST(SingleState, LeavesX0AsItIsBesideTheBlocks) {
  Slots s;
  BlockKeeper blocks(s.pool);
  RamTier tier(s.layout, blocks, s.live, most_piece_bytes(s.fields));
  const auto reals = s.reals;
  tier.keep({0, 0});
  EXPECT_EQ(s.pool.free_blocks(), 1) << "x_0 takes none";
  tier.keep({1, 5});
  s.reals.assign(4, 0);
  tier.restore({0, 0});
  EXPECT_EQ(s.reals, reals);
  tier.restore({1, 5});
  EXPECT_EQ(s.reals[0], double(1.0F / 3.0F));
  tier.drop(0);
  EXPECT_EQ(s.pool.free_blocks(), 0);
  tier.keep({0, 3});
  tier.restore({0, 3});
  EXPECT_EQ(s.reals[0], double(1.0F / 3.0F)) << "its slot is one as others are";
}

// ---- what blocks take of a disk ----

constexpr std::int64_t kPages = 8;

struct Part {
  std::vector<double> numbers = std::vector<double>(static_cast<std::size_t>(kPages * kPage) / 8);
  std::vector<Field> fields = {field("x", ANADROME_FLOAT64, numbers)};
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

// SPDX-License-Identifier: BSD-2-Clause
#include "store/tiers/ram_tier.h"

#include <gtest/gtest.h>

#include "copied_live.h"
#include "packed_fields.h"

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
  EXPECT_EQ(s.pool.free_blocks(), 2);
  s.tier.drop(0);
  EXPECT_EQ(s.pool.free_blocks(), 2);
  s.tier.drop(1);
  EXPECT_EQ(s.pool.free_blocks(), 3);
}

TEST(RamTier, HoldsTheBlockOfALiveStateThatIsHandedOver) {
  RamBench s(1);
  s.live.shared = s.pool.take();
  s.tier.keep({0, 0});
  EXPECT_EQ(s.pool.holders(s.live.shared), 2);
  EXPECT_EQ(s.pool.free_blocks(), 2);
  s.tier.drop(0);
  EXPECT_EQ(s.pool.holders(s.live.shared), 1);
}

TEST(RamTier, HasRoomForAsManyStatesAsThePool) {
  RamBench s(2);
  for (std::int64_t slot = 0; slot < 6; ++slot) s.keep(slot, slot);
  EXPECT_THROW(s.keep(6, 6), Error);
}

TEST(RamTier, DoesNotMissWhatCouldNotBeKept) {
  RamBench s(1, 1);
  s.keep(0, 1);
  EXPECT_THROW(s.keep(1, 2), Error);
  EXPECT_THROW(s.tier.restore({1, 0}), Error);
  s.tier.drop(1);
  EXPECT_TRUE(s.brings_back(0, 1));
}

TEST(RamTier, AsksNobodyAndCostsNothing) {
  RamBench s(1);
  EXPECT_EQ(s.tier.agreed_before_use(), Tier::Agreed::kNothing);
  EXPECT_EQ(s.tier.cost().write, 0);
  EXPECT_FALSE(s.tier.lose(0));
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

}  // namespace
}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
// The tier on disk with two volumes, on disks in memory.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <vector>

#include "held_transport.h"

namespace anadrome::store {
namespace {

// Home is the bench's; the fast volume is made beside it.
struct TwoVolumesBench : HeldTier {
  explicit TwoVolumesBench(std::int64_t pool_blocks = 8)
      : HeldTier({.pool_blocks = pool_blocks}), fast(layout), fast_disk(layout, fields, 3) {
    tier.reset();
    const std::array<Volume, 2> volumes = {
        {{disk, *transport, times}, {fast_disk, fast, fast_times}}};
    const DiskTier::Parts parts = {layout, blocks, volumes, live};
    tier = std::make_unique<DiskTier>(parts, BlockIdentity{}, observer);
  }
  ~TwoVolumesBench() { tier.reset(); }  // it waits for the fast volume's transfers
  void put(std::int64_t number, int volume) {
    keep(number, number);
    tier->write_newest_block({}, false, volume);
  }
  void put_all(const std::vector<int>& on) {
    for (std::size_t number = 0; number < on.size(); ++number)
      put(static_cast<std::int64_t>(number), on[number]);
  }
  // Nothing is in memory any more.
  void empty() {
    tier->flush();
    for (std::int64_t block = 0; block < tier->anchors().noted(); ++block) tier->drop(block);
    held->started.clear();
    fast.started.clear();
  }

  HeldTransport fast;
  FilePlaces fast_disk;
  TransferTimes fast_times;
};
using Begun = std::vector<HeldTier::Started>;

TEST(TwoVolumesTier, WritesABlockOnceAndTheFirstToBoth) {
  TwoVolumesBench s;
  s.put_all({kFast, kHome, kFast});
  EXPECT_EQ(s.fast.started, (Begun{{true, 0}, {true, 2}}));
  EXPECT_EQ(s.held->started, (Begun{{true, 1}}));
  EXPECT_EQ(s.tier->writes_under_way(kHome), 1);
  s.tier->flush();
  EXPECT_EQ(s.held->started, (Begun{{true, 1}, {true, 0}})) << "the copy of x_0";
  EXPECT_EQ(s.tier->writes_under_way(kHome), 0);
  EXPECT_EQ(s.tier->notes(kFast).states_written(), 2);
}

TEST(TwoVolumesTier, FillsThePlacesOfEachInTurn) {
  TwoVolumesBench s;
  s.put_all({kFast, kHome, kFast, kHome});
  EXPECT_EQ(s.tier->blocks_written(kHome), 2);
  EXPECT_EQ(s.tier->anchors()[3].place, 1);
  EXPECT_TRUE(s.tier->has_place(4, kFast));
  s.put(4, kFast);
  EXPECT_FALSE(s.tier->has_place(5, kFast)) << "it has three";
  EXPECT_TRUE(s.tier->has_place(5, kHome));
  s.empty();
  for (std::int64_t number = 4; number >= 0; --number) {
    EXPECT_TRUE(s.brings_back(number, number)) << number;
    s.tier->drop(number);
  }
}

TEST(TwoVolumesTier, ReadsAheadFromBoth) {
  TwoVolumesBench s;
  s.put_all({kFast, kHome, kHome, kFast, kFast, kHome});
  s.empty();
  s.tier->set_prefetch_depth(1);
  ASSERT_TRUE(s.brings_back(5, 5));
  s.held->started.clear();
  s.tier->prefetch(5);
  EXPECT_EQ(s.fast.started, (Begun{{false, 4}}));
  EXPECT_EQ(s.held->started, (Begun{{false, 2}})) << "home's next, however far";
  ASSERT_TRUE(s.brings_back(4, 4));
  s.tier->prefetch(4);
  EXPECT_EQ(s.fast.started.back(), (HeldTier::Started{false, 3}));
  EXPECT_EQ(s.held->started.size(), 1u) << "it is on its way";
}

TEST(TwoVolumesTier, WaitsForTheFasterWriteWhereMemoryIsWanted) {
  TwoVolumesBench s(3);
  s.put(0, kFast);
  s.tier->flush();
  s.put(1, kHome);
  s.put(2, kFast);
  s.put(3, kFast);  // in the memory of x_0
  s.keep(4, 4);
  EXPECT_EQ(s.fast.waited_for, (std::vector<std::int64_t>{0, 2}));
  EXPECT_TRUE(s.in_memory(1));
}

TEST(TwoVolumesTier, LosesWhatWasOnADirectoryThatIsGone) {
  TwoVolumesBench s;
  std::map<std::int64_t, JournalBlock> blocks;
  for (std::int64_t block = 0; block < 4; ++block) {
    blocks[block] = {block, block, 1, {}, {}};
    blocks[block].place = {block % 2 == 0 ? kFast : kHome, block < 2 ? 0 : 9};
  }
  s.tier->take_over(
      4, [](std::int64_t number) { return number; }, blocks);
  EXPECT_FALSE(s.tier->load(2).message.empty()) << "the fast one has three places";
  EXPECT_FALSE(s.tier->load(3).message.empty()) << "and home eight";
  EXPECT_EQ(s.tier->blocks_written(kFast), 1);
  s.put(4, kFast);
  EXPECT_EQ(s.tier->anchors()[4].place, 1) << "behind what is there";
}

}  // namespace
}  // namespace anadrome::store

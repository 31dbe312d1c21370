// SPDX-License-Identifier: BSD-2-Clause
// The states of a block on its way to disk and back, with a transport that the test holds.
#include "store/tiers/disk_tier.h"

#include <gtest/gtest.h>

#include "has_part.h"
#include "held_transport.h"
#include "tier_bench.h"

namespace anadrome::store {
namespace {

using State = Resident::State;
using Started = HeldTransport::Started;

struct HeldTier : TierBench {
  explicit HeldTier(const TierShape& shape = {})
      : TierBench(shape,
                  [](const BlockLayout& made) { return std::make_unique<HeldTransport>(made); }) {}
  State state(std::int64_t block) const { return blocks.residents().at(block).state; }
  bool in_memory(std::int64_t block) const { return blocks.residents().count(block) > 0; }
  // Takes all of the pool, so that whatever may go has to.
  void fill_pool() {
    while (pool.take() >= 0) continue;
  }
  HeldTransport* held = static_cast<HeldTransport*>(transport.get());
};

Failure disk_error() { return {ANADROME_ERR_IO, "no disk"}; }

// ---- in order ----

TEST(DiskTier, FillsWritesAndKeepsABlockWhileThereIsRoom) {
  HeldTier s({.states = 3});
  s.keep(0, 0);
  s.keep(1, 10);
  EXPECT_EQ(s.state(0), State::kFilling);
  EXPECT_FALSE(s.layout.fills_block(1));
  EXPECT_TRUE(s.held->started.empty());
  s.keep(2, 20);
  ASSERT_TRUE(s.layout.fills_block(2));
  s.tier->write_newest_block();
  EXPECT_EQ(s.state(0), State::kWriting);
  s.held->finish_all();
  s.tier->settle_finished();
  EXPECT_EQ(s.state(0), State::kCopying) << "block 0 is written twice";
  s.held->finish_all();
  s.tier->settle_finished();
  EXPECT_EQ(s.state(0), State::kClean);
  EXPECT_EQ(s.observer.moves, 2);
  EXPECT_TRUE(s.brings_back(1, 10));
  EXPECT_EQ(s.held->started, (std::vector<Started>{{true, 0}, {true, 0}})) << "nothing is read";
}

TEST(DiskTier, CopiesOnlyTheFirstBlock) {
  HeldTier s;
  s.keep_and_write(0, 0);
  s.keep_and_write(1, 10);
  s.tier->flush();
  EXPECT_EQ(s.held->started, (std::vector<Started>{{true, 0}, {true, 1}, {true, 0}}));
}

TEST(DiskTier, RestoresABlockWhileItIsWritten) {
  HeldTier s;
  s.keep_and_write(0, 0);
  s.keep_and_write(1, 10);
  EXPECT_TRUE(s.brings_back(1, 10));
  EXPECT_EQ(s.state(1), State::kWriting);
  EXPECT_TRUE(s.held->waited_for.empty());
}

TEST(DiskTier, ReadsBackWhatHadToMakeRoom) {
  HeldTier s({.states = 2});
  for (std::int64_t anchor = 0; anchor < 6; ++anchor) s.keep_and_write(anchor, 10 * anchor);
  s.tier->flush();
  s.fill_pool();
  for (int i = 0; i < 2; ++i) s.blocks.take();  // one makes room for a checkpoint, and another
  EXPECT_FALSE(s.in_memory(0));
  EXPECT_FALSE(s.in_memory(1));
  EXPECT_THROW(s.blocks.take(), Error) << "the block being worked on stays";
  s.pool.give_back(3);
  EXPECT_TRUE(s.brings_back(3, 30));
  EXPECT_TRUE(s.brings_back(2, 20));
  EXPECT_EQ(s.held->started.back(), (Started{false, 1}));
}

TEST(DiskTier, ReadsAheadAsFarAsItMay) {
  HeldTier s({.pool_blocks = 6});
  for (std::int64_t anchor = 0; anchor < 6; ++anchor) s.keep_and_write(anchor, anchor);
  s.tier->flush();
  for (std::int64_t anchor = 4; anchor >= 0; --anchor) s.tier->drop(anchor);
  s.held->started.clear();
  s.tier->set_prefetch_depth(2);
  s.tier->prefetch(5);
  EXPECT_EQ(s.held->started, (std::vector<Started>{{false, 4}, {false, 3}}));
  s.tier->prefetch(5);
  EXPECT_EQ(s.held->started.size(), 2u) << "they are on their way";
  EXPECT_TRUE(s.brings_back(4, 4));
  EXPECT_EQ(s.held->waited_for.back(), 4);
  EXPECT_GT(s.tier->notes().seconds_stalled_read(), 0);
}

TEST(DiskTier, LetsBlocksBeReadAheadStayInMemory) {
  HeldTier s({.pool_blocks = 3});
  for (std::int64_t anchor = 0; anchor < 4; ++anchor) s.keep_and_write(anchor, anchor);
  s.tier->flush();
  s.tier->set_prefetch_depth(1);
  s.tier->prefetch(3);
  EXPECT_TRUE(s.in_memory(2));
  s.fill_pool();
  s.blocks.take();
  EXPECT_TRUE(s.in_memory(2) && s.in_memory(3));
  EXPECT_FALSE(s.in_memory(1));
}

// The copy of block 0 is queued behind the writes that were there when block 0 was written.
TEST(DiskTier, WaitsForTheTransferThatIsDoneFirst) {
  HeldTier s({.pool_blocks = 4});
  for (std::int64_t anchor = 0; anchor < 4; ++anchor) s.keep_and_write(anchor, anchor);
  s.held->finish_oldest();
  s.tier->settle_finished();
  ASSERT_EQ(s.state(0), State::kCopying);
  s.keep_and_write(4, 4);
  EXPECT_EQ(s.held->waited_for, (std::vector<std::int64_t>{1}));
  EXPECT_FALSE(s.in_memory(1));
}

TEST(DiskTier, HoldsADroppedBlockUntilItIsWritten) {
  HeldTier s;
  s.keep_and_write(0, 0);
  s.keep_and_write(1, 10);
  s.tier->drop(1);
  EXPECT_TRUE(s.in_memory(1));
  const std::int64_t free_blocks = s.pool.free_blocks();
  s.held->finish_all();
  s.tier->settle_finished();
  EXPECT_FALSE(s.in_memory(1));
  EXPECT_EQ(s.pool.free_blocks(), free_blocks + 1);
}

TEST(DiskTier, WantsADroppedBlockAgainAfterARewind) {
  HeldTier s;
  s.keep_and_write(0, 0);
  s.keep_and_write(1, 10);
  s.tier->drop(1);
  EXPECT_TRUE(s.brings_back(1, 10));
  s.tier->flush();
  EXPECT_TRUE(s.in_memory(1));
}

TEST(DiskTier, TakesAQueuedWriteBackIfItMay) {
  for (const bool may : {false, true}) {
    HeldTier s({.states = 2});
    if (may) s.tier->allow_cancelling();
    for (std::int64_t anchor = 0; anchor < 4; ++anchor) s.keep_and_write(anchor, anchor);
    EXPECT_EQ(s.tier->anchors().written(), 4);
    s.tier->drop(3);
    EXPECT_EQ(s.held->under_way(), 2u) << "the lower anchor of the block is still to come";
    s.tier->drop(2);
    EXPECT_EQ(s.held->under_way(), may ? 1u : 2u);
    EXPECT_EQ(s.tier->anchors().written(), may ? 2 : 4);
    EXPECT_EQ(s.in_memory(1), !may);
    EXPECT_EQ(s.tier->anchors().restorable(), may ? 2 : 4);
  }
}

TEST(DiskTier, WaitsForItsTransfersBeforeItGoes) {
  HeldTier s;
  s.keep_and_write(0, 0);
  s.keep_and_write(1, 10);
  s.tier.reset();
  EXPECT_EQ(s.held->under_way(), 0u);
  EXPECT_TRUE(s.blocks.residents().empty());
}

TEST(DiskTier, SharesTheBlockOfTheLiveStateInsteadOfCopying) {
  HeldTier s;
  s.live.shared = s.pool.take();
  s.keep(0, 0);
  EXPECT_EQ(s.blocks.residents().at(0).pool_block, s.live.shared);
  EXPECT_EQ(s.pool.holders(s.live.shared), 2);
}

// ---- what is lost ----

TEST(DiskTier, LosesABlockThatCouldNotBeWrittenWhenItsMemoryIsNeeded) {
  HeldTier s;
  s.keep_and_write(0, 0);
  s.tier->flush();
  s.held->write_failure = disk_error();
  s.keep_and_write(1, 10);
  s.held->finish_all();
  s.tier->settle_finished();
  s.held->write_failure = {};
  s.keep_and_write(2, 20);
  s.tier->flush();
  EXPECT_EQ(s.tier->notes().writes_failed(), 1);
  EXPECT_TRUE(s.brings_back(1, 10)) << "it is in memory";
  s.tier->drop(1);
  const Failure lost = s.tier->load(1);
  EXPECT_EQ(lost.status, ANADROME_ERR_IO);
  EXPECT_FALSE(s.tier->lose(1)) << "there is no copy of it";
  EXPECT_TRUE(s.brings_back(2, 20));
}

TEST(DiskTier, ReadsTheCopyOfTheFirstBlockInNeed) {
  HeldTier s;
  s.keep_and_write(0, 0);
  s.tier->flush();
  s.tier->drop(0);
  s.held->read_failure = disk_error();
  EXPECT_TRUE(s.tier->load(0));
  s.held->read_failure = {};
  EXPECT_TRUE(s.tier->lose(0));
  EXPECT_TRUE(s.brings_back(0, 0));
  EXPECT_FALSE(s.tier->lose(0)) << "there is no third one";
}

TEST(DiskTier, HasNoCopyOfTheFirstBlockWhereThereIsNoPlaceForOne) {
  HeldTier s;
  s.disk.has_copy = false;
  s.keep_and_write(0, 0);
  s.tier->flush();
  EXPECT_EQ(s.held->started.size(), 1u);
  EXPECT_FALSE(s.tier->lose(0));
}

// Without checksums, what lies in its place looks like what was written.
TEST(DiskTier, LosesTheFirstBlockWithAnUnwrittenCopyThatAllRanksRead) {
  HeldTier s;
  s.held->collective = true;
  s.held->copy_failure = disk_error();
  s.keep_and_write(0, 0);
  s.tier->drop(0);
  s.held->read_failure = disk_error();
  EXPECT_TRUE(s.tier->load(0));
  s.held->read_failure = {};
  EXPECT_TRUE(s.tier->lose(0));
  const Failure lost = s.tier->load(0);
  EXPECT_TRUE(test::has_part(lost.message, "second copy was not written"));
  EXPECT_FALSE(s.in_memory(0));
}

TEST(DiskTier, TriesARefusedReadOnceMore) {
  HeldTier s;
  s.keep_and_write(0, 0);
  s.keep_and_write(1, 10);
  s.tier->flush();
  s.tier->drop(1);
  s.held->started.clear();
  s.held->read_failure = disk_error();
  EXPECT_TRUE(s.tier->load(1));
  EXPECT_EQ(s.held->started.size(), 2u);
  EXPECT_FALSE(s.in_memory(1));
}

TEST(DiskTier, RefusesAFullDiskAtOnceAndAFailingOneTheThirdTimeInARow) {
  HeldTier s({.pool_blocks = 8});
  s.keep_and_write(0, 0);
  s.tier->flush();
  std::int64_t number = 0;
  const auto refuses_after = [&](const Failure& failure) {
    s.held->write_failure = failure;
    ++number;
    s.keep_and_write(number, number);
    s.tier->flush();
    return s.tier->notes().disk_refuses();
  };
  for (const bool fails : {true, true, false, true, true})
    EXPECT_FALSE(refuses_after(fails ? disk_error() : Failure{}));
  EXPECT_TRUE(refuses_after(disk_error()));
  EXPECT_EQ(s.tier->notes().writes_failed(), 5);
  EXPECT_EQ(s.tier->notes().failed_write().message, "no disk");
  HeldTier full;
  full.held->write_failure = {ANADROME_ERR_NO_SPACE, "full"};
  full.keep_and_write(0, 0);
  full.tier->flush();
  EXPECT_TRUE(full.tier->notes().disk_refuses());
}

TEST(DiskTier, KeepsStepZeroInMemoryUntilItIsOnDisk) {
  HeldTier s({.pool_blocks = 2});
  s.held->write_failure = disk_error();
  s.keep_and_write(0, 0);
  s.tier->flush();
  EXPECT_EQ(s.state(0), State::kClean);
  s.keep_and_write(1, 10);
  s.tier->flush();
  s.keep(2, 20);  // 1 goes, although it is on no disk
  EXPECT_TRUE(s.in_memory(0) && s.in_memory(2));
  EXPECT_FALSE(s.in_memory(1));
  EXPECT_TRUE(s.brings_back(0, 0));
}

TEST(DiskTier, DoesWithoutAnAnchorIfOnlyStepZeroHasMemory) {
  HeldTier s({.pool_blocks = 1});
  s.held->write_failure = disk_error();
  s.keep_and_write(0, 0);
  s.tier->flush();
  s.keep_and_write(1, 10);
  EXPECT_FALSE(s.in_memory(1));
  EXPECT_EQ(s.tier->load(1).status, ANADROME_ERR_IO);
  EXPECT_THROW(s.blocks.take(), Error);
  EXPECT_TRUE(s.brings_back(0, 0));
}

TEST(DiskTier, WritesStepZeroAgainWhenItsMemoryIsWanted) {
  HeldTier s({.pool_blocks = 1});
  s.held->write_failure = disk_error();
  s.keep_and_write(0, 0);
  s.tier->flush();
  s.held->write_failure = {};
  s.keep_and_write(1, 10);
  s.tier->flush();
  EXPECT_TRUE(s.in_memory(1));
  s.tier->drop(1);
  EXPECT_TRUE(s.brings_back(0, 0));
}

TEST(DiskTier, RestoresABlockThatWasGivenUpWhileItIsInMemory) {
  HeldTier s({.states = 2});
  s.keep(0, 0);
  s.tier->write_newest_block({ANADROME_ERR_NO_SPACE, "full"});
  EXPECT_TRUE(s.held->started.empty());
  EXPECT_TRUE(s.brings_back(0, 0));
  EXPECT_EQ(s.tier->anchors().written(), 0);
  EXPECT_EQ(s.tier->anchors().restorable(), 1);
}

TEST(DiskTier, TakesOverTheBlocksOfAnotherProcess) {
  HeldTier s({.states = 2});
  for (std::int64_t anchor = 0; anchor < 4; ++anchor) s.keep_and_write(anchor, 10 * anchor);
  s.tier->flush();
  const std::vector<std::uint64_t> sums = s.tier->anchors().checksums();
  EXPECT_EQ(sums, (std::vector<std::uint64_t>{1, 7, 2, 7}));
  s.tier.reset();
  s.pool.reset();
  const Volume volume = {s.disk, *s.transport, s.times};
  const DiskTier::Parts parts = {s.layout, s.blocks, {&volume, 1}, s.live};
  s.tier = std::make_unique<DiskTier>(parts, BlockIdentity{}, s.observer);
  s.tier->take_over(5, [](std::int64_t number) { return 10 * number; },
                    {{0, {0, 0, 2, {1, 7}, {}}}, {1, {1, 20, 2, {2, 7}, {}}}});
  EXPECT_EQ(s.tier->anchors().kept(), 5);
  EXPECT_TRUE(s.brings_back(3, 30));
  EXPECT_EQ(s.tier->load(4).status, ANADROME_ERR_CORRUPT) << "it was not on disk";
  s.tier->truncate(2);
  EXPECT_EQ(s.tier->anchors().checksums().size(), 2u);
  s.keep_and_write(2, 50);
  s.keep_and_write(3, 60);
  EXPECT_TRUE(s.brings_back(3, 60));
}

TEST(DiskTier, TakesNoBlockOverThatHasOtherStates) {
  HeldTier s({.states = 2});
  s.tier->take_over(4, [](std::int64_t number) { return 10 * number; },
                    {{0, {0, 10, 2, {1, 7}, {}}}, {1, {1, 20, 1, {2, 7}, {}}}});
  EXPECT_TRUE(s.tier->load(0)) << "of another step";
  EXPECT_TRUE(s.tier->load(2)) << "with one state too few";
}

// ---- as a tier ----

TEST(DiskTier, SaysWhatItHoldsAndCosts) {
  HeldTier s({.states = 3});
  EXPECT_TRUE(s.tier->has_place(3 * TierBench::kDiskBlocks - 1, kHome));
  EXPECT_FALSE(s.tier->has_place(3 * TierBench::kDiskBlocks, kHome));
  EXPECT_EQ(s.tier->agreed_before_use(), Tier::Agreed::kLoaded);
  EXPECT_EQ(s.tier->cost().write, 0);
  for (std::int64_t anchor = 0; anchor < 3; ++anchor) s.keep_and_write(anchor, anchor);
  EXPECT_GT(s.tier->cost().write, 0) << "what it has taken so far";
  s.tier->flush();
  EXPECT_DOUBLE_EQ(s.tier->cost().write, 0.5 / 3);
  EXPECT_EQ(s.tier->cost().read, 0);
  for (std::int64_t anchor = 2; anchor >= 0; --anchor) s.tier->drop(anchor);
  EXPECT_FALSE(s.tier->load(0));
  EXPECT_DOUBLE_EQ(s.tier->cost().read, 0.5 / 3);
}

}  // namespace
}  // namespace anadrome::store

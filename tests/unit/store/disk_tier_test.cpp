// SPDX-License-Identifier: BSD-2-Clause
// The states of a block on its way to disk and back, with a transport that the test holds.
#include "store/tiers/disk_tier.h"

#include <gtest/gtest.h>

#include "has_part.h"
#include "held_transport.h"

namespace anadrome::store {
namespace {

using State = HeldTier::State;
using Started = HeldTier::Started;
using Blocks = std::vector<std::int64_t>;

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
  s.finish_and_settle();
  EXPECT_EQ(s.state(0), State::kCopying) << "block 0 is written twice";
  s.finish_and_settle();
  EXPECT_EQ(s.state(0), State::kClean);
  EXPECT_EQ(s.observer.moves, 2);
  EXPECT_TRUE(s.brings_back(1, 10));
  EXPECT_EQ(s.held->started, (std::vector<Started>{{true, 0}, {true, 0}})) << "nothing is read";
}

TEST(DiskTier, CopiesOnlyTheFirstBlockAndThatWhereThereIsAPlace) {
  for (const bool has_copy : {true, false}) {
    HeldTier s;
    s.disk.has_copy = has_copy;
    s.keep_and_write_up_to(2);
    s.tier->flush();
    EXPECT_EQ(s.begun(true), has_copy ? Blocks({0, 1, 0}) : Blocks({0, 1}));
    EXPECT_EQ(s.tier->lose(0), has_copy);
  }
}

TEST(DiskTier, ReadsBackWhatHadToMakeRoom) {
  HeldTier s({.states = 2});
  s.keep_and_write_up_to(6, 10);
  s.tier->flush();
  s.fill_pool();
  for (int i = 0; i < 2; ++i) s.blocks.take();  // one makes room for a checkpoint, and another
  EXPECT_FALSE(s.in_memory(0) || s.in_memory(1));
  EXPECT_THROW(s.blocks.take(), Error) << "the block being worked on stays";
  s.pool.give_back(3);
  EXPECT_TRUE(s.brings_back(3, 30));
  EXPECT_TRUE(s.brings_back(2, 20));
  EXPECT_EQ(s.held->started.back(), (Started{false, 1}));
}

TEST(DiskTier, ReadsAheadAsFarAsItMay) {
  HeldTier s({.pool_blocks = 6});
  s.keep_and_write_up_to(6);
  s.tier->flush();
  for (std::int64_t anchor = 4; anchor >= 0; --anchor) s.tier->drop(anchor);
  s.begun();
  s.tier->set_prefetch_depth(2);
  s.tier->prefetch(5);
  s.tier->prefetch(5);
  EXPECT_EQ(s.begun(), (Blocks{4, 3})) << "once";
  EXPECT_TRUE(s.brings_back(4, 4));
  EXPECT_EQ(s.held->waited_for.back(), 4);
  EXPECT_GT(s.tier->notes().seconds_stalled_read(), 0);
}

TEST(DiskTier, WaitsForNoMemoryToReadAhead) {
  HeldTier s({.pool_blocks = 3});
  s.keep_and_write_up_to(3);
  s.tier->flush();
  for (const std::int64_t anchor : {1, 0}) s.tier->drop(anchor);
  s.keep_and_write(3, 3);
  s.keep_and_write(4, 4);  // all memory is being written, but for that of 2
  s.tier->set_prefetch_depth(4);
  s.held->waited_for.clear();
  s.begun();
  s.tier->prefetch(4);
  EXPECT_EQ(s.begun(), Blocks{});
  EXPECT_TRUE(s.held->waited_for.empty());
}

TEST(DiskTier, LetsBlocksBeReadAheadStayInMemoryAsLongAsItCan) {
  HeldTier s({.pool_blocks = 3});
  s.keep_and_write_up_to(4);
  s.tier->flush();
  s.tier->set_prefetch_depth(1);
  s.tier->prefetch(3);
  EXPECT_TRUE(s.in_memory(2));
  s.fill_pool();
  s.blocks.take();
  EXPECT_TRUE(s.in_memory(2) && s.in_memory(3));
  EXPECT_FALSE(s.in_memory(1));
  s.blocks.take();
  EXPECT_TRUE(!s.in_memory(2) && s.in_memory(3));
  EXPECT_THROW(s.blocks.take(), Error) << "more than the schedule may use";
}

// The copy of block 0 is queued behind the writes that were there when block 0 was written.
TEST(DiskTier, WaitsForWhatNobodyNeedsOrElseForTheTransferThatIsDoneFirst) {
  for (const bool dropped : {false, true}) {
    HeldTier s({.pool_blocks = 4});
    s.keep_and_write_up_to(4);
    s.held->finish_oldest();
    s.tier->settle_finished();
    ASSERT_EQ(s.state(0), State::kCopying);
    if (dropped) s.tier->drop(3);
    s.keep_and_write(4, 4);
    EXPECT_EQ(s.held->waited_for, (Blocks{dropped ? 3 : 1}));
    EXPECT_EQ(s.in_memory(1), dropped);
  }
}

TEST(DiskTier, HoldsADroppedBlockUntilItIsWrittenOrWantedAgain) {
  for (const bool wanted : {false, true}) {
    HeldTier s;
    s.keep_and_write_up_to(2, 10);
    s.tier->drop(1);
    EXPECT_TRUE(s.in_memory(1));
    EXPECT_TRUE(!wanted || s.brings_back(1, 10)) << "while it is written";
    EXPECT_EQ(s.state(1), State::kWriting);
    EXPECT_TRUE(s.held->waited_for.empty());
    const std::int64_t free_blocks = s.pool.free_blocks();
    s.finish_and_settle();
    EXPECT_EQ(s.in_memory(1), wanted);
    EXPECT_EQ(s.pool.free_blocks(), free_blocks + (wanted ? 0 : 1));
  }
}

TEST(DiskTier, TakesAQueuedWriteBackIfItMay) {
  for (const bool may : {false, true}) {
    HeldTier s({.states = 2});
    if (may) s.tier->allow_cancelling();
    s.keep_and_write_up_to(4);
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
  s.keep_and_write_up_to(2);
  s.tier.reset();
  EXPECT_EQ(s.held->under_way(), 0u);
  EXPECT_TRUE(s.blocks.residents().empty());
}

TEST(DiskTier, SharesTheBlockOfTheLiveStateInsteadOfCopying) {
  HeldTier s({.pool_blocks = 2});
  s.live.shared = s.pool.take();
  s.keep_and_write(0, 0);
  EXPECT_EQ(s.blocks.residents().at(0).pool_block, s.live.shared);
  EXPECT_EQ(s.pool.holders(s.live.shared), 2);
  s.live.shared = -1;
  s.keep_and_write(1, 1);
  s.tier->flush();
  s.keep(2, 2);
  EXPECT_TRUE(s.in_memory(0) && !s.in_memory(1)) << "it would free nothing";
  EXPECT_THROW(s.blocks.take(), Error);
}

// ---- what is lost ----

TEST(DiskTier, LosesABlockThatCouldNotBeWrittenWhenItsMemoryIsNeeded) {
  HeldTier s;
  s.keep_and_write(0, 0);
  s.tier->flush();
  s.held->write_failure = disk_error();
  s.keep_and_write(1, 10);
  s.finish_and_settle();
  s.held->write_failure = {};
  s.keep_and_write(2, 20);
  s.tier->flush();
  EXPECT_EQ(s.tier->notes().writes_failed(), 1);
  EXPECT_TRUE(s.brings_back(1, 10)) << "it is in memory";
  s.tier->drop(1);
  EXPECT_EQ(s.tier->load(1).status, ANADROME_ERR_IO);
  EXPECT_FALSE(s.tier->lose(1)) << "there is no copy of it";
  EXPECT_TRUE(s.brings_back(2, 20));
}

TEST(DiskTier, LosesWhatCannotBeReadAgainLastAndTheHighestFirst) {
  HeldTier s({.pool_blocks = 5});
  for (std::int64_t anchor = 0; anchor < 5; ++anchor) {
    s.held->write_failure = anchor == 1 || anchor == 3 ? disk_error() : Failure{};
    s.keep_and_write(anchor, anchor);
    s.tier->flush();
  }
  for (const std::int64_t gone : {0, 2, 3, 1}) {
    EXPECT_TRUE(s.in_memory(gone)) << gone;
    s.blocks.take();
    EXPECT_FALSE(s.in_memory(gone)) << gone;
  }
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
  s.keep_and_write_up_to(2);
  s.tier->flush();
  s.tier->drop(1);
  s.begun();
  s.held->read_failure = disk_error();
  EXPECT_TRUE(s.tier->load(1));
  EXPECT_EQ(s.begun(), (Blocks{1, 1}));
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
  s.begun(true);
  s.tier->write_newest_block({ANADROME_ERR_NO_SPACE, "full"});
  s.blocks.take();
  EXPECT_EQ(s.begun(true), Blocks{}) << "what is worked on is not written again";
  EXPECT_TRUE(s.in_memory(0) && !s.in_memory(2));
}

TEST(DiskTier, DoesWithoutAnAnchorIfOnlyStepZeroHasMemory) {
  HeldTier s({.pool_blocks = 1});
  s.held->write_failure = disk_error();
  s.keep_and_write(0, 0);
  s.tier->flush();
  s.keep_and_write(1, 10);
  EXPECT_FALSE(s.in_memory(1));
  EXPECT_EQ(s.tier->load(1).status, ANADROME_ERR_IO);
  const Failure none = failure_from([&] { s.blocks.take(); });
  EXPECT_EQ(none.message, "no disk; and there is no memory beside that of step 0");
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
  s.keep_and_write_up_to(4, 10);
  s.tier->flush();
  const std::vector<std::uint64_t> sums = s.tier->anchors().checksums();
  EXPECT_EQ(sums, (std::vector<std::uint64_t>{1, 7, 2, 7}));
  const auto step_of = [](std::int64_t number) { return 10 * number; };
  const auto another = [&] {
    s.tier.reset();
    s.pool.reset();
    const Volume volume = {s.disk, *s.transport, s.times};
    const DiskTier::Parts parts = {s.layout, s.blocks, {&volume, 1}, s.live};
    s.tier = std::make_unique<DiskTier>(parts, BlockIdentity{}, s.observer);
  };
  another();
  s.tier->take_over(4, step_of, {{0, {0, 10, 2, {1, 7}, {}}}, {1, {1, 20, 1, {2, 7}, {}}}});
  EXPECT_TRUE(s.tier->load(0)) << "of another step";
  EXPECT_TRUE(s.tier->load(2)) << "with one state too few";
  another();
  s.tier->take_over(5, step_of, {{0, {0, 0, 2, {1, 7}, {}}}, {1, {1, 20, 2, {2, 7}, {}}}});
  EXPECT_EQ(s.tier->anchors().kept(), 5);
  EXPECT_TRUE(s.brings_back(3, 30));
  EXPECT_EQ(s.tier->load(4).status, ANADROME_ERR_CORRUPT) << "it was not on disk";
  s.tier->truncate(2);
  EXPECT_EQ(s.tier->anchors().checksums().size(), 2u);
  s.keep_and_write(2, 50);
  s.keep_and_write(3, 60);
  EXPECT_TRUE(s.brings_back(3, 60));
}

// ---- as a tier ----

TEST(DiskTier, SaysWhatItHoldsAndCosts) {
  HeldTier s({.states = 3});
  EXPECT_TRUE(s.tier->has_place(3 * TierBench::kDiskBlocks - 1, kHome));
  EXPECT_FALSE(s.tier->has_place(3 * TierBench::kDiskBlocks, kHome));
  EXPECT_EQ(s.tier->agreed_before_use(), Tier::Agreed::kLoaded);
  EXPECT_EQ(s.tier->cost().write, 0);
  s.keep_and_write_up_to(3);
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

// SPDX-License-Identifier: BSD-2-Clause
// Anchors in the places that a schedule gives them; what comes back from them is simulated.
#include "engine/keep/keeper.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "desk.h"
#include "faulty_file_system.h"

namespace anadrome::engine {
namespace {

using test::Fault;
using test::Operation;

// Anchors at every step, not all of which stay in memory.
struct Anchored : LoneDesk {
  explicit Anchored(std::int64_t states = 8, const std::string& set = "") : LoneDesk(kState) {
    options.set_environment(set);
    options.memory = states * kState;
    played = &script("async", 1000);
  }
  ~Anchored() { keeper.abandon(); }
  void keep_all(std::int64_t anchors) {
    for (std::int64_t number = 0; number < anchors; ++number) keep_anchor(number);
    keeper.disk_tier()->flush();
    meeting.calls.clear();
    step_to(-1);
  }
  bool brings_back(std::int64_t number) {
    keeper.restore({anchor(number, number)});
    return is_at(number) && !context.peers.held.failure();
  }
  std::int64_t written() { return keeper.disk_tier()->anchors().written(); }
  std::int64_t room() { return storage.space()->capacity(); }

  test::FaultyFileSystem files;
  ScriptedSweep* played;
};

TEST(Keeper, WritesABlockUnlessTheRestIsReversedFromMemory) {
  Anchored desk;
  desk.keeper.keep({anchor(0, 0)});
  EXPECT_EQ(desk.written(), 0) << "what follows is not known yet";
  desk.keeper.write_due();
  EXPECT_EQ(desk.written(), 1);
  EXPECT_FALSE(desk.keeper.write_is_due());
  EXPECT_EQ(desk.meeting.commits, std::vector{Call::kAnchor});
  desk.played->facts.ends_in_ram = true;
  desk.keep_anchor(1);
  EXPECT_EQ(desk.written(), 1);
  EXPECT_TRUE(desk.brings_back(1));
  desk.options.keep = true;
  desk.keep_anchor(2);
  EXPECT_EQ(desk.written(), 3) << "files for later readers have every anchor";
}

TEST(Keeper, AgreesOnceForABlockAndWritesTheLastOneForLaterReaders) {
  Anchored desk(600);
  ASSERT_EQ(desk.memory.layout.states(), 2);
  desk.keep_all(5);
  desk.keeper.write_last_block();
  EXPECT_EQ(desk.written(), 4);
  desk.options.keep = true;
  desk.keeper.write_last_block();
  EXPECT_EQ(desk.written(), 5);
  EXPECT_TRUE(desk.brings_back(3) && desk.brings_back(2));
  EXPECT_EQ(desk.meeting.calls, std::vector{Call::kRestore});
  EXPECT_TRUE(desk.brings_back(1));
  EXPECT_EQ(desk.meeting.calls.size(), 2u);
}

TEST(Keeper, AgreesAnewOnEachBlockOfAPass) {
  Anchored desk;
  desk.keep_all(2);
  EXPECT_TRUE(desk.brings_back(0) && desk.brings_back(0));
  EXPECT_EQ(desk.meeting.calls.size(), 1u);
  desk.keeper.begin_pass(1);
  EXPECT_TRUE(desk.brings_back(0));
  EXPECT_EQ(desk.meeting.calls.size(), 2u) << "some rank may not have it any more";
}

TEST(Keeper, HoldsX0WhereAsManyStatesAsAreAskedForFitBesideIt) {
  Anchored desk;
  desk.keep_all(1);
  std::vector<std::int64_t> free;
  while (desk.keeper.has_spare_block()) free.push_back(desk.keeper.take_spare_block());
  for (const std::int64_t block : free) desk.keeper.give_back_spare_block(block);
  desk.keeper.hold_x_0(std::ssize(free));
  desk.keeper.disk_tier()->drop(0);
  EXPECT_FALSE(desk.keeper.has_x_0_in_memory());
  EXPECT_TRUE(desk.brings_back(0));
  desk.keeper.hold_x_0(std::ssize(free) - 1);
  desk.keeper.disk_tier()->drop(0);
  EXPECT_TRUE(desk.keeper.has_x_0_in_memory());
  desk.keeper.let_go_of_x_0();
}

// ---- two directories ----

struct OnTwoVolumes : Desk {
  explicit OnTwoVolumes(Ranks& ranks) : Desk(ranks, kState, 0) {
    options.set("directory", fast.path() + "," + directory.path());
    options.set("layout", "rank");
    options.memory = 8 * kState;
    script("async", 1000);
  }
  ~OnTwoVolumes() { keeper.abandon(); }
  const store::TemporaryDirectory fast;
};

TEST(Keeper, GivesTheOtherVolumeABlockThatOneRefuses) {
  test::FaultyFileSystem files;
  OneRank one;
  OnTwoVolumes desk(one.rank);
  files.only_in(desk.fast.path());
  files.arm(Operation::kAllocate, 1, Fault::kNoSpace, true);
  std::int64_t number = 0;
  while (!files.hit() && number < 1000) desk.keep_anchor(number++);
  ASSERT_TRUE(files.hit());
  EXPECT_FALSE(desk.sweep.no_more_anchors);
  EXPECT_EQ(desk.keeper.disk_tier()->anchors().written(), number);
}

// A block that only one rank knows to be in the fast directory takes its place there on both.
TEST(Keeper, GoesOnBehindTheBlocksOfTheRankThatKnowsMost) {
  using Place = store::JournalBlock::Place;
  ThreadRanks::run(2, [&](Ranks& ranks) {
    OnTwoVolumes desk(ranks);
    std::map<std::int64_t, store::JournalBlock> known;
    for (std::int64_t block = 0; block < 3; ++block)
      known[block] = {block, block, 1,
                      {},    {},    Place{block < 2 ? store::kFast : store::kHome, block}};
    if (ranks.rank() == 1) known.erase(1);
    store::DiskTier& tier = *desk.keeper.disk_tier();
    tier.take_over(
        3, [](std::int64_t number) { return number; }, known);
    desk.keeper.go_on_from(2);
    EXPECT_EQ(tier.blocks_written(store::kFast), 2) << "rank " << ranks.rank();
  });
}

// ---- faults ----

TEST(Keeper, AnchorsNoMoreOnceTheDiskIsFull) {
  Anchored desk;
  const std::int64_t room = desk.room();
  desk.keep_all(room);
  desk.files.arm(Operation::kAllocate, 1, Fault::kNoSpace, true);
  desk.keep_anchor(room);
  EXPECT_EQ(desk.sweep.disk_refused.status, ANADROME_ERR_NO_SPACE);
  EXPECT_TRUE(desk.brings_back(room)) << "its memory was not needed yet";
  desk.meeting.calls.clear();
  desk.keep_anchor(room + 1);
  EXPECT_TRUE(desk.meeting.calls.empty()) << "there is nothing to write";
  EXPECT_TRUE(desk.brings_back(1));
  ASSERT_EQ(desk.played->full.size(), 1u) << "and all of the memory is the schedule's";
  EXPECT_GT(desk.played->full[0].slots, desk.memory.checkpoint_slots);
  EXPECT_EQ(desk.played->full[0].slots, desk.memory.all_slots());
}

TEST(Keeper, AnchorsNoMoreOnceAllHeardThatAWriteFoundNoRoom) {
  Anchored desk;
  desk.files.arm(Operation::kWrite, 1, Fault::kNoSpace, true);
  desk.keep_all(1);
  EXPECT_FALSE(desk.sweep.no_more_anchors);
  desk.keep_anchor(1);
  EXPECT_TRUE(desk.sweep.no_more_anchors);
  EXPECT_EQ(desk.written(), 1);
}

// What was on its way when the disk became full is waited for: some of it may have failed.
TEST(Keeper, KnowsOfEachWriteWhetherItWentWellBeforeItGoesOnWithoutADisk) {
  Anchored desk(40, "disk=640KiB");
  desk.files.delay_writes(std::chrono::milliseconds(20));
  desk.files.arm(Operation::kWrite, 1, Fault::kIoError, true);
  for (std::int64_t number = 0; desk.played->full.empty() && number < 30; ++number)
    desk.keep_anchor(number);
  ASSERT_FALSE(desk.played->full.empty());
  EXPECT_EQ(desk.played->full[0].slots, 0) << "x_0 is on no disk, and stays in memory";
}

}  // namespace
}  // namespace anadrome::engine

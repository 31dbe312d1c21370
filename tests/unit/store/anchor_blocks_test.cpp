// SPDX-License-Identifier: BSD-2-Clause
// The account of blocks, without a disk.
#include "store/tiers/anchor_blocks.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace anadrome::store {
namespace {

// Blocks of two states. Anchor i is of step 10 i.
struct AnchorBench {
  AnchorBench() : layout({2, false}, std::vector<Field>{}), blocks(layout, identity()) {}
  static BlockIdentity identity() {
    BlockIdentity made;
    made.run_id_low = 5;
    made.sweep = 3;
    return made;
  }
  void keep(std::int64_t number) { blocks.keep({number, 10 * number}); }
  void note(std::int64_t block) { blocks.note(block, {20 * block, 20 * block + 10, 2}); }
  void write(std::int64_t block, const Failure& failure = {}, bool is_copy = false) {
    Transfer transfer;
    transfer.write = true;
    transfer.is_copy = is_copy;
    transfer.identity = blocks.identity_of(block);
    transfer.checksum = {static_cast<std::uint64_t>(block) + 1, is_copy ? 8u : 7u};
    transfer.encoded.pieces = {block};
    transfer.failure = failure;
    blocks.note_written(transfer);
  }
  BlockLayout layout;
  AnchorBlocks blocks;
};

const Failure kNoDisk = {ANADROME_ERR_IO, "no disk"};
using Words = std::vector<std::uint64_t>;

TEST(AnchorBlocks, KnowsTheNewestBlockAsFarAsItIsFilled) {
  AnchorBench s;
  for (std::int64_t number = 0; number < 3; ++number) s.keep(number);
  EXPECT_EQ(s.blocks.kept(), 3);
  EXPECT_EQ(s.blocks.newest_block(), 1);
  EXPECT_EQ(s.blocks.newest_states().first_step, 20);
  EXPECT_EQ(s.blocks.newest_states().last_step, 20);
  EXPECT_EQ(s.blocks.newest_states().count, 1);
  s.keep(3);
  EXPECT_EQ(s.blocks.newest_block(), 1);
  EXPECT_EQ(s.blocks.newest_states().first_step, 20);
  EXPECT_EQ(s.blocks.newest_states().last_step, 30);
  EXPECT_EQ(s.blocks.newest_states().count, 2);
}

TEST(AnchorBlocks, RestoresWhatIsWrittenOrTheFirstBlock) {
  AnchorBench s;
  s.keep(0);
  EXPECT_EQ(s.blocks.restorable(), 1);
  for (std::int64_t number = 1; number < 5; ++number) s.keep(number);
  EXPECT_EQ(s.blocks.restorable(), 2) << "the first block is in memory";
  s.blocks.all_are_written();
  EXPECT_EQ(s.blocks.restorable(), 5);
}

TEST(AnchorBlocks, TakesWritesBackFromAnAnchorOn) {
  AnchorBench s;
  for (std::int64_t number = 0; number < 6; ++number) s.keep(number);
  s.blocks.all_are_written();
  s.blocks.take_back(4);
  s.blocks.take_back(5);
  EXPECT_EQ(s.blocks.written(), 4);
  EXPECT_EQ(s.blocks.kept(), 6);
}

TEST(AnchorBlocks, SaysWhichBlockOfTheRunItIs) {
  AnchorBench s;
  s.note(2);
  const BlockIdentity identity = s.blocks.identity_of(2);
  EXPECT_EQ(identity.run_id_low, 5u);
  EXPECT_EQ(identity.sweep, 3);
  EXPECT_EQ(identity.block, 2);
  EXPECT_EQ(identity.first_step, 40);
  EXPECT_EQ(identity.states, 2);
}

TEST(AnchorBlocks, RemembersWhatAReadMustFind) {
  AnchorBench s;
  s.note(1);
  s.write(1);
  EXPECT_TRUE(s.blocks.is_on_disk(1));
  EXPECT_EQ(s.blocks.checksums(), (Words{0, 0, 2, 7}));
  EXPECT_EQ(s.blocks[1].encoded, (EncodedBlock{true, {1}}));
}

TEST(AnchorBlocks, HasNoBlockOnDiskWhoseWriteFailed) {
  AnchorBench s;
  s.note(1);
  s.write(1, kNoDisk);
  EXPECT_FALSE(s.blocks.is_on_disk(1));
  EXPECT_EQ(s.blocks.why_not_on_disk(1).message, "no disk");
  EXPECT_EQ(s.blocks.checksums(), (Words{0, 0, 0, 0}));
}

TEST(AnchorBlocks, ForgetsABlockThatIsWrittenAnew) {
  AnchorBench s;
  s.note(0);
  s.write(0, kNoDisk);
  s.write(0, {}, true);
  s.note(0);
  EXPECT_FALSE(s.blocks[0].failure);
  EXPECT_FALSE(s.blocks[0].copied);
  EXPECT_EQ(s.blocks.checksums(), (Words{0, 0}));
}

TEST(AnchorBlocks, ReadsTheFirstBlockFromItsCopyAndNoOther) {
  AnchorBench s;
  for (const std::int64_t block : {0, 1}) {
    s.note(block);
    s.write(block);
  }
  s.write(0, {}, true);
  EXPECT_FALSE(s.blocks.reads_copy(0));
  s.blocks.turn_to_copy();
  EXPECT_TRUE(s.blocks.reads_copy(0));
  EXPECT_FALSE(s.blocks.reads_copy(1));
  EXPECT_TRUE(s.blocks.is_on_disk(0) && s.blocks.is_on_disk(1));
}

TEST(AnchorBlocks, SaysThatTheCopyWasNotWrittenEither) {
  AnchorBench s;
  s.note(0);
  s.write(0);
  s.write(0, kNoDisk, true);
  EXPECT_TRUE(s.blocks.is_on_disk(0)) << "the copy's failure is not the block's";
  s.blocks.turn_to_copy();
  EXPECT_FALSE(s.blocks.is_on_disk(0));
  EXPECT_NE(s.blocks.why_not_on_disk(0).message.find("second copy"), std::string::npos);
}

TEST(AnchorBlocks, HasTheFirstBlockNowhereUntilOneOfTwoWritesGoesWell) {
  AnchorBench s;
  EXPECT_FALSE(s.blocks.first_is_nowhere()) << "none is to be written yet";
  s.note(0);
  EXPECT_FALSE(s.blocks.first_is_nowhere()) << "it is on its way";
  s.write(0, kNoDisk);
  EXPECT_TRUE(s.blocks.first_is_nowhere());
  s.write(0, kNoDisk, true);
  EXPECT_TRUE(s.blocks.first_is_nowhere());
  s.write(0, {}, true);
  EXPECT_FALSE(s.blocks.first_is_nowhere());
}

// ---- of another process ----

std::int64_t tenfold(std::int64_t number) { return 10 * number; }

TEST(AnchorBlocks, TakesOverWhatTheJournalHasOfEachAnchor) {
  AnchorBench s;
  s.blocks.take_over(5, tenfold,
                     {{0, {0, 0, 2, {1, 7}, {}}}, {2, {2, 40, 2, {3, 7}, {false, {5, 0}}}}});
  EXPECT_EQ(s.blocks.kept(), 5);
  EXPECT_EQ(s.blocks.written(), 5);
  EXPECT_EQ(s.blocks.checksums(), (Words{1, 7, 0, 0, 3, 7}));
  EXPECT_TRUE(s.blocks.is_on_disk(0) && s.blocks.is_on_disk(2));
  EXPECT_EQ(s.blocks.why_not_on_disk(1).status, ANADROME_ERR_CORRUPT) << "the journal lacks it";
  EXPECT_EQ(s.blocks.identity_of(2).states, 2) << "so many its checksum is of, and one counts";
  EXPECT_TRUE(s.blocks[0].copied) << "perhaps; its checksum will tell";
  EXPECT_FALSE(s.blocks[2].copied);
  EXPECT_EQ(s.blocks[2].encoded, (EncodedBlock{false, {5, 0}}));
}

TEST(AnchorBlocks, TakesNoBlockOverThatHasOtherStates) {
  AnchorBench s;
  s.blocks.take_over(4, tenfold, {{0, {0, 10, 2, {1, 7}, {}}}, {1, {1, 20, 1, {2, 7}, {}}}});
  EXPECT_FALSE(s.blocks.is_on_disk(0)) << "of another step";
  EXPECT_FALSE(s.blocks.is_on_disk(1)) << "with one state too few";
}

TEST(AnchorBlocks, CountsTheFirstAnchorsOnly) {
  AnchorBench s;
  s.blocks.take_over(6, tenfold, {});
  s.blocks.truncate(4);
  EXPECT_EQ(s.blocks.kept(), 4);
  EXPECT_EQ(s.blocks.written(), 4);
  EXPECT_EQ(s.blocks.checksums().size(), 4u);
}

}  // namespace
}  // namespace anadrome::store

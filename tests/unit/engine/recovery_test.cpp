// SPDX-License-Identifier: BSD-2-Clause
// The remains of a run of two ranks, each in a directory of its own, and what both make of them.
#include "engine/disk/recovery.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "store/directory/lock_record.h"
#include "store/directory/run_files.h"
#include "store/journal/journal.h"
#include "temporary_directory.h"
#include "thread_ranks.h"

namespace anadrome::engine {
namespace {

using store::JournalCommit;
using Records = std::vector<store::JournalRecord>;

struct LeftByTwo : testing::Test {
  std::string of(int rank) const { return directory / std::to_string(rank); }
  static store::JournalHeader header(int rank) {
    store::JournalHeader header;
    header.run_id_low = header.run_id_high = 7;
    header.sweep = 1;
    header.ranks = 2;
    header.rank = rank;
    header.steps = 40;
    header.shape = {1, true};
    header.fields = "u state byte 8\n";
    return header;
  }
  static JournalCommit commit(std::int64_t generation) {
    JournalCommit made;
    made.generation = generation;
    made.position = 10;
    made.anchors = 2;
    made.stretches = {{0, 0, 10}};
    made.steps = 40;
    return made;
  }
  static store::JournalSegment segment(std::int64_t number) {
    store::JournalSegment made;
    made.number = number;
    made.first_block = 8 * number;
    made.blocks = 8;
    made.file = "segment-0000" + std::to_string(number) + ".h5";
    made.offsets.fields = {4096};
    made.strides_before = {0};
    return made;
  }
  void leave(int rank, const Records& records) const {
    std::filesystem::create_directory(of(rank));
    store::Journal journal = store::Journal::create(
        {store::Directory::open(of(rank)), store::journal_file_name(rank)}, header(rank));
    for (const store::JournalRecord& record : records) journal.add(record);
    journal.commit();
  }
  // What each finds; empty: both begin anew.
  std::vector<Recovery> found() const {
    std::array<std::optional<Recovery>, 2> by_rank;
    ThreadRanks::run(2, [&](Ranks& ranks) {
      Agreement agreement(ranks);
      const int rank = ranks.rank();
      const char* why_not = "";
      by_rank[static_cast<std::size_t>(rank)] =
          find_recovery(agreement, of(rank), header(rank), 0, why_not);
    });
    EXPECT_EQ(by_rank[0].has_value(), by_rank[1].has_value());
    if (!by_rank[0] || !by_rank[1]) return {};
    return {*by_rank[0], *by_rank[1]};
  }

  const store::TemporaryDirectory directory;
};

TEST_F(LeftByTwo, GoesOnFromTheNewestCommitOfBothAndCountsOnFromTheNewestOfEither) {
  leave(0, {commit(1), commit(2)});
  leave(1, {commit(1)});
  ASSERT_EQ(found().size(), 2u);
  for (const Recovery& recovery : found()) {
    EXPECT_EQ(recovery.commit.generation, 1);
    EXPECT_EQ(recovery.newest_generation, 2) << "no rank gives another commit this number";
  }
}

TEST_F(LeftByTwo, GoesOnWithTheSegmentsThatBothHave) {
  leave(0, {segment(0), segment(1), commit(1)});
  leave(1, {segment(0), commit(1)});
  ASSERT_EQ(found().size(), 2u);
  for (const Recovery& recovery : found()) EXPECT_EQ(recovery.journal.segments.size(), 1u);
}

TEST_F(LeftByTwo, GoesOnAtTurn) {
  JournalCommit at_turn = commit(1);
  at_turn.phase = JournalCommit::Phase::kReverse;
  at_turn.position = at_turn.steps;
  for (const int rank : {0, 1}) leave(rank, {at_turn});
  EXPECT_EQ(found().size(), 2u);
}

TEST_F(LeftByTwo, BeginsAnewWhereBothHaveAnotherNumberOfAnchors) {
  JournalCommit fewer = commit(1);
  fewer.anchors = 1;
  leave(0, {commit(1)});
  leave(1, {fewer});
  EXPECT_TRUE(found().empty());
}

TEST_F(LeftByTwo, BeginsAnewWhereOneNotedTheEnd) {
  for (const int rank : {0, 1}) leave(rank, {commit(1)});
  ASSERT_EQ(found().size(), 2u);
  store::LockRecord ended = store::new_lock_record("7");
  ended.ended = true;
  store::write_lock(store::File::open(of(1) + "/" + store::kLockName, O_RDWR | O_CREAT), ended);
  EXPECT_TRUE(found().empty());
}

}  // namespace
}  // namespace anadrome::engine

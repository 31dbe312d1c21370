// SPDX-License-Identifier: BSD-2-Clause
// The directory and the segments of a run: how they are made, left, found again and refused.
#include "engine/disk/disk_space.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "desk.h"
#include "faulty_file_system.h"

namespace anadrome::engine {
namespace {

using store::JournalSegment;
using store::Leftovers;
using test::Fault;
using test::Operation;
using Names = std::set<std::string>;

// A run of blocks of two states of 100 doubles, in a directory that may be another run's, too.
struct Space : OneRank {
  explicit Space(const std::string& in, const std::string& set = "") : agreement(rank) {
    make(in, set);
  }
  Space(Ranks& ranks, const std::string& in, const std::string& set = "") : agreement(ranks) {
    make(in, set);
  }
  void make(const std::string& in, const std::string& set) {
    options.directory = in;
    options.set_environment(set);
    static int runs = 0;
    disk = std::make_unique<DiskSpace>(agreement, options, layout, fields,
                                       "5eed" + std::to_string(++runs));
  }
  // It is gone where that fails, as in a run.
  void open(Leftovers leftovers = Leftovers::kRemove) {
    try {
      disk->open(leftovers);
    } catch (const Error&) {
      disk.reset();
      throw;
    }
  }
  void grow(std::int64_t blocks) { disk->grow(blocks, Call::kAnchor); }
  static std::vector<store::Field> two_fields() {
    return {{"u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, 100, false, nullptr, {}},
            {"flags", ANADROME_ROLE_STATE, ANADROME_BYTE, 3, false, nullptr, {}}};
  }

  Agreement agreement;
  Options options;
  const std::vector<store::Field> fields = two_fields();
  const store::BlockLayout layout{{2, true}, fields};
  std::unique_ptr<DiskSpace> disk;
};

Names names_in(const std::string& directory) {
  Names names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.insert(entry.path().filename());
  return names;
}

struct RunOnDisk : testing::Test {
  Names files() const { return names_in(run); }
  std::int64_t bytes_of(const std::string& file) const {
    return static_cast<std::int64_t>(std::filesystem::file_size(run + "/" + file));
  }
  // The segments of a process that goes on later, or another one in its place.
  std::vector<JournalSegment> leave_a_run() {
    Space first(directory.path());
    first.open();
    first.grow(2);
    first.grow(3);
    first.disk->make_room_for_copy(Call::kAnchor);
    std::vector<JournalSegment> records = first.disk->records();
    first.disk->leave();
    return records;
  }
  // The failure of a process that is to go on with segments as `records` has them.
  Failure refusal(const std::vector<JournalSegment>& records) {
    Space second(directory.path());
    second.open(Leftovers::kTakeOver);
    const Failure failure = failure_from([&] { second.disk->reopen(records); });
    second.disk->leave();
    return failure;
  }

  store::TemporaryDirectory directory;
  const std::string run = directory / "anadrome";
};

TEST_F(RunOnDisk, GrowsBySegmentsThatFollowEachOtherAndHasACopyOfTheFirstBlock) {
  Space s(directory.path());
  s.open();
  s.grow(2);
  const store::Segment* const first = &s.disk->segment_of(0);
  const std::int64_t agreements = s.agreement.count();
  s.grow(3);
  EXPECT_EQ(s.agreement.count(), agreements + 1);
  EXPECT_EQ(&s.disk->segment_of(1), first) << "transfers may be using it";
  EXPECT_EQ(&s.disk->segment_of(2), &s.disk->segment_of(4));
  EXPECT_EQ(s.disk->segment_of(4).range().first_block, 2);
  EXPECT_EQ(s.disk->file_bytes_all_ranks(),
            bytes_of("segment-00000.h5") + bytes_of("segment-00001.h5"));
  EXPECT_EQ(s.disk->copy_of_first_block(), nullptr);
  s.disk->make_room_for_copy(Call::kBegin);
  ASSERT_NE(s.disk->copy_of_first_block(), nullptr);
  EXPECT_EQ(s.disk->copy_of_first_block()->path(), run + "/segment-copy.h5");
  EXPECT_EQ(s.disk->copy_of_first_block()->end_block(), 1);
  EXPECT_EQ(s.disk->capacity(), 5) << "it is no room for another one";
  EXPECT_EQ(files(), (Names{"lock", "segment-00000.h5", "segment-00001.h5", "segment-copy.h5"}));
}

// ---- where the disk refuses ----

struct Refusal {
  Operation operation;
  std::int64_t at;
  Fault fault;
  anadrome_status status;
};

TEST_F(RunOnDisk, LeavesNothingOfASegmentThatIsRefused) {
  const Refusal refusals[] = {
      {Operation::kAllocate, 1, Fault::kNoSpace, ANADROME_ERR_NO_SPACE},
      {Operation::kOpen, 1, Fault::kNoSpace, ANADROME_ERR_NO_SPACE},
      {Operation::kWrite, 1, Fault::kIoError, ANADROME_ERR_IO},
      {Operation::kOpen, 2, Fault::kIoError, ANADROME_ERR_IO}};  // when it is made
  test::FaultyFileSystem system;
  Space s(directory.path());
  s.open();
  s.grow(2);
  const std::int64_t bytes = s.disk->file_bytes_all_ranks();
  for (const bool copy : {false, true}) {
    for (const auto& [operation, at, fault, status] : refusals) {
      SCOPED_TRACE(std::string(copy ? "copy " : "") + test::to_string(operation));
      system.arm(operation, at, fault, true);
      const Failure failure = failure_from([&] {
        if (copy) return s.disk->make_room_for_copy(Call::kAnchor);
        s.grow(3);
      });
      EXPECT_TRUE(system.hit());
      system.disarm();
      EXPECT_EQ(failure.status, status);
      EXPECT_EQ(s.disk->capacity(), 2);
      EXPECT_EQ(s.disk->copy_of_first_block(), nullptr);
      EXPECT_EQ(s.disk->records().size(), 1u);
      EXPECT_EQ(s.disk->file_bytes_all_ranks(), bytes);
      EXPECT_EQ(files(), (Names{"lock", "segment-00000.h5"}));
    }
  }
  s.grow(3);
  EXPECT_EQ(s.disk->capacity(), 5) << "another try may go well";
}

// The rank that has the directory and opens its files, and one that cannot.
TEST_F(RunOnDisk, LeavesNothingOfASegmentThatAnotherRankRefuses) {
  ThreadRanks::run(2, [&](Ranks& ranks) {
    constexpr int kToOpen = 4;
    if (ranks.rank() == 1) {
      Agreement agreement(ranks);
      for (int i = 0; i < kToOpen; ++i) agreement.agree({.call = Call::kBegin, .failure = {}});
      EXPECT_THROW(agreement.agree({.call = Call::kAnchor, .failure = {ANADROME_ERR_IO, "no"}}),
                   Error);
      return;
    }
    Space s(ranks, directory.path());
    s.open();
    EXPECT_EQ(failure_from([&] { s.grow(2); }).message, "rank 1: no");
    EXPECT_TRUE(s.disk->records().empty());
    EXPECT_EQ(files(), Names{"lock"});
  });
}

TEST_F(RunOnDisk, ThrowsWhatKeepsItFromHavingADirectory) {
  std::filesystem::create_directory(run);
  store::File::open(run + "/thesis.tex", O_WRONLY | O_CREAT);
  Space s(directory.path());
  EXPECT_EQ(failure_from([&] { s.open(); }).status, ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(files(), Names{"thesis.tex"});
}

// ---- of another process ----

TEST_F(RunOnDisk, IsFoundAgainAsItWasLeft) {
  const std::vector<JournalSegment> records = leave_a_run();
  EXPECT_EQ(files(), (Names{"segment-00000.h5", "segment-00001.h5", "segment-copy.h5"}));
  Space second(directory.path());
  second.open(Leftovers::kTakeOver);
  second.disk->reopen(records);
  EXPECT_EQ(second.disk->records(), records);
  EXPECT_EQ(second.disk->capacity(), 5);
  EXPECT_EQ(second.disk->segment_of(3).path(), run + "/segment-00001.h5");
  EXPECT_EQ(second.disk->segment_of(3).byte_of(2, 0), records[1].offsets.fields[0]);
  ASSERT_NE(second.disk->copy_of_first_block(), nullptr);
  second.grow(1);
  EXPECT_EQ(second.disk->segment_of(5).path(), run + "/segment-00002.h5");
}

TEST_F(RunOnDisk, IsNotTheOneThatAJournalWithOtherSegmentsIsOf) {
  const std::vector<JournalSegment> records = leave_a_run();
  std::vector<JournalSegment> fields = records, gap = records;
  fields[0].offsets.fields.pop_back();
  gap.erase(gap.begin());
  EXPECT_FALSE(refusal(records));
  EXPECT_EQ(refusal(fields).message, "the journal's segments have other fields");
  EXPECT_EQ(refusal(gap).message, "the journal's segments do not follow each other");
  std::filesystem::remove(run + "/segment-00001.h5");
  const Failure missing = refusal(records);
  EXPECT_EQ(missing.status, ANADROME_ERR_IO) << "a server of the file system may be away";
  EXPECT_EQ(missing.message, run + "/segment-00001.h5 is missing, which a commit names");
}

TEST_F(RunOnDisk, StaysAsItIsWhereItsSuccessorCannotBegin) {
  const std::vector<JournalSegment> records = leave_a_run();
  const Names left = files();
  test::FaultyFileSystem system;
  int refused = 0;
  for (std::int64_t at = 1; at <= 20; ++at) {
    Space second(directory.path(), "watchdog=3600");
    system.arm(Operation::kOpen, at, Fault::kIoError);
    refused += failure_from([&] { second.open(Leftovers::kTakeOver); }) ? 1 : 0;
    if (second.disk) {  // what was refused did not matter, or is a segment's
      failure_from([&] { second.disk->reopen(records); });
      system.disarm();
      second.disk->leave();
    }
    system.disarm();
    EXPECT_EQ(files(), left) << at;
  }
  EXPECT_GT(refused, 2);
}

// ---- for readers ----

// Two segments, the file that names them, and the directory: each may be refused when it is synced.
TEST(KeptRun, IsLeftToReadersEvenIfItIsNotAllThereOrNotAllOnDisk) {
  const Refusal refusals[] = {
      {Operation::kWrite, 1, Fault::kIoError, ANADROME_ERR_IO},
      {Operation::kSync, 1, Fault::kIoError, ANADROME_ERR_IO},
      {Operation::kSync, 2, Fault::kIoError, ANADROME_ERR_IO},
      {Operation::kSync, 4, Fault::kIoError, ANADROME_ERR_IO},  // as number 3
      {Operation::kSync, 5, Fault::kIoError, ANADROME_ERR_IO},
      {Operation::kSync, 1, Fault::kInterrupted, ANADROME_OK},
      {Operation::kAllocate, 1, Fault::kNoSpace, ANADROME_ERR_NO_SPACE}};
  for (const auto& [operation, at, fault, status] : refusals) {
    SCOPED_TRACE(std::string(test::to_string(operation)) + " " + std::to_string(at));
    const store::TemporaryDirectory own;
    Space s(own.path(), "keep=on");
    s.open();
    s.grow(2);
    s.grow(2);
    s.disk->make_room_for_copy(Call::kAnchor);
    test::FaultyFileSystem system;
    system.arm(operation, at, fault);
    // Five anchors of steps 0, 3, ..., 12 in two segments of two blocks.
    const auto anchors = schedule::AnchorList::of(5, {{0, 0, 3}});
    const std::vector<std::uint64_t> checksums(6);
    EXPECT_EQ(s.disk->keep(anchors, 5, checksums, 4, 13, "async").status, status);
    EXPECT_TRUE(system.hit());
    if (operation == Operation::kSync && status != ANADROME_OK) continue;
    Names left = {"segment-00000.h5", "segment-00001.h5"};
    if (operation != Operation::kAllocate) left.insert("states.h5");
    EXPECT_EQ(names_in(own / "anadrome"), left);
  }
}

}  // namespace
}  // namespace anadrome::engine

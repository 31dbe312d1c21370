// SPDX-License-Identifier: BSD-2-Clause
// The directory and the segments of a run: how they are made, left, found again and refused.
#include "engine/disk/disk_space.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>
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

struct RunOnDisk : testing::Test {
  Names files() const {
    Names names;
    for (const auto& entry : std::filesystem::directory_iterator(run)) {
      names.insert(entry.path().filename());
    }
    return names;
  }
  std::int64_t bytes_of(const std::string& file) const {
    return static_cast<std::int64_t>(std::filesystem::file_size(run + "/" + file));
  }
  template <class Number>
  std::vector<Number> numbers_at(const std::string& file, std::int64_t offset,
                                 std::size_t count) const {
    std::vector<Number> numbers(count);
    store::File::open(run + "/" + file, O_RDONLY)
        .read_all(numbers.data(), count * sizeof(Number), offset);
    return numbers;
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

TEST_F(RunOnDisk, GrowsBySegmentsThatFollowEachOther) {
  Space s(directory.path());
  s.open();
  s.grow(2);
  const store::Segment* const first = &s.disk->segment_of(0);
  const std::int64_t agreements = s.agreement.count();
  s.grow(3);
  EXPECT_EQ(s.agreement.count(), agreements + 1);
  EXPECT_EQ(s.disk->capacity(), 5);
  EXPECT_EQ(&s.disk->segment_of(1), first) << "transfers may be using it";
  for (const std::int64_t block : {2, 4}) {
    const store::Segment::Range& range = s.disk->segment_of(block).range();
    EXPECT_EQ(range.number, 1);
    EXPECT_EQ(range.first_block, 2);
    EXPECT_EQ(range.blocks, 3);
  }
  EXPECT_EQ(files(), (Names{"lock", "segment-00000.h5", "segment-00001.h5"}));
  EXPECT_EQ(s.disk->file_bytes_all_ranks(),
            bytes_of("segment-00000.h5") + bytes_of("segment-00001.h5"));
}

TEST_F(RunOnDisk, HasTheCopyOfTheFirstBlockInAFileOfItsOwn) {
  Space s(directory.path());
  s.open();
  s.grow(2);
  EXPECT_EQ(s.disk->copy_of_first_block(), nullptr);
  s.disk->make_room_for_copy(Call::kBegin);
  ASSERT_NE(s.disk->copy_of_first_block(), nullptr);
  EXPECT_EQ(s.disk->copy_of_first_block()->path(), run + "/segment-copy.h5");
  EXPECT_EQ(s.disk->copy_of_first_block()->end_block(), 1);
  EXPECT_EQ(s.disk->capacity(), 2) << "it is no room for another one";
}

TEST_F(RunOnDisk, SaysOfEachFileWhatItTakesToOpenItAgain) {
  const std::vector<JournalSegment> records = leave_a_run();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1].number, 1);
  EXPECT_EQ(records[1].first_block, 2);
  EXPECT_EQ(records[1].blocks, 3);
  EXPECT_EQ(records[1].file, "segment-00001.h5");
  EXPECT_EQ(records[1].offsets.file_bytes, bytes_of("segment-00001.h5"));
  EXPECT_EQ(records[1].strides_before, (std::vector<std::int64_t>{0, 0})) << "no rank is lower";
  EXPECT_EQ(records[2].file, "segment-copy.h5");
  EXPECT_EQ(records[2].number, 0);
}

TEST_F(RunOnDisk, NamesFilesThatAreNotSharedAfterNodeOrRank) {
  for (const std::string layout : {"node", "rank"}) {
    Space s(directory.path(), "layout=" + layout);
    s.open();
    s.grow(1);
    s.disk->make_room_for_copy(Call::kAnchor);
    EXPECT_EQ(files(), (Names{"lock", "segment-00000-" + layout + "-000000.h5",
                              "segment-copy-" + layout + "-000000.h5"}));
  }
}

TEST_F(RunOnDisk, OpensNoFileWithDirectIoThatHdf5OpensItself) {
  Space s(directory.path(), "transport=mpio");
  s.open();
  s.grow(1);
  EXPECT_FALSE(s.disk->direct());
}

// ---- where the disk refuses ----

TEST_F(RunOnDisk, LeavesNothingOfASegmentThatIsRefused) {
  const struct {
    Operation operation;
    std::int64_t at;
    Fault fault;
    anadrome_status status;
  } refusals[] = {{Operation::kAllocate, 1, Fault::kNoSpace, ANADROME_ERR_NO_SPACE},
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
      system.arm(operation, at, fault, true);
      const Failure failure = failure_from([&] {
        if (copy) return s.disk->make_room_for_copy(Call::kAnchor);
        s.grow(3);
      });
      const bool hit = system.hit();
      system.disarm();
      EXPECT_TRUE(hit);
      EXPECT_EQ(failure.status, status) << test::to_string(operation);
      EXPECT_EQ(s.disk->capacity(), 2);
      EXPECT_EQ(s.disk->copy_of_first_block(), nullptr);
      EXPECT_EQ(s.disk->records().size(), 1u);
      EXPECT_EQ(s.disk->file_bytes_all_ranks(), bytes);
      EXPECT_EQ(files(), (Names{"lock", "segment-00000.h5"})) << test::to_string(operation);
    }
  }
  s.grow(3);
  EXPECT_EQ(s.disk->capacity(), 5) << "another try may go well";
}

// The rank that has the directory and opens its files, and one that cannot.
TEST_F(RunOnDisk, LeavesNothingOfASegmentThatAnotherRankRefuses) {
  ThreadRanks::run(2, [&](Ranks& ranks) {
    constexpr int kToOpen = 4, kSegments = 2;
    if (ranks.rank() == 1) {
      Agreement agreement(ranks);
      for (int i = 0; i < kToOpen; ++i) agreement.agree({.call = Call::kBegin, .failure = {}});
      for (int i = 0; i < kSegments; ++i) {
        EXPECT_THROW(agreement.agree({.call = Call::kAnchor, .failure = {ANADROME_ERR_IO, "no"}}),
                     Error);
      }
      return;
    }
    Space s(ranks, directory.path());
    s.open();
    EXPECT_EQ(failure_from([&] { s.grow(2); }).message, "rank 1: no");
    EXPECT_THROW(s.disk->make_room_for_copy(Call::kAnchor), Error);
    EXPECT_EQ(s.disk->capacity(), 0);
    EXPECT_EQ(s.disk->copy_of_first_block(), nullptr);
    EXPECT_TRUE(s.disk->records().empty());
    EXPECT_EQ(files(), Names{"lock"});
  });
}

TEST_F(RunOnDisk, ThrowsWhatKeepsItFromHavingADirectory) {
  std::filesystem::create_directory(run);
  store::File::open(run + "/thesis.tex", O_WRONLY | O_CREAT);
  Space s(directory.path());
  const Failure failure = failure_from([&] { s.open(); });
  EXPECT_EQ(failure.status, ANADROME_ERR_ARGUMENT);
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

TEST_F(RunOnDisk, MayBeWholeWhereItCannotBeOpened) {
  const std::vector<JournalSegment> records = leave_a_run();
  test::FaultyFileSystem system;
  Space second(directory.path());
  second.open(Leftovers::kTakeOver);
  system.arm(Operation::kOpen, 1, Fault::kIoError, true);
  EXPECT_EQ(failure_from([&] { second.disk->reopen(records); }).status, ANADROME_ERR_IO);
}

TEST_F(RunOnDisk, StaysAsItIsWhereItsSuccessorCannotBegin) {
  leave_a_run();
  const Names left = files();
  test::FaultyFileSystem system;
  int refused = 0;
  for (std::int64_t at = 1; at <= 20; ++at) {
    Space second(directory.path(), "watchdog=3600");
    system.arm(Operation::kOpen, at, Fault::kIoError);
    const Failure failure = failure_from([&] { second.open(Leftovers::kTakeOver); });
    system.disarm();
    refused += failure ? 1 : 0;
    if (!failure) second.disk->leave();  // whose file it was did not matter
    EXPECT_EQ(files(), left) << at;
  }
  EXPECT_GT(refused, 2);
}

// ---- for readers ----

// Five anchors of steps 0, 3, ..., 12 in two segments of two blocks.
struct KeptRun : RunOnDisk {
  KeptRun() : space(directory.path(), "keep=on") {
    space.open();
    space.grow(2);
    space.grow(2);
    space.disk->make_room_for_copy(Call::kAnchor);
    records = space.disk->records();
    std::iota(checksums.begin(), checksums.end(), std::uint64_t{70});
  }
  Failure keep() {
    const auto anchors = schedule::AnchorList::of(5, {{0, 0, 3}});
    return space.disk->keep(anchors, 5, checksums, 4, 13, "async");
  }
  Space space;
  std::vector<JournalSegment> records;
  std::vector<std::uint64_t> checksums = std::vector<std::uint64_t>(6);
};

TEST_F(KeptRun, SaysOfWhichStepsItsStatesAreAndTheirSums) {
  EXPECT_FALSE(keep());
  const store::SegmentOffsets &first = records[0].offsets, &second = records[1].offsets;
  using Steps = std::vector<std::int64_t>;
  using Sums = std::vector<std::uint64_t>;
  const auto steps = [&](std::size_t segment, std::int64_t offset, std::size_t count) {
    return numbers_at<std::int64_t>(records[segment].file, offset, count);
  };
  EXPECT_EQ(steps(0, first.slots_used, 1), Steps{4});
  EXPECT_EQ(steps(0, first.slot_step, 4), (Steps{0, 3, 6, 9}));
  EXPECT_EQ(steps(0, first.sweep, 1), Steps{4});
  EXPECT_EQ(steps(1, second.slots_used, 1), Steps{1});
  EXPECT_EQ(steps(1, second.slot_step, 2), (Steps{12, 0}));
  EXPECT_EQ(steps(1, second.sweep, 1), Steps{4});
  EXPECT_EQ(numbers_at<std::uint64_t>(records[0].file, first.checksum, 4), (Sums{70, 71, 72, 73}));
  EXPECT_EQ(numbers_at<std::uint64_t>(records[1].file, second.checksum, 4), (Sums{74, 75, 0, 0}));
}

TEST_F(KeptRun, IsLeftToReadersEvenIfItIsNotAllThere) {
  test::FaultyFileSystem system;
  system.arm(Operation::kWrite, 1, Fault::kIoError);
  EXPECT_EQ(keep().status, ANADROME_ERR_IO);
  system.disarm();
  EXPECT_EQ(files(), (Names{"segment-00000.h5", "segment-00001.h5", "states.h5"}));
}

// Two segments, the file that names them, and the directory: each may be refused when it is synced.
TEST_F(KeptRun, IsOnDiskWhenItIsSaidToBe) {
  struct Another final : KeptRun {
    void TestBody() override {}
  };
  test::FaultyFileSystem system;
  for (const std::int64_t at : {1, 2, 4, 5}) {  // what number 3 is of, number 4 is of again
    Another kept;
    system.arm(Operation::kSync, at, Fault::kIoError);
    EXPECT_EQ(kept.keep().status, ANADROME_ERR_IO) << at;
  }
  system.arm(Operation::kSync, 1, Fault::kInterrupted);
  EXPECT_FALSE(keep());
  EXPECT_TRUE(system.hit());
}

TEST_F(KeptRun, SaysThatTheMasterCouldNotBeWritten) {
  test::FaultyFileSystem system;
  system.arm(Operation::kAllocate, 1, Fault::kNoSpace);
  EXPECT_EQ(keep().status, ANADROME_ERR_NO_SPACE);
  system.disarm();
  EXPECT_EQ(files(), (Names{"segment-00000.h5", "segment-00001.h5"}));
}

}  // namespace
}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// The files of objects, and the order in which they are needed.
#include "objects/object_files.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <iterator>
#include <set>

#include "base/error.h"
#include "faulty_file_system.h"
#include "object_bench.h"
#include "objects/expected_gets.h"
#include "thread_ranks.h"

namespace anadrome::store {
namespace {

struct FilesBench {
  explicit FilesBench(std::int64_t most_blocks = 1000)
      : layout(object_layout(std::int64_t{1} << 20)),
        files(layout, {Directory::open(directory.path()), "0123456789abcdef", 3, most_blocks,
                       TransportName::kAuto}) {}
  std::int64_t count() const {
    return std::distance(std::filesystem::directory_iterator(directory.path()), {});
  }

  TemporaryDirectory directory;
  BlockLayout layout;
  ObjectFiles files;
};

TEST(ObjectFiles, GiveEachBlockAPlaceOfItsOwn) {
  FilesBench bench;
  EXPECT_TRUE(bench.directory.empty());
  EXPECT_FALSE(bench.files.in_use());
  std::set<std::pair<std::string, std::int64_t>> places;
  for (int block = 0; block < 200; ++block) {
    const std::int64_t place = bench.files.take();
    const Segment& segment = bench.files.segment_of(place);
    const std::int64_t byte = segment.byte_of(place, 0);
    EXPECT_EQ(byte % kPage, 0);
    EXPECT_LE(byte + bench.layout.block_bytes(),
              static_cast<std::int64_t>(std::filesystem::file_size(segment.path())));
    EXPECT_TRUE(places.insert({segment.path(), byte}).second);
  }
  EXPECT_LE(bench.count(), 9) << "few files";
  EXPECT_TRUE(bench.files.segment_of(0).path().ends_with("/segment-00000-rank-000003.h5"));
  bench.files.remove();
  EXPECT_TRUE(bench.directory.empty());
}

TEST(ObjectFiles, UseAPlaceAgainAndOneThatFailedLast) {
  FilesBench bench(16);
  for (int block = 0; block < 16; ++block) bench.files.take();
  EXPECT_EQ(failure_from([&] { bench.files.take(); }).status, ANADROME_ERR_NO_SPACE);
  bench.files.give_back(5);
  bench.files.give_back_last(7);
  bench.files.give_back(6);
  EXPECT_EQ(bench.files.take(), 6);
  EXPECT_EQ(bench.files.take(), 5);
  EXPECT_EQ(bench.files.take(), 7);
}

TEST(ObjectFiles, TakeOfAFullDiskWhatThereIs) {
  test::FaultyFileSystem disk;
  FilesBench bench;
  disk.arm(test::Operation::kAllocate, 1, test::Fault::kNoSpace);
  EXPECT_EQ(bench.files.take(), 0);
  EXPECT_EQ(bench.count(), 1) << "a smaller one";
  disk.arm(test::Operation::kAllocate, 1, test::Fault::kNoSpace, true);
  const auto all = [&] {
    for (;;) bench.files.take();
  };
  EXPECT_EQ(failure_from(all).status, ANADROME_ERR_NO_SPACE);
  EXPECT_EQ(bench.count(), 1) << "nothing is left of what failed";
  disk.disarm();
  EXPECT_EQ(bench.files.take(), 8);
}

// ---- two ranks, which must not meet once their stores are open ----

// One has a few objects, and no memory for its fifth transfer; the other has many.
TEST(ObjectBlocks, OfTwoRanksHaveFilesOfTheirOwnInOneDirectory) {
  const TemporaryDirectory directory;
  engine::ThreadRanks::run(2, [&](engine::Ranks& ranks) {
    const int rank = ranks.rank();
    ObjectBench bench(std::int64_t{512} << 10, 1000, true, rank == 0 ? 5 : 0, rank,
                      directory.path());
    const auto wait_for_both = [&] {
      std::int64_t nothing = 0;
      ranks.largest(std::span(&nothing, 1));
    };
    wait_for_both();
    for (Objects::Key key = 0; key < (rank == 0 ? 40 : 200); ++key) bench.put(key, 16 << 10);
    EXPECT_TRUE(rank == 1 || bench.transport->was_hit());
    wait_for_both();
    EXPECT_TRUE(bench.all_are_right());
    if (rank == 0) bench.files.remove();
    wait_for_both();
    EXPECT_TRUE(rank == 0 || bench.all_are_right()) << "though the other's files are gone";
  });
}

// ---- the order that is expected ----

TEST(ExpectedGets, RankKeysInTheOrderOfTheListAndGoOnBehindWhatIsOver) {
  constexpr std::array<ExpectedGets::Key, 5> keys = {7, 3, 7, -1, 3};
  ExpectedGets list(keys);
  const auto seven = list.next(7), three = list.next(3), minus_one = list.next(-1);
  ASSERT_TRUE(seven && three && minus_one);
  EXPECT_TRUE(*seven < *three && *three < *minus_one);
  EXPECT_TRUE(ExpectedGets::has(*minus_one));
  EXPECT_FALSE(ExpectedGets::has(0) || ExpectedGets::has(-1000000000));
  EXPECT_FALSE(list.next(8));
  list.pass(*three);
  EXPECT_LT(*list.next(7), *minus_one) << "the second one";
  EXPECT_GT(*list.next(3), *minus_one) << "the last one";
  list.pass(*minus_one);
  EXPECT_FALSE(list.next(7)) << "passed over, and for good";
  EXPECT_FALSE(list.next(-1));
  EXPECT_TRUE(list.next(3));
}

}  // namespace
}  // namespace anadrome::store

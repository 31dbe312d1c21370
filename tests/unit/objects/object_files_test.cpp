// SPDX-License-Identifier: BSD-2-Clause
#include "objects/object_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/error.h"
#include "faulty_file_system.h"
#include "objects/object_blocks.h"
#include "temporary_directory.h"

namespace anadrome::store {
namespace {

struct FilesBench {
  explicit FilesBench(std::int64_t most_blocks = 1000)
      : layout(object_layout(std::int64_t{1} << 20)),
        files(layout, {Directory::open(directory.path()), "0123456789abcdef", 3, most_blocks,
                       TransportName::kAuto}) {}
  std::int64_t count() const {
    std::int64_t files_there = 0;
    for ([[maybe_unused]] const auto& entry :
         std::filesystem::directory_iterator(directory.path())) {
      ++files_there;
    }
    return files_there;
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

}  // namespace
}  // namespace anadrome::store

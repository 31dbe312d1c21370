// SPDX-License-Identifier: BSD-2-Clause
#include "store/files/skeleton.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "has_part.h"
#include "segment_file.h"
#include "store/files/hdf5_write.h"

namespace anadrome::store {
namespace {

// Three ranks, of which one has nothing of "u"; "flags" is on the last one only.
SegmentDescription three_ranks(std::int64_t blocks = 4) {
  SegmentDescription segment;
  segment.run_id = "0123456789abcdef";
  segment.layout = "shared";
  segment.number = 2;
  segment.first_block = 32;
  segment.blocks = blocks;
  segment.states_per_block = 1;
  segment.ranks = {0, 1, 2};
  segment.fields.push_back({"u", ANADROME_FLOAT64, {100, 0, 700}, {512, 0, 1024}});
  segment.fields.push_back({"flags", ANADROME_BYTE, {0, 0, 5}, {0, 0, 4096}});
  segment.fields.push_back({"none", ANADROME_INT32, {0, 0, 0}, {0, 0, 0}});
  return segment;
}

Hdf5File open_for_reading(const std::string& path) {
  return Hdf5File(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
}

bool has(const Hdf5File& file, const char* path) {
  return H5Lexists(file.get(), path, H5P_DEFAULT) > 0;
}

std::vector<hsize_t> shape_of(const Hdf5File& file, const char* path) {
  const Hdf5Dataset dataset(H5Dopen2(file.get(), path, H5P_DEFAULT));
  const Hdf5Space space(H5Dget_space(dataset.get()));
  std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
  H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
  return shape;
}

std::int64_t offset_of(const Hdf5File& file, const char* path) {
  const Hdf5Dataset dataset(H5Dopen2(file.get(), path, H5P_DEFAULT));
  return static_cast<std::int64_t>(H5Dget_offset(dataset.get()));
}

std::vector<std::int64_t> integers_in(const Hdf5File& file, const char* path) {
  const Hdf5Dataset dataset(H5Dopen2(file.get(), path, H5P_DEFAULT));
  const Hdf5Space space(H5Dget_space(dataset.get()));
  std::vector<std::int64_t> values(
      static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get())));
  H5Dread(dataset.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  return values;
}

class SkeletonTest : public testing::Test {
 protected:
  const TemporaryDirectory directory;
  const std::string path = directory / "segment.h5";
};

TEST_F(SkeletonTest, HasTheDatasetsOfTheFormat) {
  create_segment(path, three_ranks());
  const Hdf5File file = open_for_reading(path);
  ASSERT_TRUE(file);
  using Shape = std::vector<hsize_t>;
  EXPECT_EQ(shape_of(file, "/slots/u"), Shape({4 * 1536}));
  EXPECT_EQ(shape_of(file, "/states/u"), Shape({4, 800}));
  EXPECT_EQ(shape_of(file, "/slots/flags"), Shape({4 * 4096}));
  EXPECT_EQ(shape_of(file, "/states/flags"), Shape({4, 5}));
  EXPECT_FALSE(has(file, "/slots/none"));
  EXPECT_FALSE(has(file, "/states/none"));
  EXPECT_EQ(shape_of(file, "/slots_used"), Shape({1}));
  EXPECT_EQ(shape_of(file, "/slot_step"), Shape({4}));
  EXPECT_EQ(shape_of(file, "/checksum"), Shape({3, 4, 2}));
  EXPECT_EQ(integers_in(file, "/ranks"), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(integers_in(file, "/decomposition/u"),
            (std::vector<std::int64_t>{100, 512, 0, 0, 0, 0, 2048, 100, 700, 1024, 2048, 100}));
}

TEST_F(SkeletonTest, PutsEveryFieldOnAPage) {
  const SegmentOffsets offsets = create_segment(path, three_ranks());
  const Hdf5File file = open_for_reading(path);
  EXPECT_EQ(offsets.fields[0], offset_of(file, "/slots/u"));
  EXPECT_EQ(offsets.fields[1], offset_of(file, "/slots/flags"));
  EXPECT_EQ(offsets.fields[2], 0);
  EXPECT_EQ(offsets.fields[0] % kPage, 0);
  EXPECT_EQ(offsets.fields[1] % kPage, 0);
  EXPECT_EQ(offsets.slots_used, offset_of(file, "/slots_used"));
  EXPECT_EQ(offsets.slot_step, offset_of(file, "/slot_step"));
  EXPECT_EQ(offsets.checksum, offset_of(file, "/checksum"));
}

TEST_F(SkeletonTest, HasItsWholeLengthReservedAndIsPrivate) {
  ::umask(0);
  const SegmentOffsets offsets = create_segment(path, three_ranks(500));
  struct stat status {};
  ASSERT_EQ(::lstat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, offsets.file_bytes);
  EXPECT_GE(status.st_blocks * 512, offsets.file_bytes / kPage * kPage);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(SkeletonTest, ShowsBytesWrittenAtOffsetsInItsViews) {
  const SegmentOffsets offsets = create_segment(path, three_ranks());
  {
    const File raw = File::open(path, O_RDWR);
    for (int slot = 0; slot < 4; ++slot) {
      const std::vector<double> first(100, slot + 0.25), last(700, slot + 0.5);
      raw.write_all(first.data(), 800, offsets.fields[0] + slot * 4096);
      raw.write_all(last.data(), 5600, offsets.fields[0] + (2048 + slot * 1024) * 8);
    }
  }
  const Hdf5File file = open_for_reading(path);
  const Hdf5Dataset view(H5Dopen2(file.get(), "/states/u", H5P_DEFAULT));
  std::vector<double> states(4 * 800);
  ASSERT_GE(H5Dread(view.get(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, states.data()),
            0);
  for (std::size_t i = 0; i < states.size(); ++i) {
    EXPECT_EQ(states[i], static_cast<double>(i / 800) + (i % 800 < 100 ? 0.25 : 0.5));
  }
}

TEST_F(SkeletonTest, IsNotMadeOverAnExistingFile) {
  std::ofstream(path) << "mine";
  EXPECT_THROW(create_segment(path, three_ranks()), Error);
  EXPECT_EQ(std::filesystem::file_size(path), 4u);
}

TEST_F(SkeletonTest, IsNotMadeThroughASymbolicLink) {
  const std::string target = directory / "target";
  std::filesystem::create_symlink(target, path);
  EXPECT_THROW(create_segment(path, three_ranks()), Error);
  EXPECT_FALSE(std::filesystem::exists(target));
}

TEST_F(SkeletonTest, IsNotLeftWhenThereIsNoRoom) {
  SegmentDescription large = three_ranks(1);
  large.fields[0].counts = large.fields[0].strides = {0, 0, std::int64_t{1} << 46};  // doubles
  const Failure failure = failure_from([&] { create_segment(path, large); });
  EXPECT_EQ(failure.status, ANADROME_ERR_NO_SPACE) << failure.message;
  EXPECT_TRUE(test::has_part(failure.message, path));
  EXPECT_TRUE(directory.empty());
}

// A process that is killed leaves none behind.
TEST_F(SkeletonTest, IsMadeWhereThereIsNoNameForIt) {
  const ScratchFile scratch(path);
  struct stat status {};
  ASSERT_EQ(::stat(scratch.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_nlink == 0, !platform::kPortable);
}

}  // namespace
}  // namespace anadrome::store

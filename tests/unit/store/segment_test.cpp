// SPDX-License-Identifier: BSD-2-Clause
// The files with states, made by HDF5, and the places of blocks in them.
#include "store/files/skeleton.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
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

// A dataset's shape, and where in the file it begins.
struct Place {
  Place(const Hdf5File& file, const char* path) {
    const Hdf5Dataset dataset(H5Dopen2(file.get(), path, H5P_DEFAULT));
    const Hdf5Space space(H5Dget_space(dataset.get()));
    shape.resize(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
    H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
    offset = static_cast<std::int64_t>(H5Dget_offset(dataset.get()));
  }
  std::vector<hsize_t> shape;
  std::int64_t offset = 0;
};

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

TEST_F(SkeletonTest, HasTheDatasetsOfTheFormatAndEveryFieldOnAPage) {
  const SegmentOffsets offsets = create_segment(path, three_ranks());
  const Hdf5File file = open_for_reading(path);
  ASSERT_TRUE(file);
  using Shape = std::vector<hsize_t>;
  struct Dataset {
    const char* path;
    Shape shape;
    std::int64_t offset = -1;  // where the library needs it
  };
  for (const Dataset& wanted :
       {Dataset{"/slots/u", {4 * 1536}, offsets.fields[0]}, Dataset{"/states/u", {4, 800}},
        Dataset{"/slots/flags", {4 * 4096}, offsets.fields[1]}, Dataset{"/states/flags", {4, 5}},
        Dataset{"/slots_used", {1}, offsets.slots_used},
        Dataset{"/slot_step", {4}, offsets.slot_step},
        Dataset{"/checksum", {3, 4, 2}, offsets.checksum}}) {
    const Place found(file, wanted.path);
    EXPECT_EQ(found.shape, wanted.shape) << wanted.path;
    EXPECT_TRUE(wanted.offset < 0 || found.offset == wanted.offset) << wanted.path;
  }
  EXPECT_EQ(offsets.fields[0] % kPage, 0);
  EXPECT_EQ(offsets.fields[1] % kPage, 0);
  EXPECT_EQ(offsets.fields[2], 0);
  EXPECT_FALSE(has(file, "/slots/none") || has(file, "/states/none"));
  EXPECT_EQ(integers_in(file, "/ranks"), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(integers_in(file, "/decomposition/u"),
            (std::vector<std::int64_t>{100, 512, 0, 0, 0, 0, 2048, 100, 700, 1024, 2048, 100}));
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

TEST_F(SkeletonTest, IsNotMadeOverAnExistingFileOrThroughASymbolicLink) {
  std::ofstream(path) << "mine";
  EXPECT_THROW(create_segment(path, three_ranks()), Error);
  EXPECT_EQ(std::filesystem::file_size(path), 4u);
  const std::string target = directory / "target";
  std::filesystem::remove(path);
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

// ---- places of blocks ----

TEST(Segment, HasAPlaceForEachBlockOfEachField) {
  const std::vector<Field> fields = two_fields(625);
  const BlockLayout layout({3, true}, fields);
  const SegmentFile file(layout, fields, 4);
  const Segment& s = file.segment;
  EXPECT_EQ(s.end_block(), 4);
  EXPECT_EQ(s.path(), file.path);
  EXPECT_EQ(s.offsets().file_bytes, file.offsets.file_bytes);
  for (std::size_t f = 0; f < 2; ++f) {
    EXPECT_EQ(s.byte_of(0, f), file.offsets.fields[f]);
    for (std::int64_t block = 1; block < 4; ++block) {
      EXPECT_EQ(s.byte_of(block, f) - s.byte_of(block - 1, f), layout.part_bytes(f));
    }
    EXPECT_LE(s.byte_of(3, f) + layout.part_bytes(f), s.offsets().file_bytes);
  }
  // Behind the lower ranks, which have so many bytes of each of the segment's states.
  const std::vector<std::int64_t> before = {2 * kPage, 0};
  const Segment later(file.path, {1, 10, 2}, file.offsets, before, layout,
                      TransportName::kBuffered);
  EXPECT_EQ(later.end_block(), 12);
  EXPECT_EQ(later.byte_of(10, 0), file.offsets.fields[0] + 2 * kPage * 2 * 3);
  EXPECT_EQ(later.byte_of(11, 0), later.byte_of(10, 0) + layout.part_bytes(0));
  EXPECT_FALSE(later.direct());
  EXPECT_THROW(Segment(file.directory / "none.h5", {0, 0, 1}, file.offsets, before, layout,
                       TransportName::kAuto),
               Error);
}

// ---- the library's own ways with HDF5 ----

TEST(QuietHdf5, GivesTheErrorsBackWhereTheyWentBefore) {
  H5E_auto2_t before = nullptr, inside = nullptr, after = nullptr;
  void* ignored = nullptr;
  H5Eget_auto2(H5E_DEFAULT, &before, &ignored);
  {
    const QuietHdf5 quiet;
    H5Eget_auto2(H5E_DEFAULT, &inside, &ignored);
  }
  H5Eget_auto2(H5E_DEFAULT, &after, &ignored);
  EXPECT_EQ(inside, nullptr);
  EXPECT_EQ(after, before);
}

TEST(Hdf5Type, HasTheSizeOfAnElement) {
  for (int type = 0; type < 20; ++type) {
    const auto named = static_cast<anadrome_type>(type);
    if (element_bytes(named) == 0) continue;
    const Hdf5Type made = hdf5_type(named);
    EXPECT_EQ(static_cast<std::int64_t>(H5Tget_size(made.get())), element_bytes(named)) << type;
  }
}

TEST(Hdf5, NamesWhatItCouldNotDo) {
  EXPECT_EQ(checked(3, "count"), 3);
  const Failure failure = failure_from([&] { checked(-1, "open the door"); });
  EXPECT_EQ(failure.status, ANADROME_ERR_IO);
  EXPECT_EQ(failure.message, "HDF5 could not open the door");
}

}  // namespace
}  // namespace anadrome::store

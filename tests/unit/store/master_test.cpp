// SPDX-License-Identifier: BSD-2-Clause
// The file over all files of a kept run, read back through HDF5.
#include "store/files/master.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>

#include "segment_file.h"
#include "store/files/hdf5_write.h"

namespace anadrome::store {
namespace {

// One field of three numbers on one rank, in segments of two slots.
struct MasterBench {
  explicit MasterBench(int segments) {
    field.name = "u";
    field.type = ANADROME_INT64;
    field.count = 3;
    fields = {field};
    layout = BlockLayout({1, true}, fields);
    master.run_id = "0123456789abcdef";
    master.schedule = "async";
    master.steps = 40;
    master.fields = {{"u", ANADROME_INT64, {{3, layout.parts()[0].stride / 8, 0, 0}}}};
    for (int s = 0; s < segments; ++s) {
      const std::string name = "segment-" + std::to_string(s) + ".h5";
      SegmentDescription description = describe(layout, fields, 2);
      description.number = s;
      description.first_block = 2 * s;
      const SegmentOffsets offsets = create_segment(directory / name, description);
      const File file = File::open(directory / name, O_WRONLY);
      for (std::int64_t slot = 0; slot < 2; ++slot) {
        const std::int64_t step = 10 * (2 * s + slot);
        const std::array<std::int64_t, 3> values = {step, step + 1, step + 2};
        file.write_all(values.data(), sizeof values,
                       offsets.fields[0] + slot * layout.parts()[0].stride);
        master.slot_steps.push_back(step);
      }
      master.segments.push_back({{name}, 2, 2});
    }
  }
  template <class Value>
  std::vector<Value> read(const char* dataset, hid_t type) const {
    const QuietHdf5 quiet;
    const Hdf5File file(
        checked(H5Fopen((directory / "states.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), "open"));
    const Hdf5Dataset data(checked(H5Dopen2(file.get(), dataset, H5P_DEFAULT), "open"));
    const Hdf5Space space(checked(H5Dget_space(data.get()), "get a dataspace"));
    std::vector<Value> values(
        static_cast<std::size_t>(checked(H5Sget_simple_extent_npoints(space.get()), "count")));
    checked(H5Dread(data.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "read");
    return values;
  }
  Field field;
  std::vector<Field> fields;
  BlockLayout layout;
  TemporaryDirectory directory;
  MasterDescription master;
};

using Numbers = std::vector<std::int64_t>;

TEST(Master, ShowsTheStatesOfAllSegmentsInOneTable) {
  MasterBench s(2);
  create_master(s.directory / "states.h5", s.master);
  EXPECT_EQ(s.read<std::int64_t>("/slot_step", H5T_NATIVE_INT64), (Numbers{0, 10, 20, 30}));
  EXPECT_EQ(s.read<std::int64_t>("/states/u", H5T_NATIVE_INT64),
            (Numbers{0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32}));
}

TEST(Master, LeavesOutSlotsThatAreNotUsed) {
  MasterBench s(2);
  s.master.segments[1].slots_used = 1;
  s.master.slot_steps.pop_back();
  create_master(s.directory / "states.h5", s.master);
  EXPECT_EQ(s.read<std::int64_t>("/states/u", H5T_NATIVE_INT64),
            (Numbers{0, 1, 2, 10, 11, 12, 20, 21, 22}));
}

TEST(Master, IsWrittenWithoutStates) {
  MasterBench s(0);
  create_master(s.directory / "states.h5", s.master);
  EXPECT_THROW(s.read<std::int64_t>("/slot_step", H5T_NATIVE_INT64), Error);
}

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
  try {
    checked(-1, "open the door");
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ANADROME_ERR_IO);
    EXPECT_STREQ(error.what(), "HDF5 could not open the door");
  }
}

}  // namespace
}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
#include "store/files/master.h"

#include <array>

#include "base/index.h"
#include "store/files/format.h"
#include "store/files/hdf5_write.h"
#include "store/files/skeleton.h"

namespace anadrome::store {
namespace {

void create_states(hid_t file, const MasterDescription& master, const MasterField& field) {
  std::int64_t width = 0, rows = 0;
  for (const MasterPart& part : field.parts) width += part.count;
  for (const MasterSegment& segment : master.segments) rows += segment.slots_used;
  if (width == 0 || rows == 0) return;
  const std::array<hsize_t, 2> shape = {extent(rows), extent(width)};
  const Hdf5Space view(checked(H5Screate_simple(2, shape.data(), nullptr), "create a dataspace"));
  const Hdf5Properties creation(checked(H5Pcreate(H5P_DATASET_CREATE), "create properties"));
  std::int64_t row = 0;
  for (const MasterSegment& segment : master.segments) {
    // The length of /slots/<field> in each file of the segment.
    std::vector<std::int64_t> lengths(segment.files.size(), 0);
    for (const MasterPart& part : field.parts) {
      lengths[at(part.file)] += part.stride * segment.slots;
    }
    std::int64_t column = 0;
    for (const MasterPart& part : field.parts) {
      if (part.count == 0 || segment.slots_used == 0) continue;
      const auto file_index = at(part.file);
      const hsize_t length = extent(lengths[file_index]);
      const Hdf5Space source(checked(H5Screate_simple(1, &length, nullptr), "create a dataspace"));
      const std::array<hsize_t, 2> to = {extent(row), extent(column)};
      const std::array<hsize_t, 2> size = {extent(segment.slots_used), extent(part.count)};
      const hsize_t from = extent(part.strides_before * segment.slots),
                    stride = extent(part.stride);
      const hsize_t count = extent(segment.slots_used), block = extent(part.count);
      checked(
          H5Sselect_hyperslab(view.get(), H5S_SELECT_SET, to.data(), nullptr, size.data(), nullptr),
          "select columns");
      checked(H5Sselect_hyperslab(source.get(), H5S_SELECT_SET, &from, &stride, &count, &block),
              "select slots");
      checked(H5Pset_virtual(creation.get(), view.get(), segment.files[file_index].c_str(),
                             ("/slots/" + field.name).c_str(), source.get()),
              "map a virtual dataset");
      column += part.count;
    }
    row += segment.slots_used;
  }
  checked(H5Sselect_all(view.get()), "select all");
  const Hdf5Type type = hdf5_type(field.type);
  const Hdf5Dataset dataset(
      checked(H5Dcreate2(file, ("/states/" + field.name).c_str(), type.get(), view.get(),
                         H5P_DEFAULT, creation.get(), H5P_DEFAULT),
              "create /states/" + field.name));
}

}  // namespace

void create_master(const FilePlace& place, const MasterDescription& master) {
  const ScratchFile scratch(place);
  {
    const QuietHdf5 quiet;
    const Hdf5File file = create_file(scratch.path());
    write_attribute(file.get(), kFormatAttribute, kFormatVersion);
    write_attribute(file.get(), "run_id", master.run_id);
    write_attribute(file.get(), "schedule", master.schedule);
    write_attribute(file.get(), "steps", master.steps);
    const Hdf5Group group(
        checked(H5Gcreate2(file.get(), "/states", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                "create a group"));
    if (!master.slot_steps.empty()) {
      const std::array<hsize_t, 1> shape = {master.slot_steps.size()};
      write_table(file.get(), "/slot_step", shape, master.slot_steps);
    }
    for (const MasterField& field : master.fields) create_states(file.get(), master, field);
    write_out(file.get());
  }
  scratch.publish(place, true);
}

}  // namespace anadrome::store

// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/segments/segment_bytes.h"

#include <fcntl.h>

#include "base/index.h"

namespace anadrome::tool {

SegmentBytes::SegmentBytes(const std::string& path)
    : path_(path), file_(store::File::open(path, O_RDONLY)) {}

void SegmentBytes::read(const StoredField& field, std::int64_t byte, char* to, std::size_t bytes) {
  if (!field.place.filtered) return file_.read_all(to, bytes, byte);
  const std::string path = "/slots/" + field.name;
  if (!hdf5_) hdf5_ = open_hdf5(path_);
  if (name_ != field.name) {
    dataset_ = Hdf5Dataset(H5Dopen2(hdf5_.get(), path.c_str(), H5P_DEFAULT));
    name_ = field.name;
  }
  const auto first = static_cast<hsize_t>(byte / field.place.element_bytes);
  const hsize_t count = bytes / size(field.place.element_bytes);
  const Hdf5Space space(H5Dget_space(dataset_.get())), memory(H5Screate_simple(1, &count, nullptr));
  const Hdf5Type type(H5Dget_type(dataset_.get()));
  H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &first, nullptr, &count, nullptr);
  require(H5Dread(dataset_.get(), type.get(), memory.get(), space.get(), H5P_DEFAULT, to) >= 0,
          path + " cannot be read");
}

}  // namespace anadrome::tool

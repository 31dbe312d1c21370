// SPDX-License-Identifier: BSD-2-Clause
#include "store/files/hdf5_write.h"

#include <algorithm>

namespace anadrome::store {
namespace {

void write(hid_t object, const char* name, hid_t type, hid_t space, const void* values) {
  const std::string what = std::string("write the attribute ") + name;
  const Hdf5Attribute attribute(
      checked(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), what));
  checked(H5Awrite(attribute.get(), type, values), what);
}

}  // namespace

Hdf5Type hdf5_type(anadrome_type type) {
  const auto copy = [](hid_t native) { return Hdf5Type(checked(H5Tcopy(native), "copy a type")); };
  const auto complex = [](hid_t part, std::size_t bytes) {
    Hdf5Type pair(checked(H5Tcreate(H5T_COMPOUND, 2 * bytes), "create a type"));
    checked(H5Tinsert(pair.get(), "r", 0, part), "create a type");
    checked(H5Tinsert(pair.get(), "i", bytes, part), "create a type");
    return pair;
  };
  switch (type) {
    case ANADROME_FLOAT32:
      return copy(H5T_NATIVE_FLOAT);
    case ANADROME_FLOAT64:
      return copy(H5T_NATIVE_DOUBLE);
    case ANADROME_COMPLEX64:
      return complex(H5T_NATIVE_FLOAT, sizeof(float));
    case ANADROME_COMPLEX128:
      return complex(H5T_NATIVE_DOUBLE, sizeof(double));
    case ANADROME_INT32:
      return copy(H5T_NATIVE_INT32);
    case ANADROME_INT64:
      return copy(H5T_NATIVE_INT64);
    case ANADROME_BYTE:
      return copy(H5T_NATIVE_UINT8);
  }
  throw Error(ANADROME_ERR_INTERNAL, "a field has no known type");
}

// The driver of stdio, for that of POSIX looks for the name of a file in memory, which has none.
Hdf5File create_file(const std::string& path, std::int64_t alignment) {
  const Hdf5Properties access(checked(H5Pcreate(H5P_FILE_ACCESS), "create properties"));
  checked(H5Pset_fapl_stdio(access.get()), "choose the file driver");
  checked(H5Pset_alignment(access.get(), extent(alignment), extent(alignment)),
          "set the alignment");
  return Hdf5File(
      checked(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), "create " + path));
}

void write_out(hid_t file) { checked(H5Fflush(file, H5F_SCOPE_LOCAL), "write the structure"); }

void write_attribute(hid_t object, const char* name, std::int64_t value) {
  const Hdf5Space scalar(checked(H5Screate(H5S_SCALAR), "create a dataspace"));
  write(object, name, H5T_NATIVE_INT64, scalar.get(), &value);
}

void write_attribute(hid_t object, const char* name, const std::string& text) {
  const Hdf5Type type(checked(H5Tcopy(H5T_C_S1), "copy a type"));
  checked(H5Tset_size(type.get(), std::max<std::size_t>(text.size(), 1)), "size a type");
  const Hdf5Space scalar(checked(H5Screate(H5S_SCALAR), "create a dataspace"));
  write(object, name, type.get(), scalar.get(), text.data());
}

Hdf5Dataset create_table(hid_t file, const std::string& path, hid_t type,
                         std::span<const hsize_t> shape) {
  const Hdf5Space space(
      checked(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
              "create a dataspace"));
  const Hdf5Properties creation(checked(H5Pcreate(H5P_DATASET_CREATE), "create properties"));
  // All space at once and nothing written into it: the bytes come later, at their offsets.
  checked(H5Pset_layout(creation.get(), H5D_CONTIGUOUS), "set a layout");
  checked(H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY), "set the allocation time");
  checked(H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER), "set the fill time");
  return Hdf5Dataset(checked(
      H5Dcreate2(file, path.c_str(), type, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
      "create " + path));
}

void write_table(hid_t file, const std::string& path, std::span<const hsize_t> shape,
                 std::span<const std::int64_t> values) {
  const Hdf5Dataset table = create_table(file, path, H5T_STD_I64LE, shape);
  checked(H5Dwrite(table.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
          "write " + path);
}

}  // namespace anadrome::store

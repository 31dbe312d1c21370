// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/segments/hdf5_read.h"

#include <array>

#include "base/error.h"
#include "base/index.h"

namespace anadrome::tool {
namespace {

[[noreturn]] void damaged(const std::string& what) { throw Error(ANADROME_ERR_CORRUPT, what); }

template <class Result>
Result good(Result result, const std::string& what) {
  if (result < 0) damaged(what + " cannot be read");
  return result;
}

Hdf5Attribute open_attribute(hid_t file, const char* name) {
  return Hdf5Attribute(good(H5Aopen(file, name, H5P_DEFAULT), std::string("attribute ") + name));
}

}  // namespace

void require(bool condition, const std::string& problem) {
  if (!condition) damaged(problem);
}

Hdf5File open_hdf5(const std::string& path) {
  const Hdf5Properties access(good(H5Pcreate(H5P_FILE_ACCESS), "a property list"));
  good(H5Pset_fapl_sec2(access.get()), "the file driver");
  Hdf5File file(good(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), "the file"));
  const auto leads_out = [](hid_t group, const char* name, const H5L_info_t* link,
                            void*) -> herr_t {
    if (link->type == H5L_TYPE_EXTERNAL || link->type >= H5L_TYPE_UD_MIN) return 1;
    if (link->type != H5L_TYPE_HARD) return 0;
    const Hdf5Dataset dataset(H5Dopen2(group, name, H5P_DEFAULT));
    if (dataset.get() < 0) return 0;  // no dataset
    const Hdf5Properties creation(H5Dget_create_plist(dataset.get()));
    return H5Pget_external_count(creation.get()) > 0 ? 1 : 0;
  };
  require(good(H5Lvisit(file.get(), H5_INDEX_NAME, H5_ITER_NATIVE, leads_out, nullptr),
               "the list of objects") == 0,
          "it names files elsewhere, which no run does");
  return file;
}

std::int64_t integer_attribute(hid_t file, const char* name) {
  const Hdf5Attribute attribute = open_attribute(file, name);
  const Hdf5Type type(good(H5Aget_type(attribute.get()), name));
  const Hdf5Space space(good(H5Aget_space(attribute.get()), name));
  if (H5Tget_class(type.get()) != H5T_INTEGER || H5Sget_simple_extent_npoints(space.get()) != 1) {
    damaged(std::string("attribute ") + name + " is not an integer");
  }
  std::int64_t value = 0;
  good(H5Aread(attribute.get(), H5T_NATIVE_INT64, &value), name);
  return value;
}

std::string text_attribute(hid_t file, const char* name) {
  const Hdf5Attribute attribute = open_attribute(file, name);
  const Hdf5Type type(good(H5Aget_type(attribute.get()), name));
  const Hdf5Space space(good(H5Aget_space(attribute.get()), name));
  constexpr std::size_t kMost = 256;
  const std::size_t length = H5Tget_size(type.get());
  if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0 ||
      length > kMost || H5Sget_simple_extent_npoints(space.get()) != 1) {
    damaged(std::string("attribute ") + name + " is not a short text");
  }
  std::string text(length, '\0');
  good(H5Aread(attribute.get(), type.get(), text.data()), name);
  text.resize(text.find('\0') < length ? text.find('\0') : length);
  return text;
}

DatasetPlace place_of(hid_t file, const std::string& path, std::int64_t file_bytes) {
  const Hdf5Dataset dataset(good(H5Dopen2(file, path.c_str(), H5P_DEFAULT), path));
  const Hdf5Space space(good(H5Dget_space(dataset.get()), path));
  const Hdf5Type type(good(H5Dget_type(dataset.get()), path));
  const hssize_t elements = good(H5Sget_simple_extent_npoints(space.get()), path);
  const auto bytes = static_cast<std::int64_t>(H5Tget_size(type.get()));
  const Hdf5Properties creation(good(H5Dget_create_plist(dataset.get()), path));
  const bool filtered = H5Pget_layout(creation.get()) == H5D_CHUNKED;
  std::int64_t length = 0;
  const bool sized = bytes > 0 && bytes <= 16 && !__builtin_mul_overflow(elements, bytes, &length);
  if (sized && filtered) return {0, elements, bytes, true};
  const haddr_t offset = filtered ? HADDR_UNDEF : H5Dget_offset(dataset.get());
  require(sized && offset <= static_cast<haddr_t>(file_bytes) &&
              length <= file_bytes - static_cast<std::int64_t>(offset),
          path + " does not lie within the file");
  return {static_cast<std::int64_t>(offset), elements, bytes};
}

std::vector<std::int64_t> integer_table(hid_t file, const std::string& path,
                                        std::int64_t most_bytes) {
  const Hdf5Dataset dataset(good(H5Dopen2(file, path.c_str(), H5P_DEFAULT), path));
  const Hdf5Space space(good(H5Dget_space(dataset.get()), path));
  const Hdf5Type type(good(H5Dget_type(dataset.get()), path));
  const hssize_t elements = good(H5Sget_simple_extent_npoints(space.get()), path);
  constexpr std::int64_t kInteger = sizeof(std::int64_t);
  if (H5Tget_class(type.get()) != H5T_INTEGER || H5Tget_size(type.get()) != kInteger ||
      elements > most_bytes / kInteger) {
    damaged(path + " is not a table of integers");
  }
  std::vector<std::int64_t> values(size(elements));
  const bool has_sign = H5Tget_sign(type.get()) != H5T_SGN_NONE;
  good(H5Dread(dataset.get(), has_sign ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL,
               H5P_DEFAULT, values.data()),
       path);
  return values;
}

std::vector<std::string> names_in(hid_t file, const std::string& group) {
  const Hdf5Group opened(good(H5Gopen2(file, group.c_str(), H5P_DEFAULT), group));
  H5G_info_t info;
  good(H5Gget_info(opened.get(), &info), group);
  std::vector<std::string> names;
  for (hsize_t n = 0; n < info.nlinks; ++n) {
    std::array<char, 256> name;
    const ssize_t length = H5Lget_name_by_idx(opened.get(), ".", H5_INDEX_NAME, H5_ITER_INC, n,
                                              name.data(), name.size(), H5P_DEFAULT);
    if (good(length, group) >= static_cast<ssize_t>(name.size())) damaged(group + ": a long name");
    names.emplace_back(name.data());
  }
  return names;
}

}  // namespace anadrome::tool

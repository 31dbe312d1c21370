// SPDX-License-Identifier: BSD-2-Clause
// Small things out of an HDF5 file that nobody has checked: attributes, tables of integers, and
// where a dataset lies. Everything throws ERR_CORRUPT naming the object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/files/hdf5_owners.h"

namespace anadrome::tool {

/// Throws ERR_CORRUPT saying `problem` unless `condition`.
void require(bool condition, const std::string& problem);

/// Opened read-only with plain file calls.
/// Throws ERR_CORRUPT also where reading it would open files that it names: by external links, or
/// by datasets whose bytes are elsewhere. (Virtual datasets: see ViewCheck.)
Hdf5File open_hdf5(const std::string& path);

std::int64_t integer_attribute(hid_t file, const char* name);
std::string text_attribute(hid_t file, const char* name);
/// The elements of a dataset of 64-bit integers, of any shape. `most_bytes`: no file holds more.
std::vector<std::int64_t> integer_table(hid_t file, const std::string& path,
                                        std::int64_t most_bytes);
std::vector<std::string> names_in(hid_t file, const std::string& group);

struct DatasetPlace {
  std::int64_t offset = 0, elements = 0, element_bytes = 0;
  bool filtered = false;  ///< no place in the file: `offset` is 0
};
/// The place of a contiguous dataset that lies within the file's `file_bytes`, or of one in chunks.
DatasetPlace place_of(hid_t file, const std::string& path, std::int64_t file_bytes);

/// From here on HDF5 reads datasets of its LZ4 filter in this process, whether or not the machine
/// has a plugin for it: kept files of compressed states.
void register_lz4_filter();

}  // namespace anadrome::tool

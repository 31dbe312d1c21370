// SPDX-License-Identifier: BSD-2-Clause
// Small HDF5 objects, written from the calling thread: groups, attributes, integer datasets.
#pragma once

#include <cerrno>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include <anadrome/field.h>

#include "base/error.h"
#include "store/files/hdf5_owners.h"

namespace anadrome::store {

/// HDF5 is this thread's while one of these lives, and prints no error stack: it is not made for
/// threads, and runs of several threads may use it. Every use is within one; they may nest.
class QuietHdf5 {
 public:
  QuietHdf5() : turn_(turns()) {
    errno = 0;
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;

 private:
  static std::recursive_mutex& turns() {
    static std::recursive_mutex mutex;
    return mutex;
  }
  const std::lock_guard<std::recursive_mutex> turn_;
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

/// Throws ERR_IO naming `what`, in pieces, if an HDF5 call returned a negative value. Takes no
/// memory before that: the call may be one that all ranks have to make.
template <class Result, class... Pieces>
Result checked(Result result, const Pieces&... what) {
  if (result < 0) {
    const int why = errno;  // HDF5 leaves it as it is
    std::string text = "HDF5 could not ";
    ((text += what), ...);
    if (why == EMFILE || why == ENFILE || why == ENOMEM) text += ": " + errno_text(why);
    throw Error(ANADROME_ERR_IO, text);
  }
  return result;
}

inline hsize_t extent(std::int64_t value) { return static_cast<hsize_t>(value); }

/// The HDF5 type of an anadrome_type; complex numbers are compounds {r, i}, as h5py reads them.
Hdf5Type hdf5_type(anadrome_type type);

/// Make an HDF5 file of the one at `path`; what has so many bytes or more begins at a multiple.
Hdf5File create_file(const std::string& path, std::int64_t alignment = 1);
/// Throws what closing the file would not tell.
void write_out(hid_t file);

void write_attribute(hid_t object, const char* name, std::int64_t value);
void write_attribute(hid_t object, const char* name, const std::string& text);

/// A contiguous dataset whose space exists from the start and is never filled.
Hdf5Dataset create_table(hid_t file, const std::string& path, hid_t type,
                         std::span<const hsize_t> shape);
/// create_table with 64-bit integers in it.
void write_table(hid_t file, const std::string& path, std::span<const hsize_t> shape,
                 std::span<const std::int64_t> values);

}  // namespace anadrome::store

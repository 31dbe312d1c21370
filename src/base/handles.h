// RAII owners of descriptors, HDF5 identifiers and communicators.
#pragma once

#include <hdf5.h>
#include <mpi.h>

#include <utility>

namespace anadrome {

/// Owns a value of type T that is given back by Close; Null is the value that owns nothing.
template <class T, class Close>
class Owner {
 public:
  Owner() = default;
  explicit Owner(T value) : value_(value) {}
  Owner(Owner&& other) noexcept : value_(std::exchange(other.value_, Close::kNull)) {}
  Owner& operator=(Owner&& other) noexcept {
    if (this != &other) {
      reset();
      value_ = std::exchange(other.value_, Close::kNull);
    }
    return *this;
  }
  ~Owner() { reset(); }
  T get() const { return value_; }
  explicit operator bool() const { return Close::owns(value_); }
  void reset() {
    if (Close::owns(value_)) Close::close(value_);
    value_ = Close::kNull;
  }

 private:
  T value_ = Close::kNull;
};

template <herr_t (*CloseFunction)(hid_t)>
struct CloseHdf5 {
  static constexpr hid_t kNull = -1;
  static bool owns(hid_t id) { return id >= 0; }
  static void close(hid_t id) { CloseFunction(id); }
};
using Hdf5File = Owner<hid_t, CloseHdf5<H5Fclose>>;
using Hdf5Dataset = Owner<hid_t, CloseHdf5<H5Dclose>>;
using Hdf5Space = Owner<hid_t, CloseHdf5<H5Sclose>>;
using Hdf5Type = Owner<hid_t, CloseHdf5<H5Tclose>>;
using Hdf5Group = Owner<hid_t, CloseHdf5<H5Gclose>>;
using Hdf5Attribute = Owner<hid_t, CloseHdf5<H5Aclose>>;
using Hdf5Properties = Owner<hid_t, CloseHdf5<H5Pclose>>;

struct CloseCommunicator {
  inline static const MPI_Comm kNull = MPI_COMM_NULL;
  static bool owns(MPI_Comm comm) { return comm != MPI_COMM_NULL; }
  static void close(MPI_Comm comm) {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) MPI_Comm_free(&comm);
  }
};
using Communicator = Owner<MPI_Comm, CloseCommunicator>;

}  // namespace anadrome

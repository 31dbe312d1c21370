// SPDX-License-Identifier: BSD-2-Clause
// Arrays by DLPack (https://dmlc.github.io/dlpack/latest/): its structures, as far as they are read
// here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "api/python/values/python.h"

namespace anadrome::python {

/// The memory of an object with __dlpack__, as long as this lives. Used with the GIL.
class Dlpack {
 public:
  /// Does the object say where its memory is?
  static bool has(const py::object& array) { return py::hasattr(array, "__dlpack_device__"); }

  Dlpack() = default;
  /// `stream`: as the array API has it; the array is ready for what is queued there from then on.
  /// Raises what the object raises.
  Dlpack(const py::object& array, const py::object& stream);
  ~Dlpack();
  Dlpack(Dlpack&& other) noexcept { *this = std::move(other); }
  Dlpack& operator=(Dlpack&& other) noexcept;

  bool holds() const { return managed_ != nullptr || of_1_ != nullptr; }
  /// On a device that CUDA or HIP knows; otherwise memory of the host.
  bool on_device() const;
  /// On neither.
  bool elsewhere() const;
  bool read_only() const { return read_only_; }
  bool contiguous() const;
  /// In letters of Python's module struct; "?" for what it has none.
  std::string format() const;
  std::size_t itemsize() const;
  std::size_t count() const;
  void* values() const;
  std::vector<std::int64_t> shape() const;

 private:
  struct Tensor;
  struct Managed;
  struct Versioned;
  const Tensor& tensor() const;

  Managed* managed_ = nullptr;  ///< or
  Versioned* of_1_ = nullptr;
  bool read_only_ = false;
};

/// A stream's number, as the array API has it, as the pointer that drivers take.
void* stream_of(const py::object& number);

}  // namespace anadrome::python

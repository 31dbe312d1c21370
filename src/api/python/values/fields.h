// SPDX-License-Identifier: BSD-2-Clause
// Fields as Python has them: arrays by the buffer protocol, and objects with functions that copy.
#pragma once

#include <anadrome/field.h>

#include <cstddef>
#include <string>

#include "api/python/values/callbacks.h"
#include "api/python/values/python.h"

namespace anadrome::python {

/// An array whose memory stays where it is as long as this lives. Created and destroyed with the
/// GIL.
class Array {
 public:
  /// What is done with it: it is registered, or read or written at once, as a part of an object or
  /// by itself.
  enum class Use { kField, kPut, kGet, kRead, kFilled };
  /// Raises TypeError, which names the field, part or array, unless it is contiguous, of a type
  /// that fields have and, but for kPut and kRead, writable.
  Array(const std::string& name, const py::object& array, Use use = Use::kField);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  anadrome_type type() const { return type_; }
  std::size_t count() const { return bytes() / static_cast<std::size_t>(view_.itemsize); }
  std::size_t bytes() const { return static_cast<std::size_t>(view_.len); }
  void* values() const { return view_.buf; }
  /// As anadrome_set_shape wants it; empty: one dimension or none.
  std::vector<std::int64_t> shape() const;

 private:
  Py_buffer view_{};
  anadrome_type type_{};
};

/// What the C interface calls for a field that is no array. `size` is None for one of fixed size.
struct Packed {
  std::string name;
  py::function pack, unpack;
  py::object size;
  Thrown* thrown;

  static int packing(void* context, void* buffer, std::size_t bytes);
  static int unpacking(void* context, const void* buffer, std::size_t bytes);
  static std::size_t asking(void* context);
};

}  // namespace anadrome::python

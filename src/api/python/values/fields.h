// SPDX-License-Identifier: BSD-2-Clause
// Fields as Python has them: arrays by the buffer protocol or DLPack, and objects with functions
// that copy.
#pragma once

#include <anadrome/field.h>

#include <cstddef>
#include <string>

#include "api/python/values/callbacks.h"
#include "api/python/values/dlpack.h"
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
  /// `stream`: of a field on a device.
  Array(const std::string& name, const py::object& array, Use use = Use::kField,
        const py::object& stream = py::none());

  anadrome_type type() const { return type_; }
  std::size_t count() const {
    return packed_.holds() ? packed_.count() : bytes() / static_cast<std::size_t>(view_.itemsize);
  }
  std::size_t bytes() const {
    return packed_.holds() ? packed_.count() * packed_.itemsize()
                           : static_cast<std::size_t>(view_.len);
  }
  void* values() const { return packed_.holds() ? packed_.values() : view_.buf; }
  bool on_device() const { return packed_.holds() && packed_.on_device(); }
  /// As anadrome_set_shape wants it; empty: one dimension or none.
  std::vector<std::int64_t> shape() const;
  /// By DLPack, of which numpy may know nothing: its type, in letters of Python's module struct,
  /// and its sizes. Otherwise None.
  py::object form() const;

 private:
  struct View : Py_buffer {
    View() : Py_buffer{} {}
    ~View() { PyBuffer_Release(this); }
    View(const View&) = delete;
    View& operator=(const View&) = delete;
  };
  View view_;
  Dlpack packed_;  ///< instead of the view
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

/// The class of the buffers that such functions get.
void define_lent(py::module_& module);

}  // namespace anadrome::python

// SPDX-License-Identifier: BSD-2-Clause
// anadrome_sketch for Python. anadrome._sketch has what users see.
#pragma once

#include <anadrome/sketch.h>

#include <cstdint>
#include <mutex>

#include "api/python/values/fields.h"

namespace anadrome::python {

/// The GIL is released in every call that goes through arrays; threads of Python take turns.
class Sketch {
 public:
  Sketch(std::int64_t count, int type, std::int64_t arrays, std::int64_t seed, int kind);
  /// By any thread at any time.
  ~Sketch();
  Sketch(const Sketch&) = delete;
  Sketch& operator=(const Sketch&) = delete;

  static std::int64_t bytes(std::int64_t count, int type, std::int64_t arrays, int kind);
  void push(std::int64_t step, const py::object& x);
  void correlate(std::int64_t step, const py::object& y);
  void gradient(const py::object& out);
  void variance(const py::object& out);

 private:
  /// The elements of an array that has `count_` of `type`.
  void* elements(const Array& array, const char* name, anadrome_type type) const;
  template <class Call>
  void enter(Call&& call);

  const std::int64_t count_;
  const anadrome_type type_;
  anadrome_sketch* sketch_ = nullptr;
  std::mutex turn_;  // taken without the GIL
};

void define_sketch(py::module_& module);

}  // namespace anadrome::python

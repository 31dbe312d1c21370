// SPDX-License-Identifier: BSD-2-Clause
// anadrome_sketch for Python. anadrome._sketch has what users see.
#include <anadrome/sketch.h>

#include <cstdint>
#include <mutex>
#include <string>

#include "api/python/module.h"
#include "api/python/values/errors.h"
#include "api/python/values/fields.h"

namespace anadrome::python {
namespace {

/// The GIL is released in every call that goes through arrays; threads of Python take turns.
class Sketch {
 public:
  Sketch(std::int64_t count, int type, std::int64_t arrays, std::int64_t seed, int kind)
      : count_(count), type_(static_cast<anadrome_type>(type)) {
    const auto of_kind = static_cast<anadrome_sketch_kind>(kind);
    enter([&] { return anadrome_sketch_create(count_, type_, arrays, seed, of_kind, &sketch_); });
  }
  /// By any thread at any time.
  ~Sketch() { anadrome_sketch_destroy(&sketch_); }
  Sketch(const Sketch&) = delete;
  Sketch& operator=(const Sketch&) = delete;

  static std::int64_t bytes(std::int64_t count, int type, std::int64_t arrays, int kind) {
    std::int64_t bytes = 0;
    check(anadrome_sketch_bytes(count, static_cast<anadrome_type>(type), arrays,
                                static_cast<anadrome_sketch_kind>(kind), &bytes));
    return bytes;
  }
  void push(std::int64_t step, const py::object& x) {
    const Array array("x", x, Array::Use::kRead);
    const void* values = elements(array, "x", type_);
    enter([&] { return anadrome_sketch_push(sketch_, step, values); });
  }
  void correlate(std::int64_t step, const py::object& y) {
    const Array array("y", y, Array::Use::kRead);
    const void* values = elements(array, "y", type_);
    enter([&] { return anadrome_sketch_correlate(sketch_, step, values); });
  }
  void gradient(const py::object& out) {
    const Array array("out", out, Array::Use::kFilled);
    void* values = elements(array, "out", type_);
    enter([&] { return anadrome_sketch_gradient(sketch_, values); });
  }
  void variance(const py::object& out) {
    const Array array("out", out, Array::Use::kFilled);
    auto* values = static_cast<double*>(elements(array, "out", ANADROME_FLOAT64));
    enter([&] { return anadrome_sketch_variance(sketch_, values); });
  }

 private:
  /// The elements of an array that has `count_` of `type`.
  void* elements(const Array& array, const char* name, anadrome_type type) const {
    const std::string called = std::string("array '") + name + "'";
    if (array.type() != type) {
      raise(ANADROME_ERR_ARGUMENT,
            called + " is not of " + (type == ANADROME_FLOAT64 ? "float64" : "float32"));
    }
    if (array.count() != static_cast<std::size_t>(count_)) {
      raise(ANADROME_ERR_ARGUMENT, called + " has " + std::to_string(array.count()) +
                                       " elements, the sketch " + std::to_string(count_) +
                                       " points");
    }
    return array.values();
  }
  template <class Call>
  void enter(Call&& call) {
    without_gil([&] {
      const std::lock_guard turn(turn_);
      return call();
    });
  }

  const std::int64_t count_;
  const anadrome_type type_;
  anadrome_sketch* sketch_ = nullptr;
  std::mutex turn_;  // taken without the GIL
};

}  // namespace

void define_sketch(py::module_& module) {
  py::class_<Sketch>(module, "Sketch")
      .def(py::init<std::int64_t, int, std::int64_t, std::int64_t, int>())
      .def_static("bytes", &Sketch::bytes)
      .def("push", &Sketch::push)
      .def("correlate", &Sketch::correlate)
      .def("gradient", &Sketch::gradient)
      .def("variance", &Sketch::variance);
}

}  // namespace anadrome::python

// SPDX-License-Identifier: BSD-2-Clause
// anadrome._core: the C interface for the modules of python/anadrome. Not for users.
#include "api/python/module.h"

#include <anadrome/anadrome.h>
#include <anadrome/log.h>

#include <memory>
#include <utility>

#include "api/python/values/communicator.h"
#include "api/python/values/fields.h"

namespace anadrome::python {
namespace {

// In any thread, with or without the GIL. What the function raises is shown and forgotten.
void call_python(anadrome_log_level level, const char* line, void* data) {
  if (Py_IsInitialized() == 0) return;
  const py::gil_scoped_acquire gil;
  try {
    (*static_cast<py::object*>(data))(static_cast<int>(level), line);
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("the function of anadrome.set_log");
  }
}

// The lines of the library for a function of Python's.
void define_log(py::module_& module) {
  module.def("set_log", [](py::object function) {
    if (function.is_none()) {
      anadrome_set_log(nullptr, nullptr);
      return;
    }
    // It stays: a thread may be on its way into it.
    anadrome_set_log(call_python, std::make_unique<py::object>(std::move(function)).release());
  });
}

}  // namespace
}  // namespace anadrome::python

PYBIND11_MODULE(_core, module) {
  using namespace anadrome::python;
  module.def("version", &anadrome_version);
  module.attr("has_mpi") = kHasMpi;
  define_lent(module);
  define_log(module);
  define_run(module);
  define_store(module);
  define_schedule(module);
  define_sketch(module);
}

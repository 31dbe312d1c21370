// SPDX-License-Identifier: BSD-2-Clause
#include "api/python/log.h"

#include <anadrome/log.h>

#include <memory>

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

}  // namespace

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

}  // namespace anadrome::python

// SPDX-License-Identifier: BSD-2-Clause
#include "api/python/values/errors.h"

namespace anadrome::python {

void raise(anadrome_status status, const std::string& text) {
  const py::object make = py::module_::import("anadrome._errors").attr("error_of");
  const py::object error = make(static_cast<int>(status), text);
  PyErr_SetObject(py::type::of(error).ptr(), error.ptr());
  throw py::error_already_set();
}

void check(anadrome_status status) {
  if (status == ANADROME_OK) return;
  raise(status, anadrome_last_error());
}

std::string describe(const py::error_already_set& exception) {
  const py::object make = py::module_::import("anadrome._errors").attr("describe");
  return py::cast<std::string>(make(exception.value()));
}

}  // namespace anadrome::python

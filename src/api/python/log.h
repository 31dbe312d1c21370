// SPDX-License-Identifier: BSD-2-Clause
// The lines of the library for a function of Python's.
#pragma once

#include "api/python/values/python.h"

namespace anadrome::python {

void define_log(py::module_& module);

}  // namespace anadrome::python

// SPDX-License-Identifier: BSD-2-Clause
// The classes of anadrome._core.
#pragma once

#include "api/python/values/python.h"

namespace anadrome::python {

void define_run(py::module_& module);
void define_schedule(py::module_& module);
void define_sketch(py::module_& module);
void define_store(py::module_& module);

}  // namespace anadrome::python

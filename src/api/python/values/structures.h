// SPDX-License-Identifier: BSD-2-Clause
// Structures of C as dictionaries, for the dataclasses of Python.
#pragma once

#include <anadrome/gradient.h>

#include "api/python/values/python.h"

namespace anadrome::python {

py::dict to_python(const anadrome_stats& stats);
py::dict to_python(const anadrome_gradient_check& check);

}  // namespace anadrome::python

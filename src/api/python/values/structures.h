// SPDX-License-Identifier: BSD-2-Clause
// Structures of C for Python: actions as objects of anadrome._actions, others as dictionaries.
#pragma once

#include <anadrome/anadrome.h>
#include <anadrome/gradient.h>

#include "api/python/values/python.h"

namespace anadrome::python {

/// The object for an action that is not DONE.
py::object to_python(const anadrome_action& action);
py::dict to_python(const anadrome_stats& stats);
py::dict to_python(const anadrome_gradient_check& check);

}  // namespace anadrome::python

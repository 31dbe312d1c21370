// SPDX-License-Identifier: BSD-2-Clause
// The actions of a sweep as objects of anadrome._actions.
#pragma once

#include <anadrome/anadrome.h>

#include "api/python/values/python.h"

namespace anadrome::python {

/// The object for an action that is not DONE.
py::object to_python(const anadrome_action& action);

}  // namespace anadrome::python

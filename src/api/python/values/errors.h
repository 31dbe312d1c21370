// SPDX-License-Identifier: BSD-2-Clause
// Statuses as exceptions of Python.
#pragma once

#include <anadrome/status.h>

#include <string>

#include "api/python/values/python.h"

namespace anadrome::python {

/// Raise the anadrome.Error for `status` with `text`. The GIL is held.
[[noreturn]] void raise(anadrome_status status, const std::string& text);
/// Raise the last failure of this thread unless `status` is OK. The GIL is held.
void check(anadrome_status status);
/// Run `call`, which may wait, while other threads of Python run; raise its failure. The GIL is
/// held before and after.
template <class Call>
void without_gil(Call&& call) {
  anadrome_status status = ANADROME_OK;
  {
    const py::gil_scoped_release others_run;
    status = call();
  }
  check(status);
}

/// "ValueError: text" of an exception. The GIL is held.
std::string describe(const py::error_already_set& exception);

}  // namespace anadrome::python

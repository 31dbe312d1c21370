// SPDX-License-Identifier: BSD-2-Clause
// Memory that a function of Python sees while it is called, and no longer.
#pragma once

#include <cstddef>
#include <string>

#include "api/python/values/python.h"

namespace anadrome::python {

/// An object with the buffer protocol that counts who looks. Memoryviews do not: one that was made
/// of another one goes on when that is released.
struct Lent {
  void* values;
  py::ssize_t bytes;
  bool writable;
  py::ssize_t views = 0;
};

void define_lent(py::module_& module);

/// Call `function` with a memoryview of the memory. Raises BufferError if it kept a view. The GIL
/// is held.
void lend(const std::string& field, Lent memory, const py::function& function);

}  // namespace anadrome::python

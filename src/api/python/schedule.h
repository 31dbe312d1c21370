// SPDX-License-Identifier: BSD-2-Clause
// anadrome_schedule for Python. anadrome._schedule has what users see.
#pragma once

#include <anadrome/schedule.h>

#include <cstdint>
#include <string>

#include "api/python/values/python.h"

namespace anadrome::python {

/// The GIL, which is held but while a plan is made, lets in one thread at a time.
class Schedule {
 public:
  explicit Schedule(const std::string& options);
  /// By any thread at any time.
  ~Schedule();
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  /// (kind, what, tier, record, again, first, last, branch, slot, begin, units)
  py::tuple next();
  void end(std::int64_t steps);

 private:
  anadrome_schedule* stream_ = nullptr;
};

void define_schedule(py::module_& module);

}  // namespace anadrome::python

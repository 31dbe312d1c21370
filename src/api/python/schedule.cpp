// SPDX-License-Identifier: BSD-2-Clause
// anadrome_schedule for Python. anadrome._schedule has what users see.
#include <anadrome/schedule.h>

#include <cstdint>
#include <string>

#include "api/python/module.h"
#include "api/python/values/errors.h"

namespace anadrome::python {
namespace {

/// The GIL, which is held but while a plan is made, lets in one thread at a time.
class Schedule {
 public:
  explicit Schedule(const std::string& options) {
    without_gil([&] { return anadrome_schedule_open(options.c_str(), &stream_); });
  }
  /// By any thread at any time.
  ~Schedule() { anadrome_schedule_close(&stream_); }
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  /// (kind, what, tier, record, again, first, last, branch, slot, begin, units)
  py::tuple next() {
    anadrome_schedule_action a = {};
    check(anadrome_schedule_next(stream_, &a));
    return py::make_tuple(static_cast<int>(a.kind), static_cast<int>(a.what), a.tier, a.record != 0,
                          a.again != 0, a.first, a.last, a.branch, a.slot, a.begin, a.units);
  }
  void end(std::int64_t steps) { check(anadrome_schedule_end(stream_, steps)); }

 private:
  anadrome_schedule* stream_ = nullptr;
};

}  // namespace

void define_schedule(py::module_& module) {
  py::class_<Schedule>(module, "Schedule")
      .def(py::init<const std::string&>())
      .def("next", &Schedule::next)
      .def("end", &Schedule::end);
}

}  // namespace anadrome::python

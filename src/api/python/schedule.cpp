// SPDX-License-Identifier: BSD-2-Clause
#include "api/python/schedule.h"

#include "api/python/values/errors.h"

namespace anadrome::python {

Schedule::Schedule(const std::string& options) {
  anadrome_status status = ANADROME_OK;
  {
    const py::gil_scoped_release others_run;
    status = anadrome_schedule_open(options.c_str(), &stream_);
  }
  check(status);
}

Schedule::~Schedule() { anadrome_schedule_close(&stream_); }

py::tuple Schedule::next() {
  anadrome_schedule_action a = {};
  check(anadrome_schedule_next(stream_, &a));
  return py::make_tuple(static_cast<int>(a.kind), static_cast<int>(a.what), a.tier, a.record != 0,
                        a.again != 0, a.first, a.last, a.branch, a.slot, a.begin, a.units);
}

void Schedule::end(std::int64_t steps) { check(anadrome_schedule_end(stream_, steps)); }

void define_schedule(py::module_& module) {
  py::class_<Schedule>(module, "Schedule")
      .def(py::init<const std::string&>())
      .def("next", &Schedule::next)
      .def("end", &Schedule::end);
}

}  // namespace anadrome::python

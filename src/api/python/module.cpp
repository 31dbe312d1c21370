// SPDX-License-Identifier: BSD-2-Clause
// anadrome._core: the C interface for the modules of python/anadrome. Not for users.
#include "api/python/log.h"
#include "api/python/run.h"
#include "api/python/schedule.h"
#include "api/python/sketch.h"
#include "api/python/store.h"
#include "api/python/values/communicator.h"
#include "api/python/values/lent.h"
#include "api/python/values/python.h"

namespace {

using anadrome::python::Run;
using anadrome::python::Store;

void define_run(py::module_& module) {
  py::class_<Run>(module, "Run")
      .def(py::init<py::object>())
      .def("set", &Run::set)
      .def("set_stream", &Run::set_stream)
      .def("add_array", &Run::add_array)
      .def("add_packed", &Run::add_packed)
      .def("add_varying", &Run::add_varying)
      .def("set_tolerance", &Run::set_tolerance)
      .def("begin", &Run::begin)
      .def("rewind", &Run::rewind)
      .def("pass_", &Run::pass)
      .def("next", &Run::next)
      .def("solve", &Run::solve)
      .def("check_gradient", &Run::check_gradient)
      .def("close", &Run::close)
      .def("finish_forward", &Run::finish_forward)
      .def("fail", &Run::fail)
      .def("request_stop", &Run::request_stop)
      .def("resumed", &Run::resumed)
      .def("statistics", &Run::statistics)
      .def_property_readonly("closed", &Run::closed);
}

void define_store(py::module_& module) {
  py::class_<Store>(module, "Store")
      .def(py::init<py::object, std::string>())
      .def("put", &Store::put)
      .def("get", &Store::get)
      .def("drop", &Store::drop)
      .def("expect", &Store::expect)
      .def("sync", &Store::sync)
      .def("close", &Store::close)
      .def("statistics", &Store::statistics)
      .def_property_readonly("closed", &Store::closed);
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.def("version", &anadrome_version);
  module.attr("has_mpi") = anadrome::python::kHasMpi;
  anadrome::python::define_lent(module);
  anadrome::python::define_log(module);
  define_run(module);
  define_store(module);
  anadrome::python::define_schedule(module);
  anadrome::python::define_sketch(module);
}

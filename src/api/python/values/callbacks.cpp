// SPDX-License-Identifier: BSD-2-Clause
#include "api/python/values/callbacks.h"

namespace anadrome::python {
namespace {

py::object function_of(const py::dict& functions, const char* name) {
  return functions.contains(name) ? py::object(functions[name]) : py::none();
}

// The number of steps that a function returned, or None: all of them.
void take_reached(const py::object& returned, std::int64_t* reached) {
  if (!returned.is_none()) *reached = integer_of(returned);
}

}  // namespace

void Thrown::keep(const py::error_already_set& exception) {
  if (!first_) first_.emplace(exception);
  anadrome_fail(run_, describe(exception).c_str());
}

void Thrown::check(anadrome_status status) {
  if (status == ANADROME_OK) return;
  std::optional<py::error_already_set> own;
  own.swap(first_);
  if (own) throw py::error_already_set(*own);
  python::check(status);
}

std::int64_t integer_of(const py::object& value) {
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!index) throw py::error_already_set();
  const long long number = PyLong_AsLongLong(index.ptr());
  if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return number;
}

Model::Model(const py::dict& functions, Thrown& thrown, StateWatch& watch)
    : Callbacks(thrown),
      watch_(watch),
      start_(function_of(functions, "start")),
      advance_(function_of(functions, "advance")),
      record_(function_of(functions, "record")),
      turn_(function_of(functions, "turn")),
      adjoint_(function_of(functions, "adjoint")),
      undo_(function_of(functions, "undo")) {
  model_.size = sizeof model_;
  model_.context = this;
  if (!start_.is_none()) model_.start = called<&Model::start_>;
  if (!advance_.is_none()) model_.advance = advance;
  if (!record_.is_none()) model_.record = record;
  if (!turn_.is_none()) model_.turn = called<&Model::turn_>;
  if (!adjoint_.is_none()) model_.adjoint = called<&Model::adjoint_>;
  if (!undo_.is_none()) model_.undo = called<&Model::undo_>;
}

int Model::advance(void* context, std::int64_t first, std::int64_t last, std::int64_t* reached) {
  const Model& self = *static_cast<Model*>(context);
  return self.thrown_.guard([&] {
    self.watch_.before();
    take_reached(self.advance_(first, last), reached);
    self.watch_.after();
  });
}

int Model::record(void* context, std::int64_t step, std::int64_t* reached) {
  const Model& self = *static_cast<Model*>(context);
  return self.thrown_.guard([&] { take_reached(self.record_(step), reached); });
}

Gradient::Gradient(const py::dict& settings, Thrown& thrown)
    : Callbacks(thrown),
      perturb_(function_of(settings, "perturb")),
      objective_(function_of(settings, "objective")),
      derivative_(function_of(settings, "derivative")),
      mask_(function_of(settings, "mask")),
      pairs_(py::cast<std::string>(settings["pairs"])),
      report_(py::cast<std::string>(settings["report"])) {
  gradient_.size = sizeof gradient_;
  gradient_.context = this;
  if (!perturb_.is_none()) gradient_.perturb = called<&Gradient::perturb_>;
  if (!objective_.is_none()) gradient_.objective = objective;
  if (!derivative_.is_none()) gradient_.derivative = derivative;
  if (!mask_.is_none()) gradient_.mask = called<&Gradient::mask_>;
  gradient_.pairs = pairs_.c_str();
  gradient_.report = report_.empty() ? nullptr : report_.c_str();
  gradient_.seeds = py::cast<std::int64_t>(settings["seeds"]);
  gradient_.epsilon = py::cast<double>(settings["epsilon"]);
  gradient_.product_steps = py::cast<std::int64_t>(settings["product_steps"]);
}

int Gradient::objective(void* context, double* objective) {
  const Gradient& self = *static_cast<Gradient*>(context);
  return self.thrown_.guard([&] { *objective = py::float_(self.objective_()); });
}

int Gradient::derivative(void* context, std::int64_t seed, double* derivative) {
  const Gradient& self = *static_cast<Gradient*>(context);
  return self.thrown_.guard([&] { *derivative = py::float_(self.derivative_(seed)); });
}

}  // namespace anadrome::python

// SPDX-License-Identifier: BSD-2-Clause
// Python functions as callbacks of C. An exception fails the run on every rank; on the rank where
// it was raised the call that led there raises it again.
#pragma once

#include <anadrome/gradient.h>

#include <cstdint>
#include <optional>
#include <string>

#include "api/python/values/errors.h"
#include "api/python/values/python.h"
#include "api/python/values/state_watch.h"

namespace anadrome::python {

/// The first exception that left a function of the caller's since the last call.
class Thrown {
 public:
  explicit Thrown(anadrome_run* const& run) : run_(run) {}

  /// Run `body` with the GIL. 0, or 1 and the run has failed.
  template <class Body>
  int guard(Body&& body) noexcept {
    try {
      const py::gil_scoped_acquire gil;
      try {
        body();
        return 0;
      } catch (py::error_already_set& exception) {
        keep(exception);
      }
    } catch (...) {
      anadrome_fail(run_, "no memory to call a function of Python");
    }
    return 1;
  }

  void forget() { first_.reset(); }
  /// Raise it again, or the failure that C has, unless `status` is OK. The GIL is held.
  void check(anadrome_status status);

 private:
  void keep(const py::error_already_set& exception);

  anadrome_run* const& run_;
  std::optional<py::error_already_set> first_;
};

/// What C calls with its address as the context.
template <class Self>
class Callbacks {
 protected:
  explicit Callbacks(Thrown& thrown) : thrown_(thrown) {}

  /// Calls a function of Python's whose result is of no interest.
  template <py::object Self::*kFunction, class... Arguments>
  static int called(void* context, Arguments... arguments) {
    const Self& self = *static_cast<Self*>(context);
    return self.thrown_.guard([&] { (self.*kFunction)(arguments...); });
  }

  Thrown& thrown_;
};

/// The number that Python's `value` is; raises TypeError. The GIL is held.
std::int64_t integer_of(const py::object& value);

/// The model for anadrome_solve; functions that are None are absent. It must outlive the call.
class Model : public Callbacks<Model> {
 public:
  Model(const py::dict& functions, Thrown& thrown, StateWatch& watch);
  const anadrome_model* get() const { return &model_; }

 private:
  static int advance(void* context, std::int64_t first, std::int64_t last, std::int64_t* reached);
  static int record(void* context, std::int64_t step, std::int64_t* reached);

  StateWatch& watch_;
  py::object start_, advance_, record_, turn_, adjoint_, undo_;
  anadrome_model model_{};
};

/// The arguments of anadrome_check_gradient beside the model. It must outlive the call.
class Gradient : public Callbacks<Gradient> {
 public:
  Gradient(const py::dict& settings, Thrown& thrown);
  const anadrome_gradient* get() const { return &gradient_; }

 private:
  static int objective(void* context, double* objective);
  static int derivative(void* context, std::int64_t seed, double* derivative);

  py::object perturb_, objective_, derivative_, mask_;
  std::string pairs_, report_;
  anadrome_gradient gradient_{};
};

}  // namespace anadrome::python

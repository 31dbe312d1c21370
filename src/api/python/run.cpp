// SPDX-License-Identifier: BSD-2-Clause
// anadrome_run for Python. The GIL is released in every call that may wait for other ranks or for
// the disk. anadrome._run has what users see.
#include <anadrome/device.h>
#include <anadrome/gradient.h>

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/python/module.h"
#include "api/python/values/callbacks.h"
#include "api/python/values/communicator.h"
#include "api/python/values/fields.h"
#include "api/python/values/state_watch.h"
#include "api/python/values/structures.h"

namespace anadrome::python {
namespace {

class Run {
 public:
  explicit Run(const py::object& comm) {
    const MPI_Comm handle = communicator_of(comm);
    enter([&] { return anadrome_open(handle, &run_); });
  }
  /// Closes nothing: closing is collective, and whoever destroys this may be any thread at any
  /// time.
  ~Run() = default;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void set(const std::string& key, const std::string& value) {
    check(anadrome_set(handle(), key.c_str(), value.c_str()));
  }
  void add_array(const std::string& name, int role, const py::object& array) {
    Array& added = arrays_.emplace_back(name, array, Array::Use::kField, stream_);
    const auto as = static_cast<anadrome_role>(role);
    const anadrome_status status =
        added.on_device()
            ? anadrome_add_device_field(handle(), name.c_str(), as, added.type(), added.values(),
                                        added.count(), stream_of(stream_))
            : anadrome_add_field(handle(), name.c_str(), as, added.type(), added.values(),
                                 added.count());
    if (status != ANADROME_OK) arrays_.pop_back();
    check(status);
    const std::vector<std::int64_t> shape = added.shape();
    if (!shape.empty())
      check(
          anadrome_set_shape(handle(), name.c_str(), static_cast<int>(shape.size()), shape.data()));
    if (added.on_device()) return watch_.give_up();
    if (role == ANADROME_ROLE_STATE) watch_.add_array(name, array, added.values(), added.bytes());
  }
  /// Of the fields on a device that come next, as the array API has it.
  void set_stream(py::object stream) { stream_ = std::move(stream); }
  void add_packed(const std::string& name, int role, std::size_t bytes, py::function pack,
                  py::function unpack) {
    packed_.push_back(std::make_unique<Packed>(
        Packed{name, std::move(pack), std::move(unpack), py::none(), &thrown_}));
    watch_.give_up();
    check(anadrome_add_packed(handle(), name.c_str(), static_cast<anadrome_role>(role), bytes,
                              Packed::packing, Packed::unpacking, packed_.back().get()));
  }
  void add_varying(const std::string& name, std::size_t most, py::function size, py::function pack,
                   py::function unpack) {
    packed_.push_back(std::make_unique<Packed>(
        Packed{name, std::move(pack), std::move(unpack), std::move(size), &thrown_}));
    watch_.give_up();
    check(anadrome_add_varying(handle(), name.c_str(), ANADROME_ROLE_STATE, most, Packed::asking,
                               Packed::packing, Packed::unpacking, packed_.back().get()));
  }
  void set_tolerance(const std::string& name, double absolute) {
    check(anadrome_set_tolerance(handle(), name.c_str(), absolute));
  }
  void begin(std::int64_t steps) {
    thrown_.forget();
    watch_.cut_short();
    enter([&] { return anadrome_begin(run_, steps); });
  }
  void rewind() {
    enter([&] { return anadrome_rewind(run_); });
  }
  void pass(int direction) {
    enter([&] { return anadrome_pass(run_, static_cast<anadrome_direction>(direction)); });
  }
  /// None at DONE.
  py::object next() {
    watch_.after();
    anadrome_action action{};
    enter([&] { return anadrome_next(run_, &action); });
    if (action.kind == ANADROME_ADVANCE) watch_.before();
    if (action.kind == ANADROME_DONE) return py::none();
    return to_python(action);
  }
  void solve(std::int64_t steps, const py::dict& functions) {
    thrown_.forget();
    const Model model(functions, thrown_, watch_);
    enter([&] { return anadrome_solve(run_, steps, model.get()); });
  }
  py::dict check_gradient(std::int64_t steps, const py::dict& functions, const py::dict& settings) {
    thrown_.forget();
    const Model model(functions, thrown_, watch_);
    const Gradient gradient(settings, thrown_);
    anadrome_gradient_check found{};
    found.size = sizeof found;
    enter(
        [&] { return anadrome_check_gradient(run_, steps, model.get(), gradient.get(), &found); });
    return to_python(found);
  }
  void close() {
    if (run_ == nullptr) return;
    anadrome_status status = ANADROME_OK;
    {
      const Turnstile turnstile(*this);
      anadrome_run* closing = std::exchange(run_, nullptr);  // request_stop finds no run any more
      const py::gil_scoped_release others_run;
      status = anadrome_close(&closing);
    }
    watch_ = {};
    arrays_.clear();
    packed_.clear();
    thrown_.check(status);
  }
  void finish_forward(std::int64_t steps) {
    check(anadrome_finish_forward(handle(), steps));
    watch_.cut_short();
  }
  void fail(const std::string& why) {
    check(anadrome_fail(handle(), why.c_str()));
    watch_.cut_short();
  }
  void request_stop() noexcept {
    if (run_ != nullptr) anadrome_request_stop(run_);
  }
  /// (phase, step)
  py::tuple resumed() const {
    anadrome_phase phase = ANADROME_PHASE_IDLE;
    std::int64_t step = 0;
    check(anadrome_resumed(handle(), &phase, &step));
    return py::make_tuple(static_cast<int>(phase), step);
  }
  py::dict statistics() const {
    anadrome_stats stats{};
    stats.size = sizeof stats;
    check(anadrome_statistics(handle(), &stats));
    return to_python(stats);
  }
  bool closed() const { return run_ == nullptr; }

 private:
  // One call that may wait at a time: other threads of Python run meanwhile.
  class Turnstile {
   public:
    explicit Turnstile(Run& run) : run_(run) {
      if (run.inside_ != 0) {
        raise(ANADROME_ERR_ORDER,
              "a call of this run is under way, in another thread or around this callback");
      }
      run.inside_ = PyThread_get_thread_ident();
    }
    ~Turnstile() { run_.inside_ = 0; }
    Turnstile(const Turnstile&) = delete;
    Turnstile& operator=(const Turnstile&) = delete;

   private:
    Run& run_;
  };

  template <class Call>
  void enter(Call&& call) {
    anadrome_status status = ANADROME_OK;
    {
      const Turnstile turnstile(*this);
      const py::gil_scoped_release others_run;
      status = call();
    }
    thrown_.check(status);
  }

  /// The handle, unless another thread is in a call that may wait.
  anadrome_run* handle() const {
    if (inside_ != 0 && inside_ != PyThread_get_thread_ident()) {
      raise(ANADROME_ERR_ORDER,
            "another thread is in a call of this run; a run is used by one thread at a time");
    }
    return run_;
  }

  anadrome_run* run_ = nullptr;
  unsigned long inside_ = 0;  // the thread that is in a call that may wait; guarded by the GIL
  Thrown thrown_{run_};
  py::object stream_ = py::none();
  std::list<Array> arrays_;                      // their memory is held
  std::vector<std::unique_ptr<Packed>> packed_;  // C has their addresses
  StateWatch watch_;
};

}  // namespace

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

}  // namespace anadrome::python

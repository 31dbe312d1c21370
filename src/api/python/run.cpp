// SPDX-License-Identifier: BSD-2-Clause
#include "api/python/run.h"

#include <utility>

#include "api/python/values/actions.h"
#include "api/python/values/communicator.h"
#include "api/python/values/structures.h"

namespace anadrome::python {
// One call that may wait at a time: other threads of Python run meanwhile.
class Run::Turnstile {
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
void Run::enter(Call&& call) {
  anadrome_status status = ANADROME_OK;
  {
    const Turnstile turnstile(*this);
    const py::gil_scoped_release others_run;
    status = call();
  }
  thrown_.check(status);
}

anadrome_run* Run::handle() const {
  if (inside_ != 0 && inside_ != PyThread_get_thread_ident()) {
    raise(ANADROME_ERR_ORDER,
          "another thread is in a call of this run; a run is used by one thread at a time");
  }
  return run_;
}

Run::Run(const py::object& comm) {
  const MPI_Comm handle = communicator_of(comm);
  enter([&] { return anadrome_open(handle, &run_); });
}

void Run::set(const std::string& key, const std::string& value) {
  check(anadrome_set(handle(), key.c_str(), value.c_str()));
}

void Run::add_array(const std::string& name, int role, const py::object& array) {
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
    check(anadrome_set_shape(handle(), name.c_str(), static_cast<int>(shape.size()), shape.data()));
  if (added.on_device()) return watch_.give_up();
  if (role == ANADROME_ROLE_STATE) watch_.add_array(name, array, added.values(), added.bytes());
}

void Run::add_packed(const std::string& name, int role, std::size_t bytes, py::function pack,
                     py::function unpack) {
  packed_.push_back(std::make_unique<Packed>(
      Packed{name, std::move(pack), std::move(unpack), py::none(), &thrown_}));
  watch_.give_up();
  check(anadrome_add_packed(handle(), name.c_str(), static_cast<anadrome_role>(role), bytes,
                            Packed::packing, Packed::unpacking, packed_.back().get()));
}

void Run::add_varying(const std::string& name, std::size_t most, py::function size,
                      py::function pack, py::function unpack) {
  packed_.push_back(std::make_unique<Packed>(
      Packed{name, std::move(pack), std::move(unpack), std::move(size), &thrown_}));
  watch_.give_up();
  check(anadrome_add_varying(handle(), name.c_str(), ANADROME_ROLE_STATE, most, Packed::asking,
                             Packed::packing, Packed::unpacking, packed_.back().get()));
}

void Run::set_tolerance(const std::string& name, double absolute) {
  check(anadrome_set_tolerance(handle(), name.c_str(), absolute));
}

void Run::begin(std::int64_t steps) {
  thrown_.forget();
  watch_.cut_short();
  enter([&] { return anadrome_begin(run_, steps); });
}

void Run::rewind() {
  enter([&] { return anadrome_rewind(run_); });
}

void Run::pass(int direction) {
  enter([&] { return anadrome_pass(run_, static_cast<anadrome_direction>(direction)); });
}

py::object Run::next() {
  watch_.after();
  anadrome_action action{};
  enter([&] { return anadrome_next(run_, &action); });
  if (action.kind == ANADROME_ADVANCE) watch_.before();
  if (action.kind == ANADROME_DONE) return py::none();
  return to_python(action);
}

void Run::solve(std::int64_t steps, const py::dict& functions) {
  thrown_.forget();
  const Model model(functions, thrown_, watch_);
  enter([&] { return anadrome_solve(run_, steps, model.get()); });
}

py::dict Run::check_gradient(std::int64_t steps, const py::dict& functions,
                             const py::dict& settings) {
  thrown_.forget();
  const Model model(functions, thrown_, watch_);
  const Gradient gradient(settings, thrown_);
  anadrome_gradient_check found{};
  found.size = sizeof found;
  enter([&] { return anadrome_check_gradient(run_, steps, model.get(), gradient.get(), &found); });
  return to_python(found);
}

void Run::close() {
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

void Run::finish_forward(std::int64_t steps) {
  check(anadrome_finish_forward(handle(), steps));
  watch_.cut_short();
}

void Run::fail(const std::string& why) {
  check(anadrome_fail(handle(), why.c_str()));
  watch_.cut_short();
}

void Run::request_stop() noexcept {
  if (run_ != nullptr) anadrome_request_stop(run_);
}

py::tuple Run::resumed() const {
  anadrome_phase phase = ANADROME_PHASE_IDLE;
  std::int64_t step = 0;
  check(anadrome_resumed(handle(), &phase, &step));
  return py::make_tuple(static_cast<int>(phase), step);
}

py::dict Run::statistics() const {
  anadrome_stats stats{};
  stats.size = sizeof stats;
  check(anadrome_statistics(handle(), &stats));
  return to_python(stats);
}

}  // namespace anadrome::python

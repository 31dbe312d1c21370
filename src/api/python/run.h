// SPDX-License-Identifier: BSD-2-Clause
// anadrome_run for Python. The GIL is released in every call that may wait for other ranks or for
// the disk. anadrome._run has what users see.
#pragma once

#include <anadrome/device.h>
#include <anadrome/gradient.h>

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "api/python/values/callbacks.h"
#include "api/python/values/fields.h"
#include "api/python/values/state_watch.h"

namespace anadrome::python {

class Run {
 public:
  explicit Run(const py::object& comm);
  /// Closes nothing: closing is collective, and whoever destroys this may be any thread at any
  /// time.
  ~Run() = default;
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  void set(const std::string& key, const std::string& value);
  void add_array(const std::string& name, int role, const py::object& array);
  /// Of the fields on a device that come next, as the array API has it.
  void set_stream(py::object stream) { stream_ = std::move(stream); }
  void add_packed(const std::string& name, int role, std::size_t bytes, py::function pack,
                  py::function unpack);
  void add_varying(const std::string& name, std::size_t most, py::function size, py::function pack,
                   py::function unpack);
  void set_tolerance(const std::string& name, double absolute);

  void begin(std::int64_t steps);
  void rewind();
  void pass(int direction);
  /// None at DONE.
  py::object next();
  void solve(std::int64_t steps, const py::dict& functions);
  py::dict check_gradient(std::int64_t steps, const py::dict& functions, const py::dict& settings);
  void close();

  void finish_forward(std::int64_t steps);
  void fail(const std::string& why);
  void request_stop() noexcept;
  /// (phase, step)
  py::tuple resumed() const;
  py::dict statistics() const;
  bool closed() const { return run_ == nullptr; }

 private:
  class Turnstile;
  template <class Call>
  void enter(Call&& call);
  /// The handle, unless another thread is in a call that may wait.
  anadrome_run* handle() const;

  anadrome_run* run_ = nullptr;
  unsigned long inside_ = 0;  // the thread that is in a call that may wait; guarded by the GIL
  Thrown thrown_{run_};
  py::object stream_ = py::none();
  std::list<Array> arrays_;                      // their memory is held
  std::vector<std::unique_ptr<Packed>> packed_;  // C has their addresses
  StateWatch watch_;
};

}  // namespace anadrome::python

// SPDX-License-Identifier: BSD-2-Clause
// A small nonlinear model whose state and adjoint variables are on the fake device: every step and
// adjoint step is a kernel, and a wrong bit of any state shows in the gradient. A field of the
// state is on the host.
#pragma once

#include <anadrome/anadrome.h>
#include <anadrome/device.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace anadrome::test {

using Numbers = std::vector<double>;

/// The gradient, with every state kept on the host.
Numbers reference_gradient(std::size_t count, std::int64_t steps, bool tape = false);

class DeviceModel {
 public:
  /// `count` elements on this rank; `tape`: adjoint steps read what recorded ones write.
  explicit DeviceModel(std::size_t count, bool exchanged = false, bool default_stream = false,
                       bool tape = false);
  ~DeviceModel();
  DeviceModel(const DeviceModel&) = delete;
  DeviceModel& operator=(const DeviceModel&) = delete;

  anadrome_status add_fields(anadrome_run* run);
  /// Queues x_0, and forgets the adjoint variables.
  void start(anadrome_run* run);
  /// Does what the action says. False: it is DONE.
  bool act(anadrome_run* run, const anadrome_action& action);
  /// Waits for the device.
  Numbers gradient();
  /// Of the arrays here.
  std::size_t bytes() const;
  void* stream() const { return stream_; }

 private:
  void step(anadrome_run* run, std::int64_t k, bool record);
  void spoil(double* u, std::int64_t* v);
  const double* u_now(anadrome_run* run) const;
  const std::int64_t* v_now(anadrome_run* run) const;

  const std::size_t count_;
  const bool exchanged_, tape_;
  void* stream_ = nullptr;
  bool owns_stream_ = false;
  double *u_ = nullptr, *adjoint_ = nullptr, *recorded_ = nullptr;
  std::int64_t* v_ = nullptr;
  double time_ = 0;
  Numbers last_;  // x_n, where a pass begins
  int u_field_ = -1, v_field_ = -1;
};

/// What became of a run.
struct Result {
  anadrome_status status = ANADROME_OK;
  std::string message;
  Numbers gradient;
  anadrome_stats stats{};
};
/// Sets the options "key=value key=value".
void set_options(anadrome_run* run, const std::string& options);
/// A sweep from begin to DONE; `after` sees each action before it is acted on.
Result sweep(anadrome_run* run, DeviceModel& model, std::int64_t steps,
             const std::function<void(const anadrome_action&)>& before = {});
/// The rest of a sweep that has begun.
Result play(anadrome_run* run, DeviceModel& model,
            const std::function<void(const anadrome_action&)>& before = {});

}  // namespace anadrome::test

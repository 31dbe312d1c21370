// SPDX-License-Identifier: BSD-2-Clause
// How long steps take on a device: between two events on the caller's stream, which are read some
// steps later. By the clock of the host a step takes as long as it takes to queue it.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>
#include <span>
#include <vector>

#include "device/device.h"
#include "store/memory/device_mover.h"

namespace anadrome::engine {

class StepClock {
 public:
  /// With the state fields of the sweep that begins.
  void begin(std::span<const store::Field> state_fields);
  /// Are steps on a device, on this rank?
  bool on() const { return mover_ != nullptr; }
  /// An action is handed out, and comes back: its steps are between.
  void start();
  void stop(const anadrome_action& action, std::int64_t steps);

  struct Timed {
    anadrome_action action;
    std::int64_t steps;
    double seconds;
  };
  /// Calls each(Timed) for actions that are over by now.
  template <class Each>
  void over(const Each& each) {
    while (!waiting_.empty()) {
      const double seconds =
          mover_->device().seconds_between(waiting_.front().start, waiting_.front().stop);
      if (seconds < 0) return;
      each(Timed{waiting_.front().action, waiting_.front().steps, seconds});
      waiting_.erase(waiting_.begin());
    }
  }

 private:
  struct Waiting {
    anadrome_action action;
    std::int64_t steps;
    device::Ticket start, stop;
  };
  const store::DeviceMover* mover_ = nullptr;
  device::Ticket started_;
  std::vector<Waiting> waiting_;  ///< a few; a deque would take memory when a run is made
};

}  // namespace anadrome::engine

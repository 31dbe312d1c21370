// SPDX-License-Identifier: BSD-2-Clause
// What the tests of sweeps on the fake device have in common: sizes, and a run.
#pragma once

#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "device_model.h"
#include "mpi_main.h"

namespace anadrome::test {

constexpr std::int64_t kSteps = 23;
constexpr std::size_t kElements = 40000;  // 320 kB a field: a block holds one state

// The last of many ranks has nothing on its device.
inline std::size_t elements() {
  return ranks() > 2 && rank() == ranks() - 1 ? 0
                                              : kElements + 17 * static_cast<std::size_t>(rank());
}

/// Memory for so many states.
inline std::string room_for(double states) {
  return std::to_string(static_cast<std::int64_t>(states * 1.01 * 2 * (kElements + 100) * 8)) + "B";
}

class Handle {
 public:
  explicit Handle(const std::string& options) {
    EXPECT_EQ(anadrome_open(MPI_COMM_WORLD, &run_), ANADROME_OK);
    anadrome_set(run_, "directory", directory().c_str());
    set_options(run_, options);
  }
  ~Handle() { anadrome_close(&run_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator anadrome_run*() const { return run_; }  // NOLINT(google-explicit-constructor)
  anadrome_status close() { return anadrome_close(&run_); }

 private:
  anadrome_run* run_ = nullptr;
};

/// Collective.
inline bool everywhere(bool here) {
  int all = here ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all == 1;
}

/// Options: memory for so many states on the host and on the device.
inline std::string sized(double host, double device) {
  return " memory=" + room_for(host) + " device_memory=" + (device == 0 ? "0" : room_for(device));
}

}  // namespace anadrome::test

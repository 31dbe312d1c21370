// SPDX-License-Identifier: BSD-2-Clause
// The life of a process with a run that commits when it is stopped, and goes on with what an
// earlier process left. How many steps there are it does not say beforehand, so files are made as
// it goes on: for 16, 16, 32, .. anchors.
#pragma once

#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mpi_main.h"

namespace anadrome::test {

struct StoppedLife {
  static constexpr std::int64_t kSteps = 150;
  anadrome_status status = ANADROME_OK;
  std::string message;
  std::int64_t resumed_at = 0;
  std::vector<double> adjoint = std::vector<double>(300, 0);
  anadrome_stats stats = {};

  using Settings = std::vector<std::pair<const char*, std::string>>;
  /// Asks to be stopped where x_k is live and k is `stop_at` or more; commits then alone.
  void live(std::int64_t stop_at, const Settings& more) {
    anadrome_run* run = nullptr;
    anadrome_open(MPI_COMM_WORLD, &run);
    Settings settings = {{"schedule", "async"},
                         {"interval", "1"},
                         {"resume", "on"},
                         {"checkpoint_interval", "1000"},
                         {"memory", "64KiB"}};
    settings.insert(settings.end(), more.begin(), more.end());
    for (const auto& [key, value] : settings)
      EXPECT_EQ(anadrome_set(run, key, value.c_str()), ANADROME_OK) << anadrome_last_error();
    std::vector<double> x(adjoint.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1e-3 * static_cast<double>(i);
    anadrome_add_field(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, x.data(), x.size());
    status = anadrome_begin(run, ANADROME_STEPS_UNKNOWN);
    anadrome_phase phase = ANADROME_PHASE_IDLE;
    anadrome_resumed(run, &phase, &resumed_at);
    anadrome_action action{};
    while (status == ANADROME_OK && (status = anadrome_next(run, &action)) == ANADROME_OK &&
           action.kind != ANADROME_DONE) {
      if (action.kind == ANADROME_ADVANCE) {
        for (std::int64_t k = action.first; k < std::min(action.last, kSteps); ++k) {
          for (double& value : x) value += 0.01 * value * (1 - value) + 1e-5;
        }
        const bool forward = action.again == 0;
        if (forward && action.last >= kSteps) anadrome_finish_forward(run, kSteps);
        if (forward && action.last >= stop_at && rank() == 0) anadrome_request_stop(run);
      }
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (action.kind == ANADROME_TURN) adjoint[i] = x[i];
        if (action.kind == ANADROME_ADJOINT) adjoint[i] *= 1.01 - 0.02 * x[i];
      }
    }
    if (status != ANADROME_OK) message = anadrome_last_error();
    stats.size = sizeof stats;
    anadrome_statistics(run, &stats);
    EXPECT_EQ(anadrome_close(&run), ANADROME_OK) << anadrome_last_error();
  }
};

}  // namespace anadrome::test

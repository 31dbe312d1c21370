// SPDX-License-Identifier: BSD-2-Clause
// The lines of a run for its user: a warning, once in a sweep, and the progress line.
#pragma once

#include <initializer_list>
#include <string_view>

#include "engine/asked/log.h"
#include "engine/asked/options.h"
#include "engine/sweep/progress.h"
#include "engine/sweep/sweep_state.h"

namespace anadrome::engine {

class Warnings {
 public:
  Warnings(bool first_rank, const Options& options, SweepState& sweep)
      : first_rank_(first_rank), options_(options), sweep_(sweep) {}

  /// Rank 0 says it. More of the same is counted in the statistics.
  void warn(std::initializer_list<std::string_view> what);
  /// The same, whatever was said before.
  void say(std::initializer_list<std::string_view> what,
           anadrome_log_level level = ANADROME_LOG_WARNING);
  void start_progress() { progress_.start(options_.progress && first_rank_); }
  Progress& progress() { return progress_; }

 private:
  const bool first_rank_;
  const Options& options_;
  SweepState& sweep_;
  Progress progress_;
};

}  // namespace anadrome::engine

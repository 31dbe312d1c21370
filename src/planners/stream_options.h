// SPDX-License-Identifier: BSD-2-Clause
// A sweep in the abstract, asked for in words: "schedule=hrevolve steps=1000 slots=20 write=2". The
// words are those of `anadrome count`.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "planners/streams.h"

namespace anadrome::schedule {

struct StreamOptions {
  const StreamEntry* schedule = nullptr;
  std::vector<std::int64_t> steps;  ///< of each branch; kUnknown
  std::int64_t slots = 0;           ///< states in RAM; bytes if `bytes` are given
  std::int64_t disk_slots = kNoLimit;
  std::int64_t interval = 0;                         ///< steps between anchors; 0: whatever is best
  std::int64_t tape_slots = 0;                       ///< of a kept tape; 0: tapes are not kept
  bool record = false;                               ///< the adjoint of a step needs its tape
  bool tape_restarts = false;                        ///< the tape of step k holds x_{k+1}
  bool reducible = false;                            ///< the objective of branches
  bool charged_inputs = false;                       ///< x_0 of each branch is kept
  std::vector<double> advance = {1}, adjoint = {0};  ///< one for all steps, or one for each
  double write = 0, read = 0;
  std::vector<std::int64_t> bytes;  ///< of x_0 .. x_{n-1}; empty: all are alike

  /// Throws ERR_ARGUMENT: an unknown word names the nearest one, a value that makes no sense says
  /// what is expected, and so do words that do not go together.
  explicit StreamOptions(std::string_view text);

 private:
  void check();
  void check_steps() const;
  void check_costs();
};

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// The states that a loop of the caller's has room for, by a stream: all of the memory is its own.
#pragma once

#include <cstdint>

#include "schedule/words/costs.h"
#include "tool/schedules/problems/what_if.h"

namespace anadrome::tool {

class StreamRoom {
 public:
  explicit StreamRoom(const WhatIf& question);

  /// Tapes that are kept take some of them.
  std::int64_t slots() const { return slots_; }
  /// States that may be on disk at a time.
  std::int64_t disk_states() const { return disk_states_; }
  std::int64_t bytes_of(std::int64_t slots) const { return slots * state_bytes_; }
  const schedule::StepCosts& costs() const { return costs_; }

 private:
  std::int64_t state_bytes_, slots_, disk_states_ = 0;
  schedule::StepCosts costs_;
};

}  // namespace anadrome::tool

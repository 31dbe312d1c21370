// SPDX-License-Identifier: BSD-2-Clause
// The problem that a run with this much memory would plan: the library's own planning, asked as if
// the run began, its ranks all alike and its times measured.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/sweep/memory_plan.h"
#include "schedule/catalogue.h"
#include "schedule/problem.h"
#include "schedule/words/sweep.h"
#include "tool/schedules/problems/what_if.h"

namespace anadrome::tool {

class RunProblem {
 public:
  /// With the option schedule, or as schedule=auto asks for the row. Throws what begin would
  /// throw: TooLittleMemory, or ERR_UNSUPPORTED.
  enum class Asked { kByName, kByAuto };
  RunProblem(const WhatIf& question, const schedule::Entry& entry, Asked asked = Asked::kByName);
  ~RunProblem();

  const schedule::Problem& problem() const;
  const engine::MemoryPlan& memory() const;
  /// Would schedule=auto do without the disk for small states?
  bool disk_leaves_too_few() const;
  /// Slots of a kept tape, if the run keeps any.
  std::int64_t tape_slots() const { return problem().shared.tape_units; }
  /// States that may be on disk at a time.
  std::int64_t disk_states() const;
  /// Bytes of so many blocks, with the tables and buffers beside them.
  std::int64_t bytes_of(std::int64_t blocks) const {
    return blocks * memory().bytes_per_block + memory().buffer_bytes;
  }
  std::int64_t bytes_of_slots(std::int64_t slots) const;
  /// What the sweep of a schedule of runs leaves for passes; it is played. Nothing: there are none.
  std::optional<schedule::Remains> remains() const;

 private:
  struct Run;
  std::unique_ptr<Run> run_;
};

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
// The decisions of planning for a sweep: a value. Who carries it out reads it; of later decisions
// only the interval between anchors, with the memory that this leaves for slots, is noted here.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/asked/options.h"
#include "engine/sweep/memory_plan.h"
#include "schedule/catalogue.h"
#include "schedule/problem.h"
#include "schedule/words/sweep.h"

namespace anadrome::engine {

struct SweepPlan {
  std::int64_t steps = 0;  ///< n, or schedule::kUnknown until the forward sweep ends
  const schedule::Entry* schedule = nullptr;
  bool record = false;      ///< the adjoint of a step needs its tape
  std::int64_t budget = 0;  ///< bytes on this rank, for which the plan was made
  std::int64_t state_bytes_all_ranks = 0;
  MemoryPlan memory;
  /// Slots that a kept tape takes; 0: no rank has one, or not every rank could keep it.
  std::int64_t tape_slots = 0;
  std::int64_t tape_buffer_bytes = 0;
  bool keeps_tapes = false;                ///< this sweep does
  std::unique_ptr<schedule::Sweep> sweep;  ///< the sweep that is played

  std::int64_t kept_tape_slots() const { return keeps_tapes ? tape_slots : 0; }
  DiskUse disk_use() const;
};

}  // namespace anadrome::engine

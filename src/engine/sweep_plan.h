// What planning decided for a sweep: a value. Who carries it out reads it; of what is decided on
// the way only the interval between anchors, with the memory that this leaves for slots, is noted
// here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/memory_plan.h"
#include "engine/options.h"
#include "schedule/branch_sweep.h"
#include "schedule/catalogue.h"
#include "schedule/list_sweep.h"
#include "schedule/stack_sweep.h"

namespace anadrome::engine {

/// One piece of memory for states of several sizes, which are known; in place of blocks.
struct StackPlan {
  std::int64_t units = 0, unit_bytes = 1;
  std::int64_t smallest = 0, largest = 0;      ///< bytes of any state
  std::unique_ptr<schedule::Planner> planner;  ///< until the sweep has it
  std::vector<std::int64_t> state_units;       ///< by step, where the schedule is a list
  std::int64_t bytes() const { return units * unit_bytes; }
};

struct SweepPlan {
  std::int64_t steps = 0;  ///< n, or schedule::kUnknown until the forward sweep ends
  const schedule::Entry* schedule = nullptr;
  bool record = false;           ///< the adjoint of a step needs its tape
  schedule::BranchOptions join;  ///< without steps: there is one branch
  std::int64_t budget = 0;       ///< bytes on this rank that it was made for
  std::int64_t state_bytes_all_ranks = 0;
  MemoryPlan memory;
  std::optional<StackPlan> stack;
  /// Slots that a kept tape takes; 0: no rank has one, or not every rank could keep it.
  std::int64_t tape_slots = 0;
  std::int64_t tape_buffer_bytes = 0;
  bool keeps_tapes = false;                ///< this sweep does
  std::unique_ptr<schedule::Sweep> sweep;  ///< what is played
  schedule::ListSweep* list = nullptr;     ///< that, where it is a list
  schedule::OverlapTimes planned_times;    ///< that a list of transfers was made for

  bool has_branches() const { return !join.steps.empty(); }
  bool plays_list() const { return schedule->is_list; }
  /// What ranks compare of it; a text that is not made anew.
  const char* list_name() const {
    return schedule->needs.each_step.costs ? "the plan of schedule=offload"
                                           : "the plan of schedule=overlapped";
  }
  std::int64_t kept_tape_slots() const { return keeps_tapes ? tape_slots : 0; }
  /// Every state has a block of its own, as schedules that replace states on disk need them.
  bool alone_in_block() const { return memory.layout.states() == 1 && memory.shape.paged; }
  DiskUse disk_use() const;
};

}  // namespace anadrome::engine

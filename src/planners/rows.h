// SPDX-License-Identifier: BSD-2-Clause
// The parts of the streams' rows: for each planner the function that makes its sweep, and where
// states have several sizes the one that divides memory for them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "planners/join/branch_sweep.h"
#include "schedule/problem.h"
#include "schedule/rows.h"
#include "schedule/words/placement.h"

namespace anadrome::schedule {

/// One piece of memory for states of several sizes, which are known; in place of slots.
struct DividedMemory {
  std::int64_t units = 0, unit_bytes = 1;
  std::int64_t largest = 0;               ///< bytes of any state
  std::unique_ptr<Planner> planner;       ///< until the sweep has it; NULL: the schedule is a list
  std::vector<std::int64_t> state_units;  ///< by step, where the schedule is a list

  std::int64_t bytes() const { return units * unit_bytes; }
};

struct StreamProblem : Problem {
  std::optional<DividedMemory> divided;  ///< nothing: slots
  std::vector<double> step_costs;        ///< of each forward step, in any unit; empty: unknown
  std::vector<double> adjoint_costs;     ///< likewise, seconds
  BranchOptions branches;                ///< without steps: there is one branch
};

SweepPtr make_uneven(StreamProblem& problem);
SweepPtr make_least_memory(StreamProblem& problem);
SweepPtr make_join(StreamProblem& problem);
SweepPtr make_disk_revolve(StreamProblem& problem);
SweepPtr make_hrevolve(StreamProblem& problem);
SweepPtr make_multistage(StreamProblem& problem);
SweepPtr make_double(StreamProblem& problem);
SweepPtr make_overlapped(StreamProblem& problem);
SweepPtr make_offload(StreamProblem& problem);

DividedMemory divide_for_uneven(const StreamProblem& problem, std::vector<std::int64_t> bytes,
                                std::int64_t memory);
DividedMemory divide_for_least_memory(const StreamProblem& problem, std::vector<std::int64_t> bytes,
                                      std::int64_t memory);
DividedMemory divide_for_offload(const StreamProblem& problem, std::vector<std::int64_t> bytes,
                                 std::int64_t memory);

/// Anchors of double whose interval nobody gave, at most.
inline constexpr std::int64_t kMostDoubleAnchors = std::int64_t{1} << 14;

}  // namespace anadrome::schedule

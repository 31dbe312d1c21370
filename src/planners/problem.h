// SPDX-License-Identifier: BSD-2-Clause
// The problem that a row of the streams makes a sweep of: a run's, with what only planners take.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "planners/join/branch_sweep.h"
#include "schedule/problem.h"
#include "schedule/words/placement.h"

namespace anadrome::schedule {

/// One piece of memory for states of several sizes, which are known; in place of slots.
struct DividedMemory {
  std::int64_t units = 0, unit_bytes = 1;
  std::int64_t smallest = 0, largest = 0;  ///< bytes of any state
  std::unique_ptr<Planner> planner;        ///< until the sweep has it; NULL: the schedule is a list
  std::vector<std::int64_t> state_units;   ///< by step, where the schedule is a list
  std::int64_t bytes() const { return units * unit_bytes; }
};

/// Facts of each step; the vectors are another's. NULL: unknown.
struct StepTables {
  const std::vector<double>* costs = nullptr;          ///< of the forward step, in any unit
  const std::vector<double>* adjoint_costs = nullptr;  ///< seconds

  bool all_costs_known() const { return costs != nullptr && adjoint_costs != nullptr; }
};

struct StreamProblem : Problem {
  bool sizes_vary = false;
  DividedMemory* divided = nullptr;  ///< NULL: slots
  std::int64_t largest_state_bytes = 1;
  StepTables tables;
  BranchOptions branches;  ///< without steps: there is one branch
};

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// All schedules as streams, a row each, those that a run plays among them: what a planner needs,
// and how its sweep is made.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "planners/join/branch_sweep.h"
#include "schedule/catalogue.h"
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

/// Anchors of double whose interval nobody gave, at most.
inline constexpr std::int64_t kMostDoubleAnchors = std::int64_t{1} << 14;

/// The states that go to disk.
enum class StreamOnDisk : std::uint8_t {
  kNothing,
  kAnchors,  ///< states that stay where they are
  kReplaced  ///< states that replace each other, one at a time
};

/// Numbers of each step that a schedule plans from.
struct StepNumbers {
  bool costs = false;          ///< of the forward step
  bool adjoint_costs = false;  ///< and of its adjoint
  bool sizes = false;          ///< bytes of its state, if states have several sizes
};

struct StreamNeeds {
  StreamOnDisk on_disk = StreamOnDisk::kNothing;
  bool steps = false;     ///< n, before the sweep begins
  bool tape = false;      ///< tapes
  bool branches = false;  ///< several branches; others need one
  StepNumbers each_step = {};
  std::int64_t most_steps = kMostSteps;
  const char* limit = "";  ///< "plans up to ... steps; take ..."
};

struct StreamEntry {
  const char* name;
  StreamNeeds needs = {};
  bool in_runs = false;  ///< a run plays it, too
  KeptTapes tapes = KeptTapes::kNone;
  /// Anchors are at intervals, which the option interval names.
  bool at_intervals = false;
  /// States held at a time by a schedule made for so many steps, whatever memory there is. NULL: as
  /// many as fit.
  std::int64_t (*states_held)(std::int64_t chain) = nullptr;
  /// Divides so much memory for states of so many bytes each, by step: how many units of which size
  /// the schedule takes, and where in them. NULL: it knows states of one size only.
  DividedMemory (*divide)(const StreamProblem&, std::vector<std::int64_t> bytes,
                          std::int64_t memory) = nullptr;
  /// The sweep. Throws ERR_ARGUMENT, ERR_MEMORY or ERR_NO_SPACE where there can be none.
  std::unique_ptr<Sweep> (*make)(StreamProblem&) = nullptr;
  bool keeps_every_state = false;
};

/// In the order in which they are listed for people.
std::span<const StreamEntry> streams();
/// NULL: there is none of this name.
const StreamEntry* find_stream(std::string_view name);

}  // namespace anadrome::schedule

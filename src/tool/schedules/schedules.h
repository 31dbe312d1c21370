// SPDX-License-Identifier: BSD-2-Clause
// All schedules that `anadrome plan` compares and `anadrome count` counts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "planners/lists/clock.h"
#include "tool/schedules/problems/problem.h"
#include "tool/schedules/problems/run_problem.h"
#include "tool/schedules/problems/what_if.h"

namespace anadrome::tool {

/// Passes in one direction, together.
struct PassCost {
  double passes = 0;
  double forward_steps = 0;
  double seconds = 0, waiting = 0;  ///< waiting: of these, for the disk
};

/// A row of the comparison.
struct Estimate {
  const char* schedule = "";
  bool runs = false;
  bool planned = true;  ///< false: it may run, but planning it takes too long
  std::string remark;   ///< how it is run, or why it cannot be
  Problem sweep;        ///< the sweep of a run
  Counts counts;
  schedule::DiskUse disk = {.overlaps = false, .reads_ahead = 0};
  std::int64_t newest_stay = 0;  ///< of questions::Machine; 0: the actions name what is in memory
  double seconds = 0;
  double waiting = 0;                             ///< of these, for the disk
  std::int64_t ram_bytes = 0;                     ///< per rank
  uint128 disk_bytes = 0, written = 0, read = 0;  ///< all ranks together
  std::string no_passes;                          ///< why there are none after this sweep
  PassCost forward_pass, reverse_pass;

  /// It does all that is asked.
  bool serves() const { return runs && no_passes.empty(); }
  /// The sweep, and the passes that are asked for.
  double seconds_in_all() const { return seconds + forward_pass.seconds + reverse_pass.seconds; }
  double waiting_in_all() const { return waiting + forward_pass.waiting + reverse_pass.waiting; }
  uint128 forward_steps() const { return counts.advances + counts.recorded; }
};

struct Schedule {
  const char* name;
  bool uses_disk;
  bool uses_tapes;
  /// Throws ERR_ARGUMENT on a problem that the schedule cannot solve. Null: a question of
  /// `anadrome solve` has its numbers.
  Counts (*count)(const Problem&);
  ActionSource (*actions)(const Problem&);
  /// For a run that has the memory and a disk. `runs` is false, and `remark` says why, where the
  /// disk does not suffice all the same. Null: the schedule is no answer to a concrete question, or
  /// is undo.
  Estimate (*estimate)(const WhatIf&, const RunProblem&);
  /// The same of a schedule that is a stream only, for a loop of the caller's.
  Estimate (*estimate_stream)(const WhatIf&, const StreamRoom&) = nullptr;
};

/// An estimate that cannot be run.
Estimate refused(const char* schedule, std::string why);
/// Exact where rounded it is what there is.
Estimate without_memory(const char* schedule, std::int64_t needed, const WhatIf& question);

/// The beginning of one that can. Its sweep: the paper's problem that a run is, one step more for
/// TURN, without tapes.
Estimate row_of(const char* schedule, const WhatIf& question);

/// `slots`, or as many as are of any use.
inline std::int64_t slots_within(std::int64_t slots, uint128 useful) {
  return wide(slots) > useful ? static_cast<std::int64_t>(useful) : slots;
}

/// The seconds of a run as prices, in whole ticks: what planners compare.
Prices prices_of(const WhatIf& question);

/// Fills in seconds, waiting, and bytes on disk from estimate.counts, for a solver that waits for
/// the disk. `disk_states`: the most at a time.
void price(Estimate& estimate, const WhatIf& question, std::int64_t disk_states);

/// Fills in what is said of passes in `estimate`, a row that runs: the sweep of the run is played,
/// and passes as a run plays them, forward and in reverse in turns. question.passes > 0.
void add_passes(Estimate& estimate, const WhatIf& question, const RunProblem& run);
/// As many steps are played within seconds.
inline constexpr std::int64_t kMostStepsOfPasses = 1'000'000;

// One of each, in their order in the table.
Schedule store_all_schedule();
Schedule revolve_schedule();
Schedule async_schedule();
Schedule overlapped_schedule();
Schedule disk_revolve_schedule();
Schedule hrevolve_schedule();
Schedule multistage_schedule();
Schedule mixed_schedule();
Schedule double_schedule();
Schedule least_memory_schedule();
Schedule uneven_schedule();
Schedule online_schedule();
Schedule undo_schedule();
/// Its row, of question.undo_ratio > 0: two sweeps are planned, and neither is of the states.
Estimate estimate_undo(const WhatIf& question);
/// The same with compress=lossy: a row beside the schedules.
Estimate estimate_undo_lossy(const WhatIf& question);

/// The simplest first: of equals, the first is recommended.
std::span<const Schedule> all_schedules();

/// By its name, in any case. Throws ERR_ARGUMENT, naming `option` and all schedules, if there is
/// none.
const Schedule& schedule_named(const char* option, std::string_view name);

/// "store_all, revolve, ..."; `counted`: those only that can be counted.
std::string schedule_names(bool counted = false);

}  // namespace anadrome::tool

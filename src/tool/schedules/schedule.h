// SPDX-License-Identifier: BSD-2-Clause
// One schedule as `anadrome plan` knows it: an entry of the table in schedules.cpp.
#pragma once

#include <string>

#include "planners/lists/clock.h"
#include "tool/schedules/problems/problem.h"
#include "tool/schedules/problems/run_problem.h"
#include "tool/schedules/problems/stream_room.h"
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
  const char* keeps;  ///< half a line for the list in --help
  bool uses_disk;
  bool uses_tapes;
  /// Throws ERR_ARGUMENT on a problem that the schedule cannot solve. Null: a question of
  /// `anadrome solve` has its numbers.
  Counts (*count)(const Problem&);
  ActionSource (*actions)(const Problem&);
  /// For a run that has the memory and a disk. `runs` is false, and `remark` says why, where the
  /// disk does not suffice all the same. Null: the schedule is no answer to a concrete question.
  Estimate (*estimate)(const WhatIf&, const RunProblem&);
  /// The same of a schedule that is a stream only, for a loop of the caller's.
  Estimate (*estimate_stream)(const WhatIf&, const StreamRoom&) = nullptr;
};

/// An estimate that cannot be run.
Estimate refused(const char* schedule, std::string why);

/// The paper's problem that a run is: one step more for TURN, without tapes.
Problem run_of(const WhatIf& question);

/// The seconds of a run as prices, in whole ticks: what planners compare.
Prices prices_of(const WhatIf& question);

/// Fills in seconds, waiting, and bytes on disk from estimate.counts, for a solver that waits for
/// the disk. `disk_states`: the most at a time.
void price(Estimate& estimate, const WhatIf& question, std::int64_t disk_states);

}  // namespace anadrome::tool

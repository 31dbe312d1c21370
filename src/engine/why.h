// The uses of a sweep's time, and the gain of more memory or a faster disk: arithmetic on measured
// times, for the end of the summary.
#pragma once

#include <cstdint>
#include <string>

#include "schedule/interval.h"

namespace anadrome::engine {

struct SweepCosts {
  schedule::StepCosts step;  ///< agreed by all ranks
  double copy = 0;           ///< to or from a slot, one state
  double agreement = 0;      ///< one
  std::int64_t steps = 0;
  bool modelled = true;  ///< the gain of other memory or another disk can be told
  bool disk = false;
  schedule::SharedMemory memory;  ///< with disk
  schedule::AsyncPlan plan;       ///< in force; without disk only its slots count
};

/// Where the sweep is when its end is predicted.
struct SweepProgress {
  double seconds = 0;                 ///< since begin
  std::int64_t forward_steps = 0;     ///< done so far
  std::int64_t advances_to_come = 0;  ///< as the schedule promises
};

/// Seconds from begin to DONE.
double predict_seconds(const SweepCosts& costs, const SweepProgress& progress);

/// Where the time of a finished sweep went; seconds.
struct SweepTimes {
  double total = 0, copying = 0, stalled = 0, agreeing = 0;
};

/// One or two lines: bound by what, and which knob would gain how much.
std::string explain(const SweepCosts& costs, const SweepTimes& times);

}  // namespace anadrome::engine

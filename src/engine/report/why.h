// SPDX-License-Identifier: BSD-2-Clause
// The end of a sweep as predicted, the uses of its time, and the gain of more memory or a faster
// disk: arithmetic on measured times, and the words for it.
#pragma once

#include <cstdint>
#include <string>

#include "schedule/anchored/interval.h"

namespace anadrome::engine {

struct SweepCosts {
  schedule::StepCosts step;          ///< agreed by all ranks
  double copy = 0, anchor_copy = 0;  ///< of a state: to or from a slot; to an anchor
  double agreement = 0;              ///< one
  std::int64_t steps = 0;
  bool disk = false;
  bool all_anchors = false;       ///< to the end: no tail is reversed from memory
  schedule::SharedMemory memory;  ///< with disk
  schedule::AsyncPlan plan;       ///< in force; without disk only its slots count
};

/// Where the sweep is when its end is predicted.
struct SweepProgress {
  double seconds = 0;                              ///< since begin
  std::int64_t forward_steps = 0;                  ///< done so far
  std::int64_t advances_to_come = 0;               ///< as the schedule promises
  std::int64_t anchors = 0;                        ///< put so far
  std::int64_t anchors_left = schedule::kNoLimit;  ///< that the disk has room for
};

/// When the end of a sweep of so many steps is predicted next, of which so many are done: at a 32nd
/// of the forward sweep, a 16th, and so on to its half, from at least four steps since the time
/// before. The first time nothing is known but steps that touched memory for the first time. 0: not
/// any more.
std::int64_t prediction_after(std::int64_t steps, std::int64_t done);

/// Seconds from begin to DONE.
double predict_seconds(const SweepCosts& costs, const SweepProgress& progress);

/// The uses of a finished sweep's seconds.
struct SweepTimes {
  double total = 0;
  double steps = 0, again = 0;  ///< the caller's: each step once; and those run again
  double waiting = 0, copying = 0, agreeing = 0;
  double recompute_factor = 1;  ///< forward steps run, over n; 0: of a part of a sweep
  double slowed = 0;  ///< of `steps` and `again`: by transfers beside them, on the same cores
};

/// Seconds of steps and of waiting as modelled, of the sweep as it was and with one thing changed;
/// 0: not told.
struct Outlook {
  double now = 0;
  double twice_memory = 0, twice_disk = 0, twice_room = 0, overlapped = 0;
};

/// The first two lines of the summary: how long, on what; bound by what, and what would gain how
/// much. Nothing of gains where the model is not the sweep's.
std::string verdict(const SweepTimes& times, const Outlook& outlook, bool offer_exchanged);

}  // namespace anadrome::engine

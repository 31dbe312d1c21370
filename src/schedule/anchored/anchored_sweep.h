// SPDX-License-Identifier: BSD-2-Clause
// How many anchors a sweep of known length takes, and what it costs with its end: the model of
// schedule/anchored/interval.h for the intervals, and the tail that is reversed from RAM.
#pragma once

#include <cstdint>

#include "schedule/anchored/interval_problem.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {

struct AnchoredSweep {
  std::int64_t written = 0;  ///< anchors on disk, an interval after each; the rest is the tail
  uint128 advances = 0;      ///< steps that are run without recording them
  double seconds = 0;        ///< forward and reverse
  double waiting = 0;        ///< of these, for the disk
  double below = 0;          ///< beside them: to reverse what lies below problem.newest_anchor
};

/// The sweep of `problem` with `plan` all the way: as many anchors as pay, and no more than there
/// may be. problem.steps are those from problem.newest_anchor on, which is 0 in a whole sweep.
/// Passes are not counted. 1 <= plan.interval.
AnchoredSweep anchored_sweep(const IntervalProblem& problem, const AsyncPlan& plan);

}  // namespace anadrome::schedule

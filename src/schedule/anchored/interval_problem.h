// SPDX-License-Identifier: BSD-2-Clause
// How far apart anchors are put in a sweep, or in what is left of it, and whether there are further
// ones at all: by the times that were measured.
#pragma once

#include <cstdint>

#include "schedule/anchored/interval_times.h"

namespace anadrome::schedule {

/// The question before a sweep, and of a run at every anchor and on the way to the first one.
struct IntervalProblem {
  StepCosts costs;  ///< `adjoint` without the step that records a tape
  SharedMemory memory;
  std::int64_t steps = kUnknown;         ///< n
  std::int64_t newest_anchor = 0;        ///< its step
  std::int64_t anchors_below = 0;        ///< on disk, below the newest one
  double queued = -1;                    ///< of these, not written yet; -1: by all steps so far
  std::int64_t anchors_left = kNoLimit;  ///< so many may be added
  bool record = false;                   ///< the adjoint of a step needs its tape
  bool may_end_in_ram = true;            ///< no further anchor, if that is faster; n is known
  bool interval_given = false;           ///< anchors as a run puts them then: it asks for no cost
  bool all_anchors = false;              ///< up to the end
  const IntervalTimes* times = nullptr;  ///< of intervals that were measured
};

/// The answer of the model, which knows no intervals: a pure function of what all ranks agree on.
AsyncPlan plan_intervals(const IntervalProblem& problem);
/// The same with intervals of this level, as they were measured; kNoLevel: of the model's length.
AsyncPlan plan_intervals(const IntervalProblem& problem, int level);
inline constexpr int kNoLevel = -1;
/// The same, with anchors in any case.
AsyncPlan plan_with_anchors(const IntervalProblem& problem, int level);

/// The level with which a sweep begins; kNoLevel: it has no time for levels.
int first_level(const IntervalProblem& problem);
/// That of a sweep whose steps and transfers are known; kNoLevel: not as intervals.
int known_level(const IntervalProblem& problem);
/// The level after `now`, and the best one.
struct NextLevel {
  int next = kNoLevel, best = kNoLevel;
};
NextLevel next_level(const IntervalProblem& problem, int now);

}  // namespace anadrome::schedule

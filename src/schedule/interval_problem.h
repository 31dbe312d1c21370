// SPDX-License-Identifier: BSD-2-Clause
// How far apart anchors are put in a sweep, or in what is left of it, and whether there are further
// ones at all: by the times that were measured, and by what earlier sweeps of the run took.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "schedule/interval.h"

namespace anadrome::schedule {

/// The seconds of whole sweeps that were measured, the newest with each plan.
class SweepsTook {
 public:
  struct Sweep {
    AsyncPlan plan;
    double seconds = 0;  ///< 0: there is none
  };

  void note(const AsyncPlan& plan, double seconds);
  /// With this plan; 0: no sweep was.
  double with(const AsyncPlan& plan) const;
  /// Of those with anchors.
  const Sweep& fastest() const;
  /// From memory alone; 0: no sweep was.
  double in_ram() const { return in_ram_; }

 private:
  static constexpr std::size_t kPlans = 8;
  double in_ram_ = 0;
  std::array<Sweep, kPlans> sweeps_;
  std::size_t noted_ = 0;
};

/// The question before a sweep, and of a run at every anchor and on the way to the first one.
struct IntervalProblem {
  StepCosts costs;  ///< `adjoint` without the step that records a tape
  SharedMemory memory;
  std::int64_t steps = kUnknown;         ///< n
  std::int64_t newest_anchor = 0;        ///< its step
  std::int64_t anchors_below = 0;        ///< on disk, below the newest one
  std::int64_t anchors_left = kNoLimit;  ///< so many may be added
  bool record = false;                   ///< the adjoint of a step needs its tape
  bool may_end_in_ram = true;            ///< no further anchor, if that is faster; n is known
  bool interval_given = false;           ///< anchors as a run puts them then: it asks for no cost
  bool all_anchors = false;              ///< up to the end
  AsyncPlan now = {.interval = 0};       ///< the plan in force; interval 0: there is none
  bool may_stay = true;                  ///< the plan in force stays unless another gains
  SweepsTook took;                       ///< sweeps as this one, of the same run
};

/// The answer: a pure function of what all ranks agree on.
AsyncPlan plan_intervals(const IntervalProblem& problem);

}  // namespace anadrome::schedule

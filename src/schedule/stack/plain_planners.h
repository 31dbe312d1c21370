// SPDX-License-Identifier: BSD-2-Clause
// The two planners without tables: Revolve, and a tape of every step.
#pragma once

#include "schedule/words/placement.h"

namespace anadrome::schedule {

/// Revolve as a Planner: RAM only, one unit per state.
class RevolvePlanner final : public Planner {
 public:
  Placement place(const Segment& segment) override;
  uint128 advances(const Segment& segment) override;
};

/// Keeps the tape of every step; n may be unknown.
class StoreTapesPlanner final : public Planner {
 public:
  Placement place(const Segment& segment) override;
  uint128 advances(const Segment&) override { return 0; }
};

}  // namespace anadrome::schedule

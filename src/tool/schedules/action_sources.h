// SPDX-License-Identifier: BSD-2-Clause
// The actions of the library's schedules, for the papers' problem.
#pragma once

#include <memory>

#include "planners/lists/overlapped.h"
#include "schedule/words/placement.h"
#include "tool/schedules/problems/problem.h"

namespace anadrome::tool {

/// Revolve and every other planner whose checkpoints nest.
ActionSource nested_actions(const Problem& problem, std::unique_ptr<schedule::Planner> planner);

/// Anchors on disk every problem.interval steps, problem.most_anchors at most; the last one, which
/// is needed first, stays in RAM.
ActionSource anchored_actions(const Problem& problem);

/// As a run that does not know its end: states in RAM only.
ActionSource unknown_end_actions(const Problem& problem);

/// The best plan found with transfers beside the computation (planners/lists/overlapped.h); with
/// problem.quickly one that fits problem.disk_slots, found in less time.
schedule::OverlappedPlan overlapped_plan(const Problem& problem);

/// The actions of that plan, which is made at once; its time goes to `makespan`.
ActionSource overlapped_actions(const Problem& problem, double& makespan);

}  // namespace anadrome::tool

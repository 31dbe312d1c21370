// SPDX-License-Identifier: BSD-2-Clause
// The actions of the library's schedules, for the papers' problem.
#pragma once

#include <memory>

#include "base/text_out.h"
#include "planners/lists/overlapped.h"
#include "schedule/words/placement.h"
#include "tool/schedules/problems/problem.h"

namespace anadrome::tool {

/// Steps that a planner runs without recording them, in all.
uint128 advances_of(schedule::Planner& planner, std::int64_t steps, std::int64_t units,
                    std::int64_t disk_slots = 0);

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

/// The actions of that plan; with `record` the step of each adjoint is recorded before it.
ActionSource overlapped_actions(schedule::OverlappedPlan plan, bool record);

/// Played to the end: what is run without recording it, writes, reads.
Counts counts_of(const ActionSource& next);

/// As JSON, one object a line, as they come: no sweep is too long. With `branches` each says whose
/// it is. Throws what the sink throws.
void write_actions(const ActionSource& next, TextOut& out, bool branches = false);

}  // namespace anadrome::tool

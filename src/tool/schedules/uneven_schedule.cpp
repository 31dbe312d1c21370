// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/schedules.h"

#include <memory>

#include "planners/memory/uneven.h"
#include "tool/schedules/action_sources.h"

namespace anadrome::tool {
namespace {

std::unique_ptr<schedule::UnevenPlanner> planner_of(const Problem& problem) {
  schedule::UnevenSteps steps;
  const int digits = problem.digits();
  for (const Decimal& cost : problem.step_costs) steps.costs.push_back(cost.ticks(digits));
  steps.state_bytes = problem.state_bytes;
  steps.bytes = problem.slots;
  return std::make_unique<schedule::UnevenPlanner>(steps);
}

Counts count_uneven(const Problem& problem) {
  const auto planner = planner_of(problem);
  schedule::Segment all;
  all.last = problem.steps;
  all.units = planner->units();
  Counts counts;
  if (problem.steps > 1) counts.advances = planner->advances(all);
  counts.uneven = true;
  counts.advance_cost = wide(planner->cost());
  return counts;
}

ActionSource uneven_actions(const Problem& problem) {
  auto planner = planner_of(problem);
  Problem in_units = problem;
  in_units.slots = planner->units();
  return nested_actions(in_units, std::move(planner));
}

}  // namespace

Schedule uneven_schedule() {
  return {"uneven",     "states in RAM, for steps that differ in cost or size (--costs)",
          false,        false,
          count_uneven, uneven_actions,
          nullptr};
}

}  // namespace anadrome::tool

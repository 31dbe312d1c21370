// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/schedule.h"

#include <utility>

#include "base/index.h"
#include "planners/two_tier/two_tier_costs.h"

namespace anadrome::tool {

Estimate refused(const char* schedule, std::string why) {
  Estimate estimate;
  estimate.schedule = schedule;
  estimate.remark = std::move(why);
  return estimate;
}

Problem run_of(const WhatIf& question) {
  Problem problem;
  problem.record = question.has_tape();
  problem.steps = problem.record ? question.steps : question.steps + 1;
  return problem;
}

Prices prices_of(const WhatIf& question) {
  const schedule::TwoTierCosts ticks = schedule::costs_in_ticks(
      question.forward, question.adjoint, question.write_seconds(), question.read_seconds());
  return {{ticks.advance, 0}, {ticks.adjoint, 0}, {ticks.write, 0}, {ticks.read, 0}};
}

void price(Estimate& estimate, const WhatIf& question, std::int64_t disk_states) {
  Counts& counts = estimate.counts;
  // The adjoint reads a tape: every step is recorded, apart from its adjoint.
  if (question.has_tape()) counts.recorded = wide(question.steps);
  estimate.runs = true;
  if (counts.writes > 0 || counts.reads > 0) {
    estimate.waiting = static_cast<double>(counts.writes) * question.write_seconds() +
                       static_cast<double>(counts.reads) * question.read_seconds();
  }
  estimate.seconds = static_cast<double>(estimate.forward_steps()) * question.forward +
                     real(question.steps) * question.adjoint + estimate.waiting;
  const auto on_disk = wide(question.compression.of(question.state_bytes) * question.ranks);
  estimate.disk_bytes = checked_multiply(wide(disk_states), on_disk);
  estimate.written = checked_multiply(counts.writes, on_disk);
  estimate.read = checked_multiply(counts.reads, on_disk);
}

}  // namespace anadrome::tool

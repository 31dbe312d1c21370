// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>

#include "base/byte_size.h"
#include "base/index.h"
#include "schedule/catalogue.h"
#include "schedule/rows.h"
#include "tool/schedules/schedules.h"

namespace anadrome::tool {
namespace {

// A residual is of a state's size, and is compressed. A step is undone once in the forward sweep,
// right after it, and once on the way back.
WhatIf of_residuals(const WhatIf& question) {
  WhatIf residuals = question;
  residuals.compression = {.ratio = question.undo_ratio};
  for (double* const rate : {&residuals.write_rate, &residuals.read_rate,
                             &residuals.fast.write_rate, &residuals.fast.read_rate}) {
    *rate *= question.undo_ratio;  // of bytes before they are compressed
  }
  residuals.forward = question.forward + question.undo_seconds();
  residuals.adjoint = question.undo_seconds() + question.adjoint;
  residuals.memory =
      std::max<std::int64_t>(question.memory - schedule::kHeldByUndo * question.state_bytes, 0);
  return residuals;
}

Estimate estimate_undo(const WhatIf& question, const RunProblem&) {
  const char* const name = "undo";
  if (question.has_tape()) return refused(name, "has no tapes");
  const std::int64_t held = question.memory - of_residuals(question).memory;
  try {
    const WhatIf residuals = of_residuals(question);
    const RunProblem run(residuals, *schedule::find_schedule(name));
    if (run.disk_states() < question.steps)
      return refused(name, "needs room on disk for a residual of every step");
    Estimate estimate = row_of(name, question);
    estimate.sweep.interval = 1;
    estimate.sweep.all_anchors = true;
    const schedule::Problem& problem = run.problem();
    estimate.newest_stay = problem.read_ahead * problem.shared.states_per_block;
    const std::int64_t read = std::max<std::int64_t>(question.steps - estimate.newest_stay, 0);
    estimate.counts = {.advances = 3 * wide(question.steps),
                       .writes = wide(question.steps),
                       .reads = wide(read),
                       .overlapped = true};
    price(estimate, residuals, question.steps);
    estimate.seconds = schedule::forecast_undo(problem);
    estimate.waiting = std::max(
        0.0, estimate.seconds - real(question.steps) * (residuals.forward + residuals.adjoint));
    estimate.ram_bytes = held + run.bytes_of(problem.shared.blocks);
    estimate.remark = "a residual of each step on disk; an undone step counts as a step";
    return estimate;
  } catch (const engine::TooLittleMemory& error) {
    return refused(name, "needs " + format_bytes(held + error.needed()) + " of memory per rank");
  }
}

}  // namespace

Schedule undo_schedule() { return {"undo", true, false, nullptr, nullptr, estimate_undo}; }

}  // namespace anadrome::tool

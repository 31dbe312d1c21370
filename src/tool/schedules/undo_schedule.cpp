// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <cmath>
#include <string>

#include "base/checked.h"
#include "base/error.h"
#include "base/index.h"
#include "schedule/catalogue.h"
#include "schedule/rows.h"
#include "tool/schedules/schedules.h"

namespace anadrome::tool {
namespace {

constexpr const char* kUndo = "undo";

// The sweep of what is kept: a residual of each step, of a state's size and compressed, where a
// step is undone right after it and on the way back; or a state every so many steps, where it is
// undone once.
WhatIf of_kept(const WhatIf& question, std::int64_t every) {
  const double undo = question.undo_seconds(), steps = real(every);
  WhatIf kept = question;
  kept.steps = ceil_divide(question.steps, every);
  kept.forward = steps * (question.forward + (every == 1 ? undo : 0));
  kept.adjoint = steps * (undo + question.adjoint);
  kept.memory =
      std::max<std::int64_t>(question.memory - schedule::kHeldByUndo * question.state_bytes, 0);
  kept.compression = {};
  if (every == 1) kept.compression.ratio = question.undo_ratio;
  kept.passes = 0;
  for (double* const rate :
       {&kept.write_rate, &kept.read_rate, &kept.fast.write_rate, &kept.fast.read_rate}) {
    // Of bytes before they are compressed: those of the question have --compress in them.
    *rate *= kept.compression.ratio / question.compression.ratio;
  }
  return kept;
}

// Throws TooLittleMemory, of what is kept.
Estimate estimate_of_kept(const WhatIf& question, std::int64_t every, const char* what,
                          const std::string& remark) {
  const WhatIf kept = of_kept(question, every);
  const RunProblem run(kept, *schedule::find_schedule(kUndo));
  if (run.disk_states() < kept.steps)
    return refused(kUndo, std::string("needs room on disk for ") + what);
  Estimate estimate = row_of(kUndo, question);
  estimate.sweep.interval = every;
  estimate.sweep.all_anchors = true;
  const schedule::Problem& problem = run.problem();
  estimate.newest_stay = problem.read_ahead * problem.shared.states_per_block;
  const std::int64_t read = std::max<std::int64_t>(kept.steps - estimate.newest_stay, 0);
  estimate.counts = {.advances = wide(every == 1 ? 3 : 2) * wide(question.steps),
                     .writes = wide(kept.steps),
                     .reads = wide(read),
                     .overlapped = true};
  price(estimate, kept, kept.steps);
  const double a_step = (kept.forward + kept.adjoint) / real(every);
  const std::int64_t none = kept.steps * every - question.steps;  // of the last state
  estimate.seconds = schedule::forecast_undo(problem) - real(none) * a_step;
  estimate.waiting = std::max(0.0, estimate.seconds - real(question.steps) * a_step);
  if (question.passes > 0) estimate.no_passes = "it goes through its steps once";
  estimate.ram_bytes = question.memory - kept.memory + run.bytes_of(problem.shared.blocks);
  estimate.remark = remark;
  return estimate;
}

Estimate too_little_for_undo(const WhatIf& question, const engine::TooLittleMemory& error) {
  const std::int64_t held = schedule::kHeldByUndo * question.state_bytes;
  return without_memory(kUndo, held + error.needed(), question);
}

// The shortest whose transfers the steps hide, and whose states there is room for.
std::int64_t shortest_interval(const WhatIf& question) {
  const WhatIf plain = of_kept(question, 2);
  const double hidden =
      std::max(2 * plain.write_seconds() / plain.forward, 2 * plain.read_seconds() / plain.adjoint);
  const std::int64_t most = std::max<std::int64_t>(question.steps, 2);
  const auto every = static_cast<std::int64_t>(std::ceil(std::clamp(hidden, 2.0, real(most))));
  const RunProblem run(of_kept(question, every), *schedule::find_schedule(kUndo));
  const std::int64_t room = std::max<std::int64_t>(run.disk_states(), 1);
  return std::max(every, ceil_divide(question.steps, room));
}

}  // namespace

Schedule undo_schedule() { return {kUndo, true, false, nullptr, nullptr, nullptr}; }

Estimate estimate_undo(const WhatIf& question) {
  if (question.has_tape()) return refused(kUndo, "has no tapes");
  try {
    return estimate_of_kept(question, 1, "a residual of every step",
                            "a residual of each step on disk; an undone step counts as a step");
  } catch (const engine::TooLittleMemory& error) {
    return too_little_for_undo(question, error);
  }
}

Estimate estimate_undo_lossy(const WhatIf& question) {
  if (question.has_tape()) return refused(kUndo, "has no tapes");
  if (!question.has_disk()) return refused(kUndo, "needs --write-rate, and room on disk");
  try {
    const std::int64_t every = shortest_interval(question);
    return estimate_of_kept(
        question, every, "a state",
        "compress=lossy and interval=" + std::to_string(every) +
            " or more: no residuals, a state on disk every so many steps; it assumes "
            "that those between drift by no more than the tolerance, which a run measures");
  } catch (const engine::TooLittleMemory& error) {
    return too_little_for_undo(question, error);
  } catch (const Error& error) {
    return refused(kUndo, error.what());
  }
}

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
#include "tool/plan/auto_choice.h"

#include <array>
#include <limits>
#include <optional>

#include "tool/schedules/run_problem.h"

namespace anadrome::tool {
namespace {

using schedule::InAuto;

std::optional<RunProblem> run_of(const WhatIf& question, const schedule::Entry& entry) {
  try {
    return std::make_optional<RunProblem>(question, entry, RunProblem::Asked::kByAuto);
  } catch (const Error&) {  // it does not fit
    return std::nullopt;
  }
}

double forecast_of(const WhatIf& question, const schedule::Entry& entry) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  try {
    const RunProblem run(question, entry, RunProblem::Asked::kByAuto);
    return run.disk_states() < 1 ? kNever : entry.forecast(run.problem());
  } catch (const Error&) {
    return kNever;
  }
}

}  // namespace

const schedule::Entry* auto_choice(const WhatIf& question) {
  WhatIf states = question;
  states.tape_bytes = 0;
  const schedule::Entry& all = schedule::schedule_for(InAuto::kEveryStateFits);
  if (run_of(states, all)) return &all;
  const schedule::Entry& by_default = schedule::schedule_for(InAuto::kByDefault);
  const auto run = run_of(question, by_default);
  if (!question.has_disk() || !run || run->disk_states() < 1) return nullptr;
  const bool weighs = question.passes == 0 && !question.has_tape() && run->alone_in_block() &&
                      schedule::worth_weighing(question.steps, question.ideal_seconds());
  if (!weighs)
    return run->disk_leaves_too_few() ? &schedule::schedule_for(InAuto::kNoDisk) : &by_default;
  const auto rows = schedule::weighed_rows(question.disk == kNoLimit);
  std::array<double, schedule::kWeighedRows> seconds = {};
  for (std::size_t i = 0; i < rows.size(); ++i) seconds[i] = forecast_of(question, *rows[i]);
  return rows[schedule::cheapest_of(seconds)];
}

}  // namespace anadrome::tool

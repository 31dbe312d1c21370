// SPDX-License-Identifier: BSD-2-Clause
#include "tool/plan/auto_choice.h"

#include <optional>

#include "tool/schedules/problems/run_problem.h"

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

}  // namespace

const schedule::Entry* auto_choice(const WhatIf& question) {
  WhatIf states = question;
  states.tape_bytes = 0;
  const schedule::Entry& all = schedule::schedule_for(InAuto::kEveryStateFits);
  if (run_of(states, all)) return &all;
  const schedule::Entry& by_default = schedule::schedule_for(InAuto::kByDefault);
  const auto run = run_of(question, by_default);
  if (!question.has_disk() || !run || run->disk_states() < 1) return nullptr;
  return run->disk_leaves_too_few() ? &schedule::schedule_for(InAuto::kNoDisk) : &by_default;
}

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
#include "model_passes.h"

#include <algorithm>

namespace anadrome::test {
namespace {

std::uint64_t followed_by(std::uint64_t hash, std::uint64_t state_hash) {
  return (hash ^ state_hash) * 0x100000001b3U;
}

}  // namespace

std::uint64_t states_in_order(ModularModel& model, std::int64_t steps,
                              anadrome_direction direction) {
  std::vector<std::uint64_t> states;
  model.start();
  for (std::int64_t k = 0; k < steps; ++k) {
    states.push_back(model.state_hash());
    model.step(k);
  }
  if (direction == ANADROME_PASS_REVERSE) std::reverse(states.begin(), states.end());
  std::uint64_t hash = 1;
  for (const std::uint64_t state : states) hash = followed_by(hash, state);
  return hash;
}

SweepResult pass(anadrome_run* run, ModularModel& model, anadrome_direction direction) {
  SweepResult result;
  result.gradient = 1;
  anadrome_action action;
  result.status = anadrome_pass(run, direction);
  while (result.status == ANADROME_OK && !result.done) {
    result.status = anadrome_next(run, &action);
    if (result.status != ANADROME_OK) break;
    if (model.before_action) model.before_action(action);
    if (action.kind == ANADROME_ADVANCE) {
      result.kept_its_word = model.act(run, action) && result.kept_its_word;
    } else if (action.kind == ANADROME_VISIT || action.kind == ANADROME_ADJOINT) {
      result.gradient = followed_by(result.gradient, model.state_hash());
    }
    result.done = action.kind == ANADROME_DONE;
  }
  if (!result.done) result.message = anadrome_last_error();
  return result;
}

SweepResult rewind(anadrome_run* run, ModularModel& model) {
  SweepResult result;
  anadrome_action action;
  model.clear_adjoint();
  result.status = anadrome_rewind(run);
  while (result.status == ANADROME_OK && !result.done) {
    result.status = anadrome_next(run, &action);
    if (result.status != ANADROME_OK) break;
    if (model.before_action) model.before_action(action);
    result.kept_its_word = model.act(run, action) && result.kept_its_word;
    result.done = action.kind == ANADROME_DONE;
  }
  result.gradient = model.gradient();
  if (!result.done) result.message = anadrome_last_error();
  return result;
}

}  // namespace anadrome::test

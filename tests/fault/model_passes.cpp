// SPDX-License-Identifier: BSD-2-Clause
#include "model_passes.h"

#include <algorithm>

namespace anadrome::test {
namespace {

std::uint64_t followed_by(std::uint64_t hash, std::uint64_t state_hash) {
  return (hash ^ state_hash) * 0x100000001b3U;
}

// Every action to DONE or to an error.
SweepResult follow(anadrome_run* run, ModularModel& model, anadrome_status begun,
                   const std::function<bool(const anadrome_action&)>& act) {
  SweepResult result;
  result.status = begun;
  anadrome_action action;
  while (!result.done && result.status == ANADROME_OK) {
    result.status = anadrome_next(run, &action);
    if (result.status != ANADROME_OK) break;
    if (model.before_action) model.before_action(action);
    result.kept_its_word = act(action) && result.kept_its_word;
    result.done = action.kind == ANADROME_DONE;
  }
  if (!result.done) result.message = anadrome_last_error();
  return result;
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
  std::uint64_t seen = 1;
  SweepResult result =
      follow(run, model, anadrome_pass(run, direction), [&](const anadrome_action& action) {
        if (action.kind == ANADROME_ADVANCE) return model.act(run, action);
        if (action.kind == ANADROME_VISIT || action.kind == ANADROME_ADJOINT)
          seen = followed_by(seen, model.state_hash());
        return true;
      });
  result.gradient = seen;
  return result;
}

SweepResult rewind(anadrome_run* run, ModularModel& model) {
  model.clear_adjoint();
  SweepResult result = follow(run, model, anadrome_rewind(run), [&](const anadrome_action& action) {
    return model.act(run, action);
  });
  result.gradient = model.gradient();
  return result;
}

}  // namespace anadrome::test

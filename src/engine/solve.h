// SPDX-License-Identifier: BSD-2-Clause
// The callback style: a loop over next.
#pragma once

#include <functional>

#include "engine/run.h"

namespace anadrome::engine {

/// The caller's model with NULL for the callbacks that its version does not have. `failure`: why
/// `call` cannot work with it.
anadrome_model model_of(const Run& run, const anadrome_model* given, const char* call,
                        Failure& failure);

/// One whole sweep with `model`'s callbacks. Collective; throws as begin and next do, and `failure`
/// of one rank on every rank. `at_turn` is called after the model's own callback.
void solve(Run& run, std::int64_t steps, const anadrome_model& model, const Failure& failure,
           const std::function<void()>& at_turn = {});

/// The same of a model for a pass, and a pass.
anadrome_model pass_model_of(const Run& run, anadrome_direction direction,
                             const anadrome_model* given, Failure& failure);
void solve_pass(Run& run, anadrome_direction direction, const anadrome_model& model,
                const Failure& failure);

}  // namespace anadrome::engine

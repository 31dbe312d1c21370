// The callback style: a loop over next.
#pragma once

#include "engine/run.h"

namespace anadrome::engine {

/// One whole sweep with `model`'s callbacks. Collective; throws as begin and next do. A model that
/// this rank finds unfit fails on every rank.
void solve(Run& run, std::int64_t steps, const anadrome_model* model);

}  // namespace anadrome::engine

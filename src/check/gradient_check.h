// SPDX-License-Identifier: BSD-2-Clause
// The check of a hand-written adjoint: one sweep of the run for the gradient, Taylor tests of it,
// dot products of single steps, and what they say together.
#pragma once

#include <anadrome/gradient.h>

#include "engine/run.h"

namespace anadrome::engine {

/// Collective; throws on every rank. `failure`: what this rank found wrong before.
anadrome_gradient_check check_gradient(Run& run, std::int64_t steps, const anadrome_model* model,
                                       const anadrome_gradient* gradient, const Failure& failure);

}  // namespace anadrome::engine

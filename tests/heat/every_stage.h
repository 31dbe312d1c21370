// SPDX-License-Identifier: BSD-2-Clause
// The gradient of the heat equation with every stage of every step kept in an array, without
// anadrome.
#pragma once

#include <cstdint>

#include "heat.h"

namespace anadrome::test {

/// From u_0 in model->u. The gradient is in the model afterwards; returns its hash. Collective.
std::uint64_t gradient_of_every_stage(heat_model* model, std::int64_t steps);

}  // namespace anadrome::test

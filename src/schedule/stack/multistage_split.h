// SPDX-License-Identifier: BSD-2-Clause
// The split of a reversal after which the states that are used least lie lowest on the stack.
#pragma once

#include <cstdint>

#include "schedule/words/revolve.h"

namespace anadrome::schedule {

/// Steps to advance from a kept state, one of `slots`, in a reversal of `steps` steps. steps >= 2.
/// Of Revolve's optimal splits, all with as many advances, the shortest: the lower places of the
/// stack are used less than with those of Griewank & Walther 2000, which ADOL-C and PETSc take.
std::int64_t multistage_split(Splitter& splitter, std::int64_t steps, std::int64_t slots);

}  // namespace anadrome::schedule

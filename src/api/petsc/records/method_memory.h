// SPDX-License-Identifier: BSD-2-Clause
// What a method remembers from one step to the next beside the solution, where the bits of the next
// step depend on it: the last slope of a first-same-as-last scheme, the slopes that start a solver,
// the solutions behind a multistep formula.
#pragma once

#include "api/petsc/records/ts_parts.h"

namespace anadrome::petsc {

/// In a TS that is set up. Empty: a step depends on the solution alone, or nothing is known of its
/// method.
PetscErrorCode method_memory(TS ts, TsParts* memory);

/// The bytes have been put back there.
PetscErrorCode method_memory_is_back(TS ts);

}  // namespace anadrome::petsc

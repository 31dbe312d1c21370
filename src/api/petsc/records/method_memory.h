// SPDX-License-Identifier: BSD-2-Clause
// What a method remembers from one step to the next beside the solution, where the bits of the next
// step depend on it: the last slope of a first-same-as-last scheme, the slopes that start a solver,
// the solutions behind a multistep formula.
#pragma once

#include <cstddef>

#include "api/petsc/records/petsc_private.h"

namespace anadrome::petsc {

/// Bytes of this rank, in a TS that is set up. 0: a step depends on the solution alone, or nothing
/// is known of its method.
PetscErrorCode method_memory_bytes(TS ts, std::size_t* bytes);
PetscErrorCode method_memory_to_bytes(TS ts, std::byte* to);
PetscErrorCode method_memory_from_bytes(TS ts, const std::byte* from);

}  // namespace anadrome::petsc

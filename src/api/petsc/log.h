// SPDX-License-Identifier: BSD-2-Clause
// The events that -log_view shows of trajectories of this type.
#pragma once

#include <petsclog.h>

namespace anadrome::petsc {

struct LogEvents {
  PetscLogEvent keep, restore, recompute, wait;
};

/// Registered at the first call after PetscInitialize.
PetscErrorCode log_events(LogEvents* events);
/// Count `seconds` that were spent inside another event.
PetscErrorCode log_seconds(PetscLogEvent event, PetscLogDouble seconds);

}  // namespace anadrome::petsc

// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/log.h"

#include "api/petsc/records/petsc_private.h"

namespace anadrome::petsc {
namespace {

LogEvents events;
bool registered = false;

PetscErrorCode forget() {
  registered = false;
  return PETSC_SUCCESS;
}

}  // namespace

PetscErrorCode log_events(LogEvents* out) {
  PetscFunctionBegin;
  if (!registered) {
    PetscCall(PetscLogEventRegister("AnadromeKeep", TSTRAJECTORY_CLASSID, &events.keep));
    PetscCall(PetscLogEventRegister("AnadromeRestore", TSTRAJECTORY_CLASSID, &events.restore));
    PetscCall(PetscLogEventRegister("AnadromeRecomp", TSTRAJECTORY_CLASSID, &events.recompute));
    PetscCall(PetscLogEventRegister("AnadromeWait", TSTRAJECTORY_CLASSID, &events.wait));
    PetscCall(PetscRegisterFinalize(forget));
    registered = true;
  }
  *out = events;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode log_seconds(PetscLogEvent event, PetscLogDouble seconds) {
  PetscEventPerfInfo* info = nullptr;
  PetscFunctionBegin;
  if (seconds <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(logged(event, &info));
  if (info == nullptr) PetscFunctionReturn(PETSC_SUCCESS);
  info->count++;
  info->time += seconds;
  info->time2 += seconds * seconds;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

// SPDX-License-Identifier: BSD-2-Clause
#include "api/petsc/log.h"

#include <petsc/private/logimpl.h>
#include <petscts.h>

namespace anadrome::petsc {
namespace {

LogEvents events;
bool registered = false;

PetscErrorCode forget() {
  registered = false;
  return 0;
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
  PetscFunctionReturn(0);
}

PetscErrorCode log_seconds(PetscLogEvent event, PetscLogDouble seconds) {
  PetscFunctionBegin;
#if defined(PETSC_USE_LOG)
  if (seconds <= 0 || PetscLogPLB == nullptr) PetscFunctionReturn(0);
  PetscStageLog stages = nullptr;
  PetscEventPerfLog log = nullptr;
  int stage = -1;
  PetscCall(PetscLogGetStageLog(&stages));
  PetscCall(PetscStageLogGetCurrent(stages, &stage));
  if (stage < 0) PetscFunctionReturn(0);
  PetscCall(PetscStageLogGetEventPerfLog(stages, stage, &log));
  PetscEventPerfInfo& info = log->eventInfo[event];
  info.count++;
  info.time += seconds;
  info.time2 += seconds * seconds;
#endif
  PetscFunctionReturn(0);
}

}  // namespace anadrome::petsc

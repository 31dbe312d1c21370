// SPDX-License-Identifier: BSD-2-Clause
// All that this room reads of PETSc's private structures, and what differs between its versions.
// Supported: 3.18 to 3.25. A new version is work on this file alone.
//
//   3.19  PetscErrorCode is an enumeration; PETSC_SUCCESS
//   3.20  the log's internals are those of handlers; TS_RK has one member more
//   3.21  TSResize: the discretisation may change inside a TS
//   3.22  SNES and KSP print their reasons by viewers of their own
//   3.23  time spans are evaluation times; PetscOptionItems is a pointer; contexts are destroyed
//         through a pointer to them
//   3.24  TSSetRunSteps
#pragma once

// clang-format off: PETSc's headers need each other in this order
#include <petsc/private/kspimpl.h>
#include <petsc/private/logimpl.h>
#include <petsc/private/snesimpl.h>
#include <petsc/private/tsimpl.h>
// clang-format on

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#if PETSC_VERSION_LT(3, 18, 0)
#error "this trajectory needs PETSc 3.18 or newer"
#endif
#if PETSC_VERSION_MINOR > 25
#error "this trajectory reads private structures of PETSc 3.18 to 3.25; see petsc_private.h"
#endif

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

namespace anadrome::petsc {

/// Numbers where they lie.
template <class Value>
std::span<std::byte> numbers_of(Value* values, PetscInt count = 1) {
  return std::as_writable_bytes(std::span(values, static_cast<std::size_t>(count)));
}

/// The communicator of an object.
template <class Object>
MPI_Comm comm_of(Object object) {
  return PetscObjectComm(reinterpret_cast<PetscObject>(object));
}

/// The name of an object's type; "": it has none yet.
inline std::string_view type_of(void* object) {
  const char* const name = static_cast<PetscObject>(object)->type_name;
  return name == nullptr ? "" : name;
}

// ---- options ----

#if PETSC_VERSION_LT(3, 23, 0)
using OptionItems = PetscOptionItems*;
#else
using OptionItems = PetscOptionItems;
#endif

// ---- a TS ----

#if PETSC_VERSION_LT(3, 23, 0)
using TimesToHit = TSTimeSpan;
inline TimesToHit& times_to_hit(TS ts) { return ts->tspan; }
#else
using TimesToHit = TSEvaluationTimes;
inline TimesToHit& times_to_hit(TS ts) { return ts->eval_times; }
#endif

/// The step at which the TS's TSSolve began, for TSSetRunSteps.
inline void set_start_step([[maybe_unused]] TS ts, [[maybe_unused]] PetscInt step) {
#if !PETSC_VERSION_LT(3, 24, 0)
  ts->start_step = step;
#endif
}

inline PetscReal& size_before_time_to_hit(TSAdapt adapt) {
#if PETSC_VERSION_LT(3, 23, 0)
  return adapt->dt_span_cached;
#else
  return adapt->dt_eval_times_cached;
#endif
}

/// Where the search for the next event is.
inline std::vector<std::span<std::byte>> event_numbers(TSEvent event) {
  const PetscInt n = event->nevents;
#if PETSC_VERSION_LT(3, 21, 0)
  return {numbers_of(event->fvalue, n),
          numbers_of(event->fvalue_prev, n),
          numbers_of(event->fvalue_right, n),
          numbers_of(event->side, n),
          numbers_of(event->zerocrossing, n),
          numbers_of(event->events_zero, n),
          numbers_of(&event->ptime_prev),
          numbers_of(&event->ptime_end),
          numbers_of(&event->ptime_right),
          numbers_of(&event->timestep_prev),
          numbers_of(&event->timestep_posteventinterval),
          numbers_of(&event->timestep_postevent),
          numbers_of(&event->nevents_zero),
          numbers_of(&event->status),
          numbers_of(&event->iterctr)};
#else
  return {numbers_of(event->fvalue_prev, n),
          numbers_of(event->fvalue, n),
          numbers_of(event->fvalue_right, n),
          numbers_of(event->fsign_prev, n),
          numbers_of(event->fsign, n),
          numbers_of(event->fsign_right, n),
          numbers_of(event->side, n),
          numbers_of(event->side_prev, n),
          numbers_of(event->justrefined_AB, n),
          numbers_of(event->gamma_AB, n),
          numbers_of(event->events_zero, n),
          numbers_of(&event->ptime_prev),
          numbers_of(&event->ptime_right),
          numbers_of(&event->ptime_cache),
          numbers_of(&event->timestep_cache),
          numbers_of(&event->timestep_postevent),
          numbers_of(&event->timestep_2nd_postevent),
          numbers_of(&event->nevents_zero),
          numbers_of(&event->iterctr),
          numbers_of(&event->processing),
          numbers_of(&event->revisit_right)};
#endif
}

/// Is the TS told to change its discretisation on the way?
inline bool resizes([[maybe_unused]] TS ts) {
#if PETSC_VERSION_LT(3, 21, 0)
  return false;
#else
  return ts->resizesetup != nullptr;
#endif
}

/// Is a cost integral summed in the reverse sweep (TSCreateQuadratureTS with PETSC_FALSE)?
inline bool integrates_backwards(TS ts) {
  return ts->quadraturets != nullptr && ts->costintegralfwd == PETSC_FALSE;
}

// ---- what methods keep in `ts->data`: the beginnings of structures that are in no header ----

struct RkData {
  void* tableau;
#if !PETSC_VERSION_LT(3, 20, 0)
  PetscBool newtableau;
#endif
  Vec X0;
  Vec *Y, *YdotRHS;
};

/// Whether the slope may be used that a first-same-as-last scheme has kept.
inline std::vector<std::span<std::byte>> slope_flags([[maybe_unused]] RkData* rk) {
#if PETSC_VERSION_LT(3, 20, 0)
  return {};
#else
  return {numbers_of(&rk->newtableau)};
#endif
}

struct ArkimexData {
  void* tableau;
  Vec *Y, *YdotI;
};

inline bool is_theta(TS ts) {
  const std::string_view type = type_of(ts);
  return type == TSTHETA || type == TSCN || type == TSBEULER;
}

struct ThetaData {
  PetscReal stage_time;
  Vec Stages[2];
  Vec X0, X, Xdot, affine;
  PetscReal Theta, shift;
  PetscInt order;
  PetscBool endpoint, extrapolate;
};

struct BdfData {
  PetscInt k, n;
  PetscReal time[8];
  Vec work[8], tvwork[8];
};

// ---- solvers ----

/// Viewers that are set where the reason of convergence is printed.
#if PETSC_VERSION_LT(3, 22, 0)
inline std::array<PetscViewer*, 0> reason_viewers(SNES, KSP) { return {}; }
#else
inline std::array<PetscViewer*, 2> reason_viewers(SNES snes, KSP ksp) {
  return {&snes->convergedreasonviewer, &ksp->convergedreasonviewer};
}
#endif

// ---- a container whose pointer to a T is deleted by `end` when the container goes ----

template <class T, void end(T*)>
PetscErrorCode set_container(PetscContainer container, T* content) {
  PetscFunctionBegin;
  PetscCall(PetscContainerSetPointer(container, content));
#if PETSC_VERSION_LT(3, 23, 0)
  PetscCall(PetscContainerSetUserDestroy(container, [](void* pointer) -> PetscErrorCode {
    end(static_cast<T*>(pointer));
    return PETSC_SUCCESS;
  }));
#else
  PetscCall(PetscContainerSetCtxDestroy(container, [](auto pointer) -> PetscErrorCode {
    end(*static_cast<T**>(static_cast<void*>(pointer)));  // to the pointer: void** or void*
    return PETSC_SUCCESS;
  }));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

// ---- -log_view ----

/// What has been logged of an event in the current stage; NULL: nothing is logged.
inline PetscErrorCode logged([[maybe_unused]] PetscLogEvent event, PetscEventPerfInfo** info) {
  PetscFunctionBegin;
  *info = nullptr;
#if defined(PETSC_USE_LOG) && PETSC_VERSION_LT(3, 20, 0)
  PetscStageLog stages = nullptr;
  PetscEventPerfLog log = nullptr;
  int stage = -1;
  if (PetscLogPLB == nullptr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogGetStageLog(&stages));
  PetscCall(PetscStageLogGetCurrent(stages, &stage));
  if (stage < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscStageLogGetEventPerfLog(stages, stage, &log));
  *info = &log->eventInfo[event];
#elif defined(PETSC_USE_LOG)
  PetscLogHandler handler = nullptr;
  PetscLogState state = nullptr;
  PetscLogStage stage = -1;
  PetscCall(PetscLogGetDefaultHandler(&handler));
  PetscCall(PetscLogGetState(&state));
  if (handler == nullptr || state == nullptr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogStateGetCurrentStage(state, &stage));
  if (stage >= 0) PetscCall(PetscLogHandlerGetEventPerfInfo(handler, stage, event, info));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace anadrome::petsc

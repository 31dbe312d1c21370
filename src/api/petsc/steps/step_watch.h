// SPDX-License-Identifier: BSD-2-Clause
// Sees how a TS takes its steps: PETSc tells a trajectory of records only, and a step that was
// refused by the controller or rolled back at an event leaves rounding in the next attempt.
//
// The TS's step function, and during a step its controller's, are called through this. It is
// composed with the TS and goes with it; a trajectory may live longer.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "api/petsc/records/petsc_private.h"
#include "api/petsc/steps/step_notes.h"

namespace anadrome::petsc {

class StepWatch {
 public:
  /// Of this TS, from now on; the one that is there if there is one.
  static PetscErrorCode attach(TS ts, const void* owner, std::shared_ptr<StepWatch>* watch);
  /// The TS steps as if nobody had looked. Does nothing if it is gone, or another's by now.
  void detach(const void* owner);
  static void ts_is_gone(std::shared_ptr<StepWatch>* watch);

  /// Is another TS in the middle of a step, of which this one's is a part (a method's first step)?
  static bool is_inner(TS ts);
  bool alive() const { return ts_ != nullptr; }
  /// What was seen since the last call.
  StepCalls take() { return std::exchange(seen_, {}); }
  /// Called before a step is taken; the step is not taken if it says so.
  std::function<PetscErrorCode(TS, bool* taken)> before;
  /// Steps that are run again are no news.
  void pause(bool paused) { paused_ = paused; }

 private:
  using Step = decltype(_TSOps::step);
  using Choose = decltype(_TSAdaptOps::choose);

  static std::shared_ptr<StepWatch>* of(TS ts);
  static PetscErrorCode step(TS ts);
  static PetscErrorCode watched_step(TS ts);
  PetscErrorCode take_step();
  static PetscErrorCode choose(TSAdapt adapt, TS ts, PetscReal h, PetscInt* scheme, PetscReal* next,
                               PetscBool* accept, PetscReal* wlte, PetscReal* wltea,
                               PetscReal* wlter);

  /// The step function as it was. A clone of a TS has ours, and nobody who looks; what is composed
  /// with its controller it shares.
  static PetscErrorCode original(TS ts, Step* found);

  TS ts_ = nullptr;  ///< NULL: gone
  const void* owner_ = nullptr;
  Step step_ = nullptr;
  Choose choose_ = nullptr;
  std::vector<PetscReal> sizes_;  ///< of the attempts of the call that is under way
  StepCalls seen_;
  bool paused_ = false;
};

}  // namespace anadrome::petsc

// SPDX-License-Identifier: BSD-2-Clause
// A TS that was solving something, set aside: steps are run again in between, and afterwards it
// says and counts what it would have without them.
#pragma once

#include <array>
#include <vector>

#include "api/petsc/records/petsc_private.h"

namespace anadrome::petsc {

class Suspension {
 public:
  /// The TS steps under `adapt` from now on, without events, monitors and points of time to hit.
  PetscErrorCode begin(TS ts, TSAdapt adapt);
  /// All as it was, but for the solution and the stages.
  PetscErrorCode end(TS ts);

 private:
  PetscErrorCode silence(TS ts);
  PetscErrorCode hold_solver_vectors(TS ts);

  TSAdapt adapt_ = nullptr;
  TSEvent event_ = nullptr;
  TimesToHit times_ = nullptr;
  TSConvergedReason reason_ = TS_CONVERGED_ITERATING;
  PetscBool error_if_step_failed_ = PETSC_FALSE, steprollback_ = PETSC_FALSE;
  std::array<PetscInt, 9> counts_{};
  std::array<PetscReal, 4> when_{};
  template <class Value>
  struct PutAway {
    Value* where;
    Value was;
  };
  std::vector<PutAway<PetscInt>> monitors_;  ///< their numbers
  std::vector<PutAway<PetscBool>> views_;
  std::vector<PutAway<char*>> prefixes_;
  std::vector<PutAway<PetscViewer>> reasons_;
  struct {
    Vec live = nullptr, copy = nullptr;
  } vectors_[2];             ///< the solver's, where they matter afterwards
  Vec integrals_ = nullptr;  ///< of the forward sweep: rolling a step back takes it off them
  Mat integral_ = nullptr;   ///< integrated forward sensitivities: a result, not a part of a record
};

}  // namespace anadrome::petsc

// SPDX-License-Identifier: BSD-2-Clause
// Runs steps again exactly as they were run, and tells whether they came out the same.
//
// Recorded step sizes, those that were refused included; no events, monitors or PreStep and
// PostStep, which the program saw the first time. Stage hooks run: they are part of a step. What
// the TS counts and where it is are as before afterwards, but for the solution and the stages.
#pragma once

#include <string_view>
#include <vector>

#include "api/petsc/records/record.h"
#include "api/petsc/steps/step_notes.h"

namespace anadrome::petsc {

class Replay {
 public:
  /// From X_from, which is in the TS's solution, to X_to and the stages that lead there.
  PetscErrorCode run(TS ts, PetscInt from, PetscInt to, const StepNotes& notes);
  /// Collective: do all steps run since the last call agree with the first time, every field to
  /// within `tolerance` of its norm? PETSC_ERR_USER, naming the first that does not.
  /// audit=exact: to the bit; warn: a line instead of the error; off: whatever.
  PetscErrorCode judge(TS ts, const StepNotes& notes, PetscReal tolerance, std::string_view audit);
  PetscErrorCode destroy();

 private:
  PetscErrorCode take_step(TS ts, const StepCalls& how);
  PetscErrorCode take_steps(TS ts, PetscInt from, PetscInt to, const StepNotes& notes);
  PetscErrorCode compare(TS ts, PetscInt step, const StepNotes& notes);

  TSAdapt as_recorded_ = nullptr;
  std::vector<PetscReal> sizes_;  ///< that its controller is to try, the last one first
  bool failed_ = false;           ///< a step could not be solved this time
  Fingerprint now_;
  std::vector<PetscInt> steps_;
  std::vector<double> differences_;  ///< squares, of this rank: step by step, those of all fields
  std::vector<double> norms_;        ///< likewise
};

}  // namespace anadrome::petsc

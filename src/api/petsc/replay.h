// SPDX-License-Identifier: BSD-2-Clause
// Runs steps again exactly as they were run, and tells whether they came out the same.
//
// Recorded step sizes under a controller that changes nothing; no events, monitors or PreStep and
// PostStep, which the program saw the first time. Stage hooks run: they are part of a step. What
// the TS counts and where it is are as before afterwards, but for the solution and the stages.
#pragma once

#include <vector>

#include "api/petsc/journal.h"
#include "api/petsc/record.h"

namespace anadrome::petsc {

class Replay {
 public:
  /// From X_from, which is in the TS's solution, to X_to and the stages that lead there.
  PetscErrorCode run(TS ts, PetscInt from, PetscInt to, const Journal& journal);
  /// Collective: do all steps run since the last call agree with the first time, every field to
  /// within `tolerance` of its norm? PETSC_ERR_USER, naming the first that does not.
  PetscErrorCode judge(TS ts, const Journal& journal, PetscReal tolerance);
  PetscErrorCode destroy();

 private:
  PetscErrorCode take_steps(TS ts, PetscInt from, PetscInt to, const Journal& journal);
  PetscErrorCode compare(TS ts, PetscInt step, const Journal& journal);

  TSAdapt as_recorded_ = nullptr;
  bool failed_ = false;  ///< a step could not be solved this time
  Fingerprint now_;
  std::vector<PetscInt> steps_;
  std::vector<double> differences_;  ///< squares, of this rank: step by step, those of all fields
  std::vector<double> norms_;        ///< likewise
};

}  // namespace anadrome::petsc

// SPDX-License-Identifier: BSD-2-Clause
// Where every record is kept in full, the library has nothing to keep, and nobody would write the
// progress, the trace or the heartbeats that were asked for. A run follows the sweep then, whose
// states are no more than a number.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>

#include "api/petsc/directory.h"
#include "api/petsc/settings.h"

namespace anadrome::petsc {

class Follower {
 public:
  /// Of its memory, for a step and for all the rest.
  static constexpr std::int64_t kStepBytes = 64, kBytes = std::int64_t{1} << 17;
  /// Is one asked for, on this rank?
  static bool wanted(const Settings& settings);

  /// A forward sweep of `most` steps at most; collective, as all that follows. Without it, nothing
  /// below does anything.
  PetscErrorCode begin(MPI_Comm comm, const Settings& settings, const Directory& directory,
                       std::int64_t most);
  /// The steps before record `step` have been taken.
  PetscErrorCode step_done(PetscInt step);
  /// The sweep had `steps` steps, and record `step` is asked for on the way back.
  PetscErrorCode back_to(PetscInt steps, PetscInt step);
  PetscErrorCode close();

 private:
  PetscErrorCode check(anadrome_status status) const;
  PetscErrorCode next();

  MPI_Comm comm_ = MPI_COMM_NULL;
  anadrome_run* run_ = nullptr;
  bool forward_ = false, on_ = false;
  std::int64_t step_ = 0;  ///< the state
  anadrome_action action_{};
};

}  // namespace anadrome::petsc

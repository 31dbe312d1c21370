// SPDX-License-Identifier: BSD-2-Clause
// Where every record is kept in full, the library has nothing to keep, and nobody would write the
// progress, the trace, the heartbeats or the files that were asked for. A run follows the sweep
// then, whose states are no more than a number, and for files the solution.
#pragma once

#include <anadrome/anadrome.h>

#include <cstdint>

#include "api/petsc/settings/directory.h"
#include "api/petsc/settings/memory_shares.h"
#include "api/petsc/settings/settings.h"

namespace anadrome::petsc {

class Follower {
 public:
  /// Of its memory, for a step and for all the rest.
  static constexpr std::int64_t kStepBytes = 64, kBytes = std::int64_t{1} << 17;
  /// And so many states on their way to files that stay.
  static constexpr std::int64_t kStates = 4;
  /// Is one asked for, on this rank?
  static bool wanted(const Settings& settings);

  /// Solutions for files that stay.
  struct Solution {
    std::size_t bytes = 0;
    anadrome_pack_fn pack = nullptr;  ///< NULL: no files stay
    void* self = nullptr;
  };
  /// A forward sweep in its share of the memory; collective, as all that follows. Without it,
  /// nothing below does anything.
  PetscErrorCode begin(MPI_Comm comm, const Settings& settings, const Directory& directory,
                       const MemoryShares& shares, const Solution& solution);
  /// The steps before record `step` have been taken.
  PetscErrorCode step_done(PetscInt step);
  /// The sweep had `steps` steps, and record `step` is asked for on the way back.
  PetscErrorCode back_to(PetscInt steps, PetscInt step);
  PetscErrorCode close();

 private:
  PetscErrorCode check(anadrome_status status) const;
  PetscErrorCode open(const Settings& settings, const Directory& directory,
                      const MemoryShares& shares, const Solution& solution);
  PetscErrorCode next();

  MPI_Comm comm_ = MPI_COMM_NULL;
  anadrome_run* run_ = nullptr;
  bool forward_ = false, on_ = false;
  bool shows_reverse_ = false;  ///< on some rank; files have no more after the forward sweep
  std::int64_t step_ = 0;       ///< the state
  anadrome_action action_{};
};

}  // namespace anadrome::petsc

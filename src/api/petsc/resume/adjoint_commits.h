// SPDX-License-Identifier: BSD-2-Clause
// Commits of TSAdjointSolve: what an adjoint solve has added up at a step, in two files of each
// rank that take turns. A commit counts where every rank has it.
#pragma once

#include <string>
#include <vector>

#include "api/petsc/resume/going_on.h"
#include "api/petsc/resume/notes_file.h"

namespace anadrome::petsc {

class AdjointCommits {
 public:
  /// Seconds between two of them.
  void set_interval(double seconds) { interval_ = seconds; }
  /// Collective: of the sweep with that number. Did an earlier process begin it? `prefix` begins
  /// the names of this rank's files.
  PetscErrorCode start(MPI_Comm comm, const std::string& prefix, std::int64_t sweep, bool again);
  /// Collective, where an adjoint solve begins at `first`: the step at which an earlier process had
  /// made its newest commit; `first` if there is none.
  PetscErrorCode begin(TS ts, PetscInt first, PetscInt* from);
  /// The values that had been added up there.
  PetscErrorCode restore(TS ts) const;
  /// Collective, before each step of the adjoint solve: commits, if it is time.
  PetscErrorCode before_step(TS ts, PetscInt step);
  void remove();

 private:
  struct Commit {
    PetscInt step = -1;
    std::int64_t number = 0;
    Bytes bytes;
  };

  std::string path(std::int64_t number) const {
    return prefix_ + ".adjoint." + std::to_string(number % 2);
  }
  template <class Body>
  void for_each(Body&& body) const;
  PetscErrorCode find_solves();
  PetscErrorCode write(TS ts, PetscInt step);

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::string prefix_;
  double interval_ = 60;
  std::int64_t sweep_ = 0;
  bool again_ = false;
  std::int64_t solve_ = 0;          ///< of the sweep: 1, 2, ...
  std::int64_t solves_before_ = 0;  ///< that an earlier process had begun
  PetscInt first_ = -1;             ///< of this solve
  std::uint64_t seed_ = 0;          ///< what it began with
  Commit found_;
  std::int64_t number_ = 0;  ///< of the newest commit
  PetscInt last_ = 0;        ///< its step
  double last_at_ = 0;       ///< when it was made
  PetscInt next_ = -1;       ///< look at the clock again
};

}  // namespace anadrome::petsc

// SPDX-License-Identifier: BSD-2-Clause
// Where a trajectory's files go: a directory of each sweep's own, in one that the user named.
#pragma once

#include <string>

#include "api/petsc/records/petsc_private.h"
#include "api/petsc/settings/settings.h"

namespace anadrome::petsc {

class Directory {
 public:
  /// Collective: finds a place and a name for a sweep, so that several can live in one program and
  /// in one folder. Makes -ts_trajectory_dirname if it is not there.
  PetscErrorCode choose(TSTrajectory tj, const Settings& settings);
  /// Collective: PETSC_ERR_FILE_OPEN where files could not be made there. The library looks when it
  /// begins, which may be late.
  PetscErrorCode require(MPI_Comm comm) const;
  /// The sweep's own directory is gone: removes what `choose` made, if nothing else is in it.
  void leave();
  /// Options `directory`, as it was at `choose`, and `name` of the library; "": the library's own
  /// name, or the environment's.
  const std::string& path() const { return path_; }
  const std::string& name() const { return name_; }
  std::string name_in_use() const;
  /// The beginning of the names of files beside the library's directory.
  std::string beside() const;

 private:
  std::string path_, name_;
  std::string made_;  ///< on rank 0
};

}  // namespace anadrome::petsc

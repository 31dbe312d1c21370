// SPDX-License-Identifier: BSD-2-Clause
// The TSTrajectory of type "anadrome": PETSc's operations, handed on.
#pragma once

#include "api/petsc/records/kept_records.h"
#include "api/petsc/records/petsc_private.h"
#include "api/petsc/settings/settings.h"
#include "api/petsc/sweep.h"

namespace anadrome::petsc {

struct Trajectory {
  Settings settings;
  KeptRecords kept;
  Sweep sweep;
  bool ended_or_jumped = false;  ///< the last record of the forward sweep was an end or an event
};

Trajectory& data_of(TSTrajectory tj);

/// The constructor for TSTrajectoryRegister.
PetscErrorCode create_trajectory(TSTrajectory tj, TS ts);

/// The plan and what was done, for TSTrajectoryView.
PetscErrorCode view_trajectory(TSTrajectory tj, PetscViewer viewer);
/// The same as the report that was asked for, of a sweep whose records were all kept in full.
PetscErrorCode report_kept(TSTrajectory tj);
/// tj's counters of disk reads and writes.
PetscErrorCode count_transfers(TSTrajectory tj);

}  // namespace anadrome::petsc

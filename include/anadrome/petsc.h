// SPDX-License-Identifier: BSD-2-Clause
/* anadrome for PETSc: a TSTrajectory that keeps a TS's states asynchronously and within a memory
 * budget.
 *
 * Programs need not be compiled or linked with this:
 *   ./app -dll_append /usr/local/lib/libanadrome_petsc.so -ts_trajectory_type anadrome
 * A program that prefers to be linked calls AnadromePetscRegister after PetscInitialize. */
#ifndef ANADROME_PETSC_H
#define ANADROME_PETSC_H

#include <petscsys.h>

#include <anadrome/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The name for TSTrajectorySetType and -ts_trajectory_type. */
#define TSTRAJECTORYANADROME "anadrome"

/** Make the trajectory type known to PETSc. Not collective, but every rank that uses it calls it.
 * Calling it again does no harm. Errors: PETSC_ERR_LIB (this library was built for another PETSc
 * than the one that is running). @pre PetscInitialize was called. */
ANADROME_API PetscErrorCode AnadromePetscRegister(void);

#ifdef __cplusplus
}
#endif

#endif

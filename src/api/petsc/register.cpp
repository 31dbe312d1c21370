// SPDX-License-Identifier: BSD-2-Clause
// How PETSc finds the trajectory type: by -dll_append, or by a call of a program that is linked.
#include <anadrome/petsc.h>
#include <petscts.h>

#include "api/petsc/trajectory.h"

namespace {

// Structures and sizes of numbers are those of the PETSc it was compiled for, or nothing is right.
PetscErrorCode check_petsc() {
  PetscInt major = 0, minor = 0;
  PetscDataType scalar = PETSC_DATATYPE_UNKNOWN;
  PetscBool found = PETSC_FALSE;
  std::size_t index_bytes = 0;
  PetscFunctionBegin;
  PetscCall(PetscGetVersionNumber(&major, &minor, nullptr, nullptr));
  PetscCheck(major == PETSC_VERSION_MAJOR && minor == PETSC_VERSION_MINOR, PETSC_COMM_SELF,
             PETSC_ERR_LIB,
             "libanadrome_petsc was built for PETSc %d.%d and this is %" PetscInt_FMT
             ".%" PetscInt_FMT "; build it for this one",
             PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, major, minor);
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &found));
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &index_bytes));
  PetscCheck(scalar == PETSC_SCALAR && index_bytes == sizeof(PetscInt), PETSC_COMM_SELF,
             PETSC_ERR_LIB,
             "libanadrome_petsc was built for another PetscScalar or PetscInt than this PETSc has "
             "(real or complex, 32 or 64 bits); build it for this one");
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode AnadromePetscRegister(void) {
  PetscFunctionBegin;
  PetscCall(check_petsc());
  PetscCall(TSTrajectoryRegister(TSTRAJECTORYANADROME, anadrome::petsc::create_trajectory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

// The name that -dll_append looks for in libanadrome_petsc.so.
extern "C" ANADROME_API PetscErrorCode PetscDLLibraryRegister_anadrome_petsc(void) {
  PetscFunctionBegin;
  PetscCall(AnadromePetscRegister());
  PetscFunctionReturn(PETSC_SUCCESS);
}

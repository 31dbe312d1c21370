// SPDX-License-Identifier: BSD-2-Clause
/* Preloaded, it makes PETSc look like a later one. */
#include <petscsys.h>

PetscErrorCode PetscGetVersionNumber(PetscInt* major, PetscInt* minor, PetscInt* subminor,
                                     PetscInt* release) {
  if (major) *major = 3;
  if (minor) *minor = 99;
  if (subminor) *subminor = 4;
  if (release) *release = 1;
  return 0;
}

// SPDX-License-Identifier: BSD-2-Clause
/* The public header alone. */
#include <anadrome/petsc.h>

int petsc_header_alone(void);
int petsc_header_alone(void) { return AnadromePetscRegister() == 0 ? 0 : 1; }

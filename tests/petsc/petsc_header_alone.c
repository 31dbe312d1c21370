/* The public header alone, first and twice. */
#include <anadrome/petsc.h>
#include <anadrome/petsc.h>

int petsc_header_alone(void);
int petsc_header_alone(void) { return AnadromePetscRegister() == 0 ? 0 : 1; }

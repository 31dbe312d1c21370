/* What Fortran cannot say through iso_c_binding: MPI_Comm_f2c may be a macro, and a C communicator
 * may be a pointer or an integer. */
#include <anadrome/anadrome.h>

ANADROME_API anadrome_status anadrome_fortran_open(MPI_Fint comm, anadrome_run** run);

anadrome_status anadrome_fortran_open(MPI_Fint comm, anadrome_run** run) {
  return anadrome_open(MPI_Comm_f2c(comm), run);
}

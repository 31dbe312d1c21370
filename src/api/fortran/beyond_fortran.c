// SPDX-License-Identifier: BSD-2-Clause
/* What Fortran cannot say through iso_c_binding, or gfortran does not say rightly. */
#include <ISO_Fortran_binding.h>
#include <anadrome/store.h>

ANADROME_API anadrome_status anadrome_fortran_open(MPI_Fint comm, anadrome_run** run);
ANADROME_API anadrome_status anadrome_fortran_store_open(MPI_Fint comm, const char* options,
                                                         anadrome_store** store);
ANADROME_API int anadrome_fortran_is_contiguous(const CFI_cdesc_t* values);

/* MPI_Comm_f2c may be a macro, and a C communicator may be a pointer or an integer. */
anadrome_status anadrome_fortran_open(MPI_Fint comm, anadrome_run** run) {
  return anadrome_open(MPI_Comm_f2c(comm), run);
}

anadrome_status anadrome_fortran_store_open(MPI_Fint comm, const char* options,
                                            anadrome_store** store) {
  return anadrome_store_open(MPI_Comm_f2c(comm), options, store);
}

/* gfortran's is_contiguous() does not see that the elements of a component, particles%x, or of a
 * real part, z%re, lie apart; its CFI_is_contiguous() prints something about scalars under
 * -fcheck=bounds. */
int anadrome_fortran_is_contiguous(const CFI_cdesc_t* values) {
  CFI_index_t bytes = (CFI_index_t)values->elem_len;
  for (int d = 0; d < values->rank; ++d) {
    if (values->dim[d].extent != 1 && values->dim[d].sm != bytes) return 0;
    bytes *= values->dim[d].extent;
  }
  return 1;
}

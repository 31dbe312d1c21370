! SPDX-License-Identifier: BSD-2-Clause
! Must not compile: the library would write to `u` behind the compiler's back.
program no_target
  use mpi_f08
  use anadrome
  implicit none
  real :: u(3)
  type(anadrome_run) :: run
  call anadrome_open(run, MPI_COMM_WORLD)
  call anadrome_add_field(run, "u", ANADROME_ROLE_STATE, u)
end program no_target

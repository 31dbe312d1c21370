! SPDX-License-Identifier: BSD-2-Clause
! A program without MPI that does not look at what the calls before anadrome_begin return.
program before_mpi
  use mpi_f08
  use anadrome
  implicit none
  real, target :: u(3)
  type(anadrome_run) :: run
  type(anadrome_store) :: store
  integer :: ierr
  call anadrome_open(run, MPI_COMM_SELF, ierr)
  call anadrome_add_field(run, "u", ANADROME_ROLE_STATE, u, ierr=ierr)
  call anadrome_begin(run, 3, ierr)
  print "(a)", anadrome_last_error()
  call anadrome_store_open(store, MPI_COMM_SELF, "memory=1MiB", ierr)
  call anadrome_store_get(store, 0, [anadrome_part("u", u)], ierr)
  print "(a)", anadrome_last_error()
  call MPI_Init()
  call anadrome_open(run, MPI_COMM_SELF, ierr)
  call anadrome_close(run, ierr)
  call anadrome_begin(run, 3, ierr)
  print "(a)", anadrome_last_error()
  call MPI_Finalize()
end program before_mpi

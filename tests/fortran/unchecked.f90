! SPDX-License-Identifier: BSD-2-Clause
! A failure that the program does not ask for must end it.
program unchecked
  use mpi_f08
  use anadrome
  implicit none
  type(anadrome_run) :: run
  call MPI_Init()
  call anadrome_open(run, MPI_COMM_WORLD)
  call anadrome_set(run, "memory", "lots")
  print "(a)", "went on"
end program unchecked

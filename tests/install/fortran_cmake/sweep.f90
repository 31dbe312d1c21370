! SPDX-License-Identifier: BSD-2-Clause
! As sweep.c, in Fortran. Prints "equal" on rank 0.
program sweep
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use anadrome
  implicit none
  integer, parameter :: steps = 60
  real(real64), allocatable, target :: x(:)
  real(real64), allocatable :: lambda(:), states(:, :)
  type(anadrome_run) :: run
  type(anadrome_action) :: action
  integer(int64) :: k
  integer :: rank
  logical :: equal
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  allocate (x(1000 - 100 * rank))
  call initial_state()
  call anadrome_open(run, MPI_COMM_WORLD)
  call anadrome_set(run, "memory", "100KiB")
  call anadrome_add_field(run, "x", ANADROME_ROLE_STATE, x)
  call anadrome_begin(run, steps)
  do
    call anadrome_next(run, action)
    select case (action%kind)
    case (ANADROME_ADVANCE)
      do k = action%first, action%last - 1
        x = x + 0.05_real64 * sin(x)
      end do
    case (ANADROME_TURN)
      lambda = 2 * x
    case (ANADROME_ADJOINT)
      lambda = lambda * (1 + 0.05_real64 * cos(x))
    case (ANADROME_DONE)
      exit
    end select
  end do
  call anadrome_close(run)

  allocate (states(size(x), 0:steps))
  call initial_state()
  do k = 0, steps
    states(:, k) = x
    x = x + 0.05_real64 * sin(x)
  end do
  x = 2 * states(:, steps)
  do k = steps - 1, 0, -1
    x = x * (1 + 0.05_real64 * cos(states(:, k)))
  end do
  equal = all(abs(x - lambda) <= 0)
  call MPI_Allreduce(MPI_IN_PLACE, equal, 1, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
  if (rank == 0) print "(a)", merge("equal    ", "DIFFERENT", equal)
  call MPI_Finalize()
  if (.not. equal) stop 1

contains

  subroutine initial_state()
    integer :: i
    x = [(0.01_real64 * i + rank, i = 1, size(x))]
  end subroutine initial_state
end program sweep

! SPDX-License-Identifier: BSD-2-Clause
!
! The gradient of J = 1/2 sum u_n^2 with respect to u_0, where u obeys Burgers' equation in a ring with random forcing:
!   u_{k+1}(i) = u_k(i) - courant (f(i) - f(i-1)) + strength r(i) u_k(i),   f = u_k^2 / 2,   u > 0 (upwind).
! Each rank has a part of the ring and a random number generator of its own. The generator's state belongs to the state: a step
! that is run again draws the same numbers, and the adjoint of a step, which needs them too, draws them from a copy.
!
! The program computes the gradient with every state kept in arrays, and again with anadrome, and compares all bits.

module burgers
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: int32, real64
  implicit none
  integer, parameter :: all_cells = 400, steps = 1000
  real(real64), parameter :: courant = 0.4_real64, strength = 0.01_real64
  integer :: rank, ranks, left, right
  integer :: cells                            ! of this rank
  real(real64), allocatable, target :: u(:)   ! cells 1 .. cells; u(0) is the halo
  integer(int32), target :: generator(4)      ! the state of this rank's generator
  real(real64), allocatable :: lambda(:)      ! adjoint of cells 1 .. cells; lambda(cells + 1) is the halo

contains

  ! Numbers between -1/2 and 1/2 (Marsaglia 2003, xorshift128).
  subroutine draw(state, numbers)
    integer(int32), intent(inout) :: state(4)
    real(real64), intent(out) :: numbers(:)
    integer(int32) :: t
    integer :: i
    do i = 1, size(numbers)
      t = ieor(state(1), ishft(state(1), 11))
      state(1:3) = state(2:4)
      state(4) = ieor(ieor(state(4), ishft(state(4), -19)), ieor(t, ishft(t, -8)))
      numbers(i) = real(ishft(state(4), -8), real64) / 2.0_real64**24 - 0.5_real64
    end do
  end subroutine draw

  ! Divides the ring among the ranks.
  subroutine set_up()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)
    cells = first_cell(rank + 1) - first_cell(rank)
    allocate (u(0:cells), lambda(cells + 1))
  end subroutine set_up

  integer function first_cell(of_rank)
    integer, intent(in) :: of_rank
    first_cell = of_rank * all_cells / ranks
  end function first_cell

  ! x_0: the cells and the generator.
  subroutine start()
    real(real64), parameter :: two_pi = 8 * atan(1.0_real64)
    real(real64) :: unused(100)
    integer :: i
    u(0) = 0
    do i = 1, cells
      u(i) = 1 + 0.3_real64 * sin(two_pi * (first_cell(rank) + i) / all_cells)
    end do
    generator = [123456789, 362436069, 521288629, 88675123 + rank]
    call draw(generator, unused) ! the first numbers of two ranks are alike
  end subroutine start

  subroutine step()
    real(real64) :: flux(0:cells), random(cells)
    call MPI_Sendrecv(u(cells), 1, MPI_DOUBLE_PRECISION, right, 0, u(0), 1, MPI_DOUBLE_PRECISION, left, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call draw(generator, random)
    flux = 0.5_real64 * u**2
    u(1:cells) = u(1:cells) - courant * (flux(1:cells) - flux(0:cells - 1)) + strength * random * u(1:cells)
  end subroutine step

  subroutine start_adjoint()
    lambda(1:cells) = u(1:cells)
  end subroutine start_adjoint

  ! u and generator are those before the step, and stay so.
  subroutine adjoint_step()
    real(real64) :: random(cells)
    integer(int32) :: copy(4)
    call MPI_Sendrecv(lambda(1), 1, MPI_DOUBLE_PRECISION, left, 0, lambda(cells + 1), 1, MPI_DOUBLE_PRECISION, right, 0, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    copy = generator
    call draw(copy, random)
    lambda(1:cells) = (1 - courant * u(1:cells) + strength * random) * lambda(1:cells) &
                      + courant * u(1:cells) * lambda(2:cells + 1)
  end subroutine adjoint_step
end module burgers

program advection
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: int64, real64, error_unit
  use anadrome
  use burgers
  implicit none
  real(real64), allocatable :: expected(:)
  integer :: differ
  real(real64) :: most

  call MPI_Init()
  call set_up()
  call gradient_from_arrays()
  expected = lambda(1:cells)
  lambda = 0
  call gradient_from_anadrome()

  differ = count(transfer(lambda(1:cells), [0_int64]) /= transfer(expected, [0_int64]))
  most = maxval(abs(lambda(1:cells) - expected))
  call MPI_Allreduce(MPI_IN_PLACE, differ, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Allreduce(MPI_IN_PLACE, most, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  if (rank == 0 .and. differ == 0) print "(a)", "equal"
  if (rank == 0 .and. differ /= 0) &
    print "(a,i0,a,i0,a,es9.2)", "the gradients differ in ", differ, " of ", all_cells, " cells, by ", most
  call MPI_Finalize()
  if (differ /= 0) stop 1

contains

  subroutine gradient_from_arrays()
    real(real64), allocatable :: all_u(:, :)
    integer, allocatable :: all_generators(:, :)
    integer :: k
    allocate (all_u(cells, 0:steps - 1), all_generators(4, 0:steps - 1))
    call start()
    do k = 0, steps - 1
      all_u(:, k) = u(1:cells)
      all_generators(:, k) = generator
      call step()
    end do
    call start_adjoint()
    do k = steps - 1, 0, -1
      u(1:cells) = all_u(:, k)
      generator = all_generators(:, k)
      call adjoint_step()
    end do
  end subroutine gradient_from_arrays

  subroutine gradient_from_anadrome()
    type(anadrome_run) :: run
    type(anadrome_action) :: action
    integer :: ierr
    integer(int64) :: k
    call anadrome_open(run, MPI_COMM_WORLD, ierr)
    if (ierr /= ANADROME_OK) call give_up(run)
    ! What fails on any rank in the next five calls, anadrome_begin reports on all.
    call anadrome_set(run, "memory", "64KiB", ierr)
    call anadrome_set(run, "schedule", "async", ierr)
    call anadrome_set(run, "interval", "50", ierr) ! else it writes next to nothing: these steps are shorter than a write
    call anadrome_add_field(run, "u", ANADROME_ROLE_STATE, u(1:cells), ierr) ! the halo is fetched by every step
    call anadrome_add_field(run, "generator", ANADROME_ROLE_STATE, generator, ierr)
    call start()
    call anadrome_begin(run, steps, ierr)
    if (ierr /= ANADROME_OK) call give_up(run)
    do
      call anadrome_next(run, action, ierr)
      if (ierr /= ANADROME_OK) call give_up(run)
      select case (action%kind)
      case (ANADROME_ADVANCE)
        do k = action%first, action%last - 1
          call step()
        end do
      case (ANADROME_TURN);    call start_adjoint()
      case (ANADROME_ADJOINT); call adjoint_step()
      case (ANADROME_DONE);    exit
      end select
    end do
    call anadrome_close(run, ierr)
    if (ierr /= ANADROME_OK) call give_up(run)
  end subroutine gradient_from_anadrome

  ! Errors of collective calls are the same on all ranks: rank 0 prints, and all end.
  subroutine give_up(run)
    type(anadrome_run), intent(inout) :: run
    integer :: ierr
    if (rank == 0) write (error_unit, "(a)") anadrome_last_error()
    call anadrome_close(run, ierr)
    call MPI_Finalize()
    stop 2
  end subroutine give_up
end program advection

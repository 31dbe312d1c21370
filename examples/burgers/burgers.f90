! SPDX-License-Identifier: BSD-2-Clause
! Burgers' equation u_t + (u^2/2)_x = nu u_xx on a periodic interval, cut into one piece per rank; the gradient
! of J = h/2 sum (u(T) - d)^2 with respect to u(0); and its check. Exit code 1: the gradient is wrong.
program burgers
  use, intrinsic :: iso_fortran_env, only: dp => real64, output_unit
  use mpi_f08
  use anadrome
  implicit none
  integer, parameter :: cells = 400, steps = 2000
  real(dp), parameter :: pi = acos(-1.0_dp), h = 1.0_dp / cells, dt = 0.2_dp * h, nu = 0.5_dp * h
  real(dp), parameter :: c = dt / (2 * h), r = nu * dt / h**2
  real(dp), allocatable, target :: u(:)  ! the state; TARGET, since anadrome writes to it
  real(dp), allocatable :: lambda(:), x(:), initial(:), d(:), direction(:)
  real(dp) :: objective, slope, remainder(2), epsilon
  integer :: rank, ranks, i

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  x = [(i * h, i = rank * cells / ranks + 1, (rank + 1) * cells / ranks)]
  initial = 1 + 0.5_dp * sin(2 * pi * x)
  d = 1 + 0.3_dp * cos(2 * pi * x)
  direction = cos(6 * pi * x)

  u = initial
  call gradient()

  ! J(u_0 + e v) = J + e <gradient, v> + O(e^2): half the e, a quarter of the remainder.
  do i = 1, 2
    epsilon = 2e-4_dp / i
    u = initial + epsilon * direction
    call forward(steps)
    remainder(i) = abs(mismatch() - objective - epsilon * total(lambda * direction))
  end do
  slope = log(remainder(1) / remainder(2)) / log(2.0_dp)
  if (rank == 0) print "(a,es23.16,a,f7.4)", "objective ", objective, "  taylor slope ", slope
  flush (output_unit)  ! mpirun ends every rank as soon as one stops with an exit code
  call MPI_Finalize()
  if (.not. abs(slope - 2) < 0.1_dp) stop 1

contains

  ! The objective, and dJ/du_0 in lambda: what an adjoint code has to say to anadrome.
  subroutine gradient()
    type(anadrome_run) :: run
    type(anadrome_action) :: action
    call anadrome_open(run, MPI_COMM_WORLD)
    call anadrome_set(run, "memory", "100KiB")
    call anadrome_add_field(run, "u", ANADROME_ROLE_STATE, u)
    call anadrome_begin(run, steps)
    do
      call anadrome_next(run, action)
      select case (action%kind)
      case (ANADROME_ADVANCE)
        call forward(int(action%last - action%first))
      case (ANADROME_TURN)
        objective = mismatch()
        lambda = h * (u - d)
      case (ANADROME_ADJOINT)
        call adjoint_step()
      case (ANADROME_DONE)
        exit
      end select
    end do
    call anadrome_close(run)
  end subroutine gradient

  ! So many steps; the equation does not depend on time.
  subroutine forward(count)
    integer, intent(in) :: count
    real(dp) :: w(0:size(u) + 1)
    integer :: k
    do k = 1, count
      w = with_neighbours(u)
      u = u - 0.5_dp * c * (w(2:)**2 - w(:size(u) - 1)**2) + r * (w(2:) - 2 * u + w(:size(u) - 1))
    end do
  end subroutine forward

  ! lambda_{k+1} -> lambda_k, with x_k in u.
  subroutine adjoint_step()
    real(dp) :: l(0:size(u) + 1)
    l = with_neighbours(lambda)
    lambda = (1 - 2 * r) * lambda + (r - c * u) * l(:size(u) - 1) + (r + c * u) * l(2:)
  end subroutine adjoint_step

  function with_neighbours(v) result(w)
    real(dp), intent(in) :: v(:)
    real(dp) :: w(0:size(v) + 1)
    integer :: west, east
    west = modulo(rank - 1, ranks)
    east = modulo(rank + 1, ranks)
    w(1:size(v)) = v
    call MPI_Sendrecv(v(1), 1, MPI_DOUBLE_PRECISION, west, 0, w(size(v) + 1), 1, MPI_DOUBLE_PRECISION, &
         east, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(v(size(v)), 1, MPI_DOUBLE_PRECISION, east, 1, w(0), 1, MPI_DOUBLE_PRECISION, &
         west, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end function with_neighbours

  real(dp) function mismatch()
    mismatch = 0.5_dp * h * total((u - d)**2)
  end function mismatch

  real(dp) function total(values)
    real(dp), intent(in) :: values(:)
    total = sum(values)
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  end function total
end program burgers

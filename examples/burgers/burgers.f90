! Burgers' equation u_t + (u^2/2)_x = nu u_xx on a periodic interval, cut into one piece per rank; the gradient
! of J = h/2 sum (u(T) - d)^2 with respect to u(0); and its check. Exit code 1: the gradient is wrong.
!   mpirun -n 2 burgers [steps]
program burgers
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use anadrome
  implicit none
  integer, parameter :: dp = real64, cells = 400
  real(dp), parameter :: pi = acos(-1.0_dp), h = 1.0_dp / cells, dt = 0.2_dp * h, nu = 0.5_dp * h
  real(dp), parameter :: c = dt / (2 * h), r = nu * dt / h**2
  real(dp), allocatable, target :: u(:)  ! the state; TARGET, since anadrome writes to it
  real(dp), allocatable :: lambda(:), position(:), direction(:)
  real(dp) :: objective, slope, remainder(2), epsilon
  integer :: rank, ranks, west, east, first, last, i
  integer(int64) :: steps = 2000
  character(20) :: argument

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  west = modulo(rank - 1, ranks)
  east = modulo(rank + 1, ranks)
  first = rank * cells / ranks + 1
  last = (rank + 1) * cells / ranks
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) steps
  end if
  position = [(i * h, i = first, last)]
  direction = cos(6 * pi * position)
  allocate (u(size(position)), lambda(size(position)))

  call gradient(objective)

  ! J(u_0 + e v) = J + e <gradient, v> + O(e^2): half the e, a quarter of the remainder.
  do i = 1, 2
    epsilon = 2e-4_dp / i
    u = initial(position) + epsilon * direction
    call forward(0_int64, steps)
    remainder(i) = abs(mismatch() - objective - epsilon * total(lambda * direction))
  end do
  slope = log(remainder(1) / remainder(2)) / log(2.0_dp)
  if (rank == 0) print "(a,es23.16,a,f7.4)", "objective ", objective, "  taylor slope ", slope
  call MPI_Finalize()
  if (.not. abs(slope - 2) < 0.1_dp) stop 1

contains

  ! dJ/du_0 in lambda: what an adjoint code has to say to anadrome.
  subroutine gradient(objective)
    real(dp), intent(out) :: objective
    type(anadrome_run) :: run
    type(anadrome_action) :: action
    call anadrome_open(run, MPI_COMM_WORLD)
    call anadrome_set(run, "memory", "100KiB")
    call anadrome_add_field(run, "u", ANADROME_ROLE_STATE, u)
    u = initial(position)
    call anadrome_begin(run, steps)
    do
      call anadrome_next(run, action)
      select case (action%kind)
      case (ANADROME_ADVANCE); call forward(action%first, action%last)
      case (ANADROME_TURN)
        objective = mismatch()
        lambda = h * (u - target_state(position))
      case (ANADROME_ADJOINT); call adjoint_step()
      case (ANADROME_DONE); exit
      end select
    end do
    call anadrome_close(run)
  end subroutine gradient

  ! Steps first .. last-1; the equation does not depend on time.
  subroutine forward(first_step, last_step)
    integer(int64), intent(in) :: first_step, last_step
    real(dp) :: w(0:size(u) + 1)
    integer(int64) :: k
    do k = first_step, last_step - 1
      call with_neighbours(u, w)
      u = u - 0.5_dp * c * (w(2:)**2 - w(:size(u) - 1)**2) + r * (w(2:) - 2 * u + w(:size(u) - 1))
    end do
  end subroutine forward

  ! lambda_{k+1} -> lambda_k, with x_k in u.
  subroutine adjoint_step()
    real(dp) :: l(0:size(u) + 1)
    call with_neighbours(lambda, l)
    lambda = (1 - 2 * r) * lambda + (r - c * u) * l(:size(u) - 1) + (r + c * u) * l(2:)
  end subroutine adjoint_step

  subroutine with_neighbours(v, w)
    real(dp), intent(in) :: v(:)
    real(dp), intent(out) :: w(0:)
    integer :: n
    n = size(v)
    w(1:n) = v
    call MPI_Sendrecv(v(1), 1, MPI_DOUBLE_PRECISION, west, 0, w(n + 1), 1, MPI_DOUBLE_PRECISION, east, 0, &
         MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(v(n), 1, MPI_DOUBLE_PRECISION, east, 1, w(0), 1, MPI_DOUBLE_PRECISION, west, 1, &
         MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine with_neighbours

  elemental real(dp) function initial(x)
    real(dp), intent(in) :: x
    initial = 1 + 0.5_dp * sin(2 * pi * x)
  end function initial

  elemental real(dp) function target_state(x)
    real(dp), intent(in) :: x
    target_state = 1 + 0.3_dp * cos(2 * pi * x)
  end function target_state

  real(dp) function mismatch()
    mismatch = 0.5_dp * h * total((u - target_state(position))**2)
  end function mismatch

  real(dp) function total(values)
    real(dp), intent(in) :: values(:)
    total = sum(values)
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  end function total
end program burgers

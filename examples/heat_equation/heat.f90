! SPDX-License-Identifier: BSD-2-Clause
! heat_equation in Fortran, by explicit Euler, with the module `anadrome`. The gradient has the bits of the C
! program's. A call of anadrome without a status ends the program with a message if it fails. See README.md.
program heat
  use, intrinsic :: iso_c_binding, only: c_int64_t, c_loc, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: dp => real64, int64, output_unit
  use mpi_f08
  use anadrome
  use heat_cells
  implicit none

  interface
    function xxh3(bytes, length) bind(c, name="XXH3_64bits") result(hash)
      import :: c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: bytes
      integer(c_size_t), value :: length
      integer(c_int64_t) :: hash
    end function xxh3
  end interface

  real(dp), parameter :: pi = 3.14159265358979323846_dp
  integer :: nx = 256, cells_y = 256, steps = 200, work = 1
  logical :: zero_copy = .false., resume = .false.
  ! This rank has ny rows of the grid after the first `before` ones; the last ranks may have none.
  integer :: rank, ranks, before, ny, south = MPI_PROC_NULL, north = MPI_PROC_NULL
  real(dp) :: hx, hy, dt
  real(dp), target :: objective(1) = 0
  real(dp), allocatable, target :: u(:, :), lambda(:, :), gradient(:, :)
  real(dp), allocatable, dimension(:, :) :: x, y, source, goal, face_x, face_y, padded_u, padded_l
  real(dp), pointer, contiguous :: now(:, :), next(:, :)  ! the live state, and where the next one goes
  type(anadrome_run) :: run
  integer :: field  ! of the state in anadrome, if it is exchanged

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call anadrome_open(run, MPI_COMM_WORLD)
  call anadrome_set(run, "report", "-")
  call read_flags()
  call create_model()
  call add_fields()
  call sweep()
  call anadrome_close(run)
  call print_results()
  flush (output_unit)  ! mpirun ends every rank as soon as one stops
  call MPI_Finalize()

contains

  ! A flag that is not the program's own is an option of anadrome.
  subroutine read_flags()
    character(1024) :: name, value
    integer :: a, cut
    a = 1
    do while (a <= command_argument_count())
      call get_command_argument(a, name)
      call get_command_argument(a + 1, value)
      a = a + 2
      cut = index(value, merge("=", "x", name == "--set"))
      select case (name)
      case ("--zero-copy", "--resume")  ! have no value
        zero_copy = zero_copy .or. name == "--zero-copy"
        resume = resume .or. name == "--resume"
        a = a - 1
      case ("--grid")
        read (value(:cut - 1), *) nx
        read (value(cut + 1:), *) cells_y
      case ("--steps")
        read (value, *) steps
      case ("--work")
        read (value, *) work
      case ("--set")
        call anadrome_set(run, value(:cut - 1), trim(value(cut + 1:)))
      case default
        call anadrome_set(run, trim(name(3:)), trim(value))
      end select
    end do
  end subroutine read_flags

  ! The rows before those of a rank; the longer strips come first.
  pure integer function rows_before(strip)
    integer, intent(in) :: strip
    rows_before = strip * (cells_y / ranks) + min(strip, mod(cells_y, ranks))
  end function rows_before

  subroutine create_model()
    real(dp), parameter :: range = 0.8_dp  ! the conductivity varies by a factor of 4.95
    integer :: i
    before = rows_before(rank)
    ny = rows_before(rank + 1) - before
    if (before > 0) south = rank - 1
    if (before + ny < cells_y) north = rank + 1
    hx = 1.0_dp / nx
    hy = 1.0_dp / cells_y
    dt = 0.4_dp / (exp(range) * (1 / (hx * hx) + 1 / (hy * hy)))
    x = spread([((i - 1 + 0.5_dp) / nx, i = 1, nx)], 2, ny)
    y = spread([((before + i - 1 + 0.5_dp) / cells_y, i = 1, ny)], 1, nx)
    source = 20 * exp(-20 * ((x - 0.3_dp) * (x - 0.3_dp) + (y - 0.6_dp) * (y - 0.6_dp)))
    goal = 10 * x * (1 - x) * y * (1 - y) * (1 + 0.3_dp * cos(4 * x + y))
    u = exp(range * sin(2 * pi * x) * cos(pi * y))  ! kappa, for the moment
    lambda = 0 * x
    gradient = 0 * x
    allocate (face_x(0:nx, ny), face_y(nx, 0:ny), padded_u(0:nx + 1, 0:ny + 1), padded_l(0:nx + 1, 0:ny + 1))
    call exchange(u, 1.0_dp, padded_u)
    if (ny > 0) face_x = 0.5_dp * dt / (hx * hx) * (padded_u(0:nx, 1:ny) + padded_u(1:, 1:ny))
    if (ny > 0) face_y = 0.5_dp * dt / (hy * hy) * (padded_u(1:nx, 0:ny) + padded_u(1:nx, 1:))
  end subroutine create_model

  subroutine add_fields()
    character(80) :: problem
    if (zero_copy) then
      call anadrome_add_exchanged(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, size(u), field)
    else
      call anadrome_add_field(run, "u", ANADROME_ROLE_STATE, u)
    end if
    if (.not. resume) return
    ! What must not change between two processes of one run, besides what anadrome sees itself; and what the
    ! adjoint sweep has so far, which is never computed again.
    write (problem, "(a,i0,a,i0,a)") "heat equation, ", nx, "x", cells_y, " cells"
    call anadrome_set(run, "problem", trim(problem))
    call anadrome_set(run, "resume", "on")
    call anadrome_add_field(run, "lambda", ANADROME_ROLE_ADJOINT, lambda)
    call anadrome_add_field(run, "gradient_kappa", ANADROME_ROLE_ADJOINT, gradient)
    call anadrome_add_field(run, "objective", ANADROME_ROLE_ADJOINT, objective)
  end subroutine add_fields

  ! One sweep forward and one back, as anadrome asks for it.
  subroutine sweep()
    type(anadrome_action) :: action
    integer(int64) :: k, at
    integer :: phase
    call anadrome_begin(run, steps)
    call anadrome_resumed(run, phase, at)
    call find_state()
    if (phase == ANADROME_PHASE_IDLE) next = sin(pi * x) * sin(pi * y) * (1 + 0.5_dp * x) &
         + 0.25_dp * sin(3 * pi * x) * sin(2 * pi * y)
    if (phase /= ANADROME_PHASE_IDLE .and. rank == 0) print "(a,a,a,i0)", "going on in the ", &
         trim(merge("forward", "reverse", phase == ANADROME_PHASE_FORWARD)), " sweep, at step ", at
    do
      call anadrome_next(run, action)
      select case (action%kind)
      case (ANADROME_ADVANCE)
        do k = action%first, action%last - 1
          call find_state()
          call step(k)
        end do
      case (ANADROME_TURN)
        call find_state()
        lambda = now - goal
        objective = 0.5_dp * hx * hy * total(lambda)
        lambda = lambda * (hx * hy)
        gradient = 0
      case (ANADROME_ADJOINT)
        call find_state()
        call adjoint_step()
      case (ANADROME_DONE)
        exit
      end select
    end do
  end subroutine sweep

  ! Without copies the state is where anadrome has it.
  subroutine find_state()
    now => u
    next => u
    if (zero_copy) call anadrome_now(run, field, now, shape(u))
    if (zero_copy) call anadrome_then(run, field, next, shape(u))
  end subroutine find_state

  subroutine step(k)
    integer(int64), intent(in) :: k
    integer :: again
    call exchange(now, -1.0_dp, padded_u)
    do again = 1, work
      call diffuse(padded_u, face_x, face_y, next)
    end do
    next = next + dt * cos(40 * real(k, dp) * dt) * source
  end subroutine step

  ! lambda_{k+1} -> lambda_k with x_k in `now`: the diffusion is its own transpose.
  subroutine adjoint_step()
    integer :: again
    call exchange(now, -1.0_dp, padded_u)
    call exchange(lambda, -1.0_dp, padded_l)
    call add_gradient(0.5_dp * dt / (hx * hx), 0.5_dp * dt / (hy * hy), padded_u, padded_l, gradient)
    do again = 1, work
      call diffuse(padded_l, face_x, face_y, lambda)
    end do
  end subroutine adjoint_step

  ! `inside` with the cells around it. Behind a wall lies `wall` times the cell inside.
  subroutine exchange(inside, wall, padded)
    real(dp), intent(in), contiguous :: inside(:, :)
    real(dp), intent(in) :: wall
    real(dp), intent(inout) :: padded(0:, 0:)
    if (ny == 0) return
    padded(1:nx, 1:ny) = inside
    padded(0, 1:ny) = wall * inside(1, :)
    padded(nx + 1, 1:ny) = wall * inside(nx, :)
    padded(1:nx, 0) = wall * inside(:, 1)
    padded(1:nx, ny + 1) = wall * inside(:, ny)
    call MPI_Sendrecv(inside(:, 1), nx, MPI_DOUBLE_PRECISION, south, 0, padded(1:nx, ny + 1), nx, &
         MPI_DOUBLE_PRECISION, north, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Sendrecv(inside(:, ny), nx, MPI_DOUBLE_PRECISION, north, 1, padded(1:nx, 0), nx, &
         MPI_DOUBLE_PRECISION, south, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  end subroutine exchange

  ! The sum of squares over all ranks.
  real(dp) function total(values)
    real(dp), intent(in) :: values(:, :)
    total = sum(values**2)
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  end function total

  subroutine print_results()
    real(dp), allocatable, target :: whole(:, :, :)
    real(dp) :: norm
    character(16) :: hash
    integer :: i
    norm = sqrt(total(gradient) + total(lambda))
    allocate (whole(nx, merge(cells_y, 0, rank == 0), 2))
    call gather(gradient, whole(:, :, 1))
    call gather(lambda, whole(:, :, 2))
    if (rank /= 0) return
    write (hash, "(z16.16)") xxh3(c_loc(whole), size(whole, kind=c_size_t) * 8)
    do i = 1, 16
      if (hash(i:i) >= "A") hash(i:i) = achar(iachar(hash(i:i)) + 32)  ! in lower case, as C has it
    end do
    print "(a,es23.16)", "objective         ", objective
    print "(a,es23.16)", "gradient norm     ", norm
    print "(a,a)", "gradient hash      ", hash
  end subroutine print_results

  subroutine gather(strip, whole)
    real(dp), intent(in), contiguous :: strip(:, :)
    real(dp), intent(inout), contiguous :: whole(:, :)
    integer :: i
    call MPI_Gatherv(strip, size(strip), MPI_DOUBLE_PRECISION, whole, &
         [(nx * (rows_before(i + 1) - rows_before(i)), i = 0, ranks - 1)], &
         [(nx * rows_before(i), i = 0, ranks - 1)], MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD)
  end subroutine gather
end program heat

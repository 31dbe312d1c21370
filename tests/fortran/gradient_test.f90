! SPDX-License-Identifier: BSD-2-Clause
! anadrome_check_gradient from Fortran: a pendulum on each rank, whose adjoint may be wrong at one step.
module pendulum_models
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use anadrome
  implicit none
  private
  public :: pendulum

  real(real64), parameter :: dt = 0.1_real64, first_angle = 0.8_real64

  type, extends(anadrome_gradient_model) :: pendulum
    real(real64) :: x(2) = 0, lambda(2) = 0   ! angle and speed, and their adjoint variables
    real(real64) :: angle = first_angle       ! the control
    real(real64) :: total = 0
    integer(int64) :: wrong_step = -1
    integer :: fail_at = 0                    ! 1: perturb, 2: objective, 3: derivative, 4: mask
    integer :: masks = 0
  contains
    procedure :: start
    procedure :: advance
    procedure :: turn
    procedure :: adjoint
    procedure :: perturb
    procedure :: objective
    procedure :: derivative
    procedure :: mask
  end type pendulum

contains

  subroutine start(model, ierr)
    class(pendulum), intent(inout) :: model
    integer, intent(inout) :: ierr
    model%x = [model%angle, 0.2_real64]
  end subroutine start

  subroutine advance(model, first, last, reached, ierr)
    class(pendulum), intent(inout) :: model
    integer(int64), intent(in) :: first, last
    integer(int64), intent(inout) :: reached
    integer, intent(inout) :: ierr
    integer(int64) :: k
    do k = first, last - 1
      model%x = model%x + dt * [model%x(2), -sin(model%x(1))]
    end do
  end subroutine advance

  subroutine turn(model, steps, ierr)
    class(pendulum), intent(inout) :: model
    integer(int64), intent(in) :: steps
    integer, intent(inout) :: ierr
    model%lambda = [model%x(1), 0.0_real64]
    model%total = 0.5_real64 * model%x(1)**2
    call MPI_Allreduce(MPI_IN_PLACE, model%total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  end subroutine turn

  subroutine adjoint(model, step, ierr)
    class(pendulum), intent(inout) :: model
    integer(int64), intent(in) :: step
    integer, intent(inout) :: ierr
    real(real64) :: sign
    sign = merge(1.0_real64, -1.0_real64, step == model%wrong_step)
    model%lambda = model%lambda + dt * [sign * cos(model%x(1)) * model%lambda(2), model%lambda(1)]
  end subroutine adjoint

  subroutine perturb(model, seed, epsilon, ierr)
    class(pendulum), intent(inout) :: model
    integer(int64), intent(in) :: seed
    real(real64), intent(in) :: epsilon
    integer, intent(inout) :: ierr
    model%angle = first_angle + epsilon * real(seed, real64)
    if (model%fail_at == 1) ierr = 77
  end subroutine perturb

  subroutine objective(model, value, ierr)
    class(pendulum), intent(inout) :: model
    real(real64), intent(out) :: value
    integer, intent(inout) :: ierr
    value = model%total
    if (model%fail_at == 2) ierr = 77
  end subroutine objective

  subroutine derivative(model, seed, value, ierr)
    class(pendulum), intent(inout) :: model
    integer(int64), intent(in) :: seed
    real(real64), intent(out) :: value
    integer, intent(inout) :: ierr
    value = model%lambda(1) * real(seed, real64)
    call MPI_Allreduce(MPI_IN_PLACE, value, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    if (model%fail_at == 3) ierr = 77
  end subroutine derivative

  subroutine mask(model, ierr)
    class(pendulum), intent(inout) :: model
    integer, intent(inout) :: ierr
    model%masks = model%masks + 1
    if (model%fail_at == 4) ierr = 77
  end subroutine mask
end module pendulum_models

program gradient_test
  use, intrinsic :: iso_c_binding, only: c_intptr_t, c_loc, c_size_t, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use anadrome
  use expectations
  use pendulum_models
  implicit none

  interface
    function check_size() bind(c) result(bytes)
      import :: c_size_t
      integer(c_size_t) :: bytes
    end function check_size
    function check_message_offset() bind(c) result(bytes)
      import :: c_size_t
      integer(c_size_t) :: bytes
    end function check_message_offset
  end interface

  integer, parameter :: steps = 30
  integer :: provided, rank

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call layout()
  call right_adjoint()
  call wrong_adjoint()
  call failures()
  call conclude(2 + 6 + 6 + 8)

contains

  subroutine layout()
    type(anadrome_gradient_check), target :: check
    integer(c_intptr_t) :: base, last
    base = transfer(c_loc(check), base)
    last = transfer(c_loc(check%message), last)
    call expect(c_sizeof(check) == check_size(), "the size of anadrome_gradient_check is C's")
    call expect(last - base == check_message_offset(), "and so is the place of its last member")
  end subroutine layout

  subroutine prepare(run, model)
    type(anadrome_run), intent(out) :: run
    type(pendulum), target, intent(inout) :: model
    call anadrome_open(run, MPI_COMM_WORLD)
    call anadrome_set(run, "schedule", "revolve")
    call anadrome_set(run, "memory", "1KiB")
    call anadrome_add_field(run, "x", ANADROME_ROLE_STATE, model%x)
    call anadrome_add_field(run, "lambda", ANADROME_ROLE_ADJOINT, model%lambda)
    model%pairs = "x=lambda"
  end subroutine prepare

  subroutine right_adjoint()
    type(anadrome_run) :: run
    type(pendulum), target :: model
    type(anadrome_gradient_check) :: check
    call prepare(run, model)
    call anadrome_check_gradient(run, steps, model, check)
    call expect(check%verdict == ANADROME_VERDICT_RIGHT, anadrome_text(check%message))
    call expect(check%product_verdict == ANADROME_VERDICT_RIGHT .and. check%products == steps, "dot products")
    call expect(all(abs(check%slope(1:3) - 2) < 0.1_real64), "slopes")
    call expect(model%masks > 0, "mask is called")
    deallocate (model%pairs)
    model%seeds = 2
    call anadrome_check_gradient(run, int(steps, int64), model, check)
    call expect(check%verdict == ANADROME_VERDICT_RIGHT .and. check%seeds == 2, anadrome_text(check%message))
    call expect(check%product_verdict == ANADROME_VERDICT_NONE, "no pairs, no products")
    call anadrome_close(run)
  end subroutine right_adjoint

  subroutine wrong_adjoint()
    type(anadrome_run) :: run
    type(pendulum), target :: model
    type(anadrome_gradient_check) :: check
    character(200) :: line
    integer :: unit, status
    call prepare(run, model)
    model%wrong_step = 11
    model%report = directory()//"/gradient_report"
    call anadrome_check_gradient(run, steps, model, check)
    call expect(check%verdict == ANADROME_VERDICT_WRONG, anadrome_text(check%message))
    call expect(check%failing_step == 11 .and. check%failing_products == 1, "the step with a wrong sign")
    call expect(check%mismatch == ANADROME_MISMATCH_TERM, "one term has it, not all")
    call expect(index(anadrome_text(check%message), "first at step 11:") > 0, anadrome_text(check%message))
    call expect(all(abs(check%slope(1:3) - 1) < 0.2_real64), "slopes are 1")
    call MPI_Barrier(MPI_COMM_WORLD)
    open (newunit=unit, file=model%report, status="old", action="read")
    read (unit, "(a)", iostat=status) line
    close (unit)
    call expect(status == 0 .and. index(line, "check of a gradient over 30 steps") > 0, line)
    call anadrome_close(run)
  end subroutine wrong_adjoint

  subroutine failures()
    type(anadrome_run) :: run
    type(pendulum), target :: model
    type(anadrome_gradient_check) :: check
    integer :: status, at
    character(10), parameter :: names(4) = [character(10) :: "perturb", "objective", "derivative", "mask"]
    call prepare(run, model)
    do at = 1, 4
      model%fail_at = at
      call anadrome_check_gradient(run, steps, model, check, status)
      call expect_status(status, ANADROME_ERR_PEER, "a callback that fails")
      call expect_words("the callback "//trim(names(at))//" returned 77")
    end do
    call anadrome_close(run)
  end subroutine failures
end program gradient_test

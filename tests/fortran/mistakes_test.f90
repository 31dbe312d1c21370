! SPDX-License-Identifier: BSD-2-Clause
! The mistakes that people make in a port, in a loop over the actions and in procedures of a model: each is an
! error that names it in the first sweep, wherever the states are kept; a port without mistakes hears nothing.
module wave_ports
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use anadrome
  implicit none
  private
  public :: wave_port

  integer, parameter, public :: cells = 2048

  ! A wave equation with two time levels.
  type, extends(anadrome_model) :: wave_port
    character(:), allocatable :: mistake
    logical :: on_last_rank = .false.
    real(real64) :: x(2 * cells), hidden(cells), edge = 0.5_real64, gradient = 0
    integer :: calls = 0
  contains
    procedure :: start
    procedure :: advance
    procedure :: turn
    procedure :: adjoint
  end type wave_port

contains

  subroutine start(model, ierr)
    class(wave_port), intent(inout) :: model
    integer, intent(inout) :: ierr
    integer :: i
    model%x(:cells) = [(sin(0.01_real64 * i), i=1, cells)]
    model%x(cells + 1:) = 0.99_real64 * model%x(:cells)
    model%hidden = model%x(cells + 1:)
    model%gradient = 0
  end subroutine start

  subroutine advance(model, first, last, reached, ierr)
    class(wave_port), intent(inout) :: model
    integer(int64), intent(in) :: first, last
    integer(int64), intent(inout) :: reached
    integer, intent(inout) :: ierr
    integer(int64) :: k
    do k = first, merge(first, last - 1, model%mistake == "first step")
      if (model%mistake == "forgotten") then
        call step(model, model%x(:cells), model%hidden)
      else
        call step(model, model%x(:cells), model%x(cells + 1:))
      end if
    end do
  end subroutine advance

  subroutine step(model, u, before)
    class(wave_port), intent(inout) :: model
    real(real64), intent(inout) :: u(cells), before(cells)
    real(real64) :: next(cells), random
    next = 2 * u - before + 0.1_real64 * (cshift(u, 1) - 2 * u + cshift(u, -1)) - 1e-3_real64 * u**3
    model%calls = model%calls + 1
    if (model%on_last_rank) then
      call random_number(random)
      if (model%mistake == "random") next(7) = next(7) + 1e-6_real64 * random
      if (model%mistake == "static") next(7) = next(7) + 1e-6_real64 * model%calls
      if (model%mistake == "boundary") then
        next(cells) = model%edge
        model%edge = u(cells - 1)
      end if
    end if
    before = u
    u = next
  end subroutine step

  subroutine turn(model, steps, ierr)
    class(wave_port), intent(inout) :: model
    integer(int64), intent(in) :: steps
    integer, intent(inout) :: ierr
  end subroutine turn

  subroutine adjoint(model, step, ierr)
    class(wave_port), intent(inout) :: model
    integer(int64), intent(in) :: step
    integer, intent(inout) :: ierr
    model%gradient = model%gradient + model%x(7) * real(step + 1, real64)
  end subroutine adjoint
end module wave_ports

program mistakes_test
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use anadrome
  use expectations
  use wave_ports
  implicit none

  integer, parameter :: steps = 20
  character(*), parameter :: kept(2, 4) = reshape([character(9) :: "memory", "64MiB", "memory", "256KiB", &
       "schedule", "revolve", "schedule", "store_all"], [2, 4])
  character(*), parameter :: mistakes(2, 6) = reshape([character(40) :: &
       "forgotten", "not a registered state field", "static", "not a registered state field", &
       "random", "not a registered state field", "boundary", "not a registered state field", &
       "overlap", "'u' and 'before' overlap", "first step", "one step was run the second time"], [2, 6])
  integer :: provided, rank, ranks, i, m, by_callbacks
  real(real64) :: gradients(8)

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  do by_callbacks = 0, 1
    do i = 1, 4
      call sweep("", kept(:, i), by_callbacks == 1, "", gradients(i + 4 * by_callbacks))
      do m = 1, 6
        call sweep(trim(mistakes(1, m)), kept(:, i), by_callbacks == 1, trim(mistakes(2, m)))
      end do
    end do
  end do
  call expect(maxval(gradients) <= minval(gradients), "the gradient is the same wherever states are kept")
  call conclude(2 * 4 * (1 + 2 * 6) + 1)

contains

  subroutine sweep(mistake, option, by_callbacks, words, gradient)
    character(*), intent(in) :: mistake, option(2), words
    logical, intent(in) :: by_callbacks
    real(real64), optional, intent(out) :: gradient
    type(anadrome_run) :: run
    type(anadrome_action) :: action
    type(wave_port), target :: port
    integer :: status, ierr, second
    integer(int64) :: reached
    port%mistake = mistake
    port%on_last_rank = rank == ranks - 1
    second = merge(cells, cells + 1, mistake == "overlap")
    call anadrome_open(run, MPI_COMM_WORLD)
    call anadrome_set(run, "directory", directory())
    call anadrome_set(run, option(1), option(2))
    call anadrome_add_field(run, "u", ANADROME_ROLE_STATE, port%x(:cells))
    if (mistake /= "forgotten") &
         call anadrome_add_field(run, "before", ANADROME_ROLE_STATE, port%x(second:second + cells - 1))
    ierr = 0
    call port%start(ierr)
    if (by_callbacks) then
      call anadrome_solve(run, steps, port, status)
    else
      call anadrome_begin(run, steps, status)
      do while (status == ANADROME_OK)
        call anadrome_next(run, action, status)
        if (status /= ANADROME_OK .or. action%kind == ANADROME_DONE) exit
        if (action%kind == ANADROME_ADVANCE) call port%advance(action%first, action%last, reached, ierr)
        if (action%kind == ANADROME_ADJOINT) call port%adjoint(action%first, ierr)
      end do
    end if
    if (words == "") then
      call expect_status(status, ANADROME_OK, "no mistake, "//option(2))
    else
      call expect(status == merge(ANADROME_ERR_ARGUMENT, ANADROME_ERR_NONDETERMINISTIC, mistake == "overlap"), &
           mistake//", "//option(2))
      call expect_words(words)
    end if
    if (present(gradient)) gradient = port%gradient
    call anadrome_close(run)
  end subroutine sweep
end program mistakes_test

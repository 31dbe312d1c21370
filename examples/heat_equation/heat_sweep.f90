! The forward and the adjoint sweep, with the states given back by anadrome: what a user of the library has to
! write, in both of its styles.
module heat_sweeps
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08, only: MPI_Wtime
  use anadrome
  use heat_flags, only: heat_options
  use heat_grids, only: fill
  use heat_models
  use heat_reports, only: print_header
  use heat_steps
  implicit none
  private
  public :: heat_sweep, sweep_once, median_step

  integer, parameter :: most_times = 4096

  !> One object for all sweeps of one run.
  type, extends(anadrome_model) :: heat_sweep
    type(anadrome_run) :: run
    type(heat_model) :: model
    type(heat_options) :: options
    real(real64), pointer, contiguous :: u(:, :) => null()  ! the state, unless anadrome has it
    real(real64), pointer, contiguous :: tape(:, :, :) => null()  ! the stages of a step, if they are a tape
    integer :: field = -1                        ! of the state in anadrome, if it is exchanged
    real(real64) :: objective = 0                ! of the latest sweep
    logical :: header_is_due = .false.
    logical :: finished = .true.                 ! anadrome knows the number of steps
    integer :: log = -1                          ! unit of a line per action; -1: none
    real(real64) :: log_start = 0
    integer :: timed = 0                         ! of the first forward steps
    real(real64) :: seconds(most_times) = 0
  contains
    procedure :: start => write_initial_state
    procedure :: advance => advance_callback
    procedure :: record => record_callback
    procedure :: turn => turn_callback
    procedure :: adjoint => adjoint_callback
  end type heat_sweep

contains

  !> One forward sweep and the adjoint sweep back. The gradient is in `sweep%model` afterwards. Collective.
  subroutine sweep_once(sweep, ierr)
    type(heat_sweep), target, intent(inout) :: sweep
    integer, intent(out) :: ierr
    real(real64), pointer, contiguous :: u(:, :)
    integer(int64) :: steps
    steps = merge(ANADROME_STEPS_UNKNOWN, sweep%options%steps, sweep%options%steps_unknown)
    sweep%finished = .not. sweep%options%steps_unknown
    if (sweep%options%callbacks) then
      call anadrome_solve(sweep%run, steps, sweep, ierr)
    else
      call sweep_with_actions(sweep, steps, ierr)
    end if
    ! With a tape x_0 is not given back.
    if (ierr /= ANADROME_OK .or. sweep%options%tape .or. .not. sweep%options%zero_copy) return
    u => state(sweep)
    sweep%u = u  ! x_0, for whoever looks at it after the sweep
  end subroutine sweep_once

  subroutine sweep_with_actions(sweep, steps, ierr)
    type(heat_sweep), intent(inout) :: sweep
    integer(int64), intent(in) :: steps
    integer, intent(out) :: ierr
    type(anadrome_action) :: action
    integer(int64) :: reached
    integer :: status
    real(real64) :: since
    call anadrome_begin(sweep%run, steps, ierr)
    if (ierr /= ANADROME_OK) return
    status = ANADROME_OK
    if (.not. goes_on(sweep)) call write_initial_state(sweep, status)
    do
      call anadrome_next(sweep%run, action, ierr)
      if (ierr /= ANADROME_OK) exit
      since = MPI_Wtime()
      select case (action%kind)
      case (ANADROME_ADVANCE)
        call advance(sweep, action%first, action%last, action%record, reached)
        if (.not. sweep%finished .and. reached == sweep%options%steps) then
          sweep%finished = .true.
          call anadrome_finish_forward(sweep%run, reached, status)
          ! The loop goes on: all ranks learn of a failure at the next agreement point.
          if (status /= ANADROME_OK) call anadrome_fail(sweep%run, anadrome_last_error(), status)
        end if
      case (ANADROME_TURN)
        call heat_turn(sweep%model, state(sweep), sweep%objective)
      case (ANADROME_ADJOINT)
        call adjoint(sweep, action%first)
      case (ANADROME_DONE)
        exit
      end select
      call log_action(sweep, action, since)
    end do
  end subroutine sweep_with_actions

  ! Does the sweep go on where another process was? Then its state and adjoint are in the model.
  function goes_on(sweep)
    type(heat_sweep), intent(inout) :: sweep
    logical :: goes_on
    integer :: phase
    integer(int64) :: step
    call anadrome_resumed(sweep%run, phase, step)
    goes_on = phase /= ANADROME_PHASE_IDLE
    if (.not. goes_on .or. sweep%options%quiet .or. sweep%model%grid%rank /= 0) return
    print "(a,a,a,i0)", "going on in the ", trim(merge("forward", "reverse", phase == ANADROME_PHASE_FORWARD)), &
         " sweep, at step ", step
  end function goes_on

  ! Where the live state is.
  function state(sweep) result(u)
    class(heat_sweep), intent(in) :: sweep
    real(real64), pointer, contiguous :: u(:, :)
    u => sweep%u
    if (sweep%options%zero_copy) call anadrome_now(sweep%run, sweep%field, u, shape(sweep%u))
  end function state

  ! Where the next state goes.
  function next_state(sweep) result(u)
    class(heat_sweep), intent(in) :: sweep
    real(real64), pointer, contiguous :: u(:, :)
    u => sweep%u
    if (sweep%options%zero_copy) call anadrome_then(sweep%run, sweep%field, u, shape(sweep%u))
  end function next_state

  subroutine write_initial_state(model, ierr)
    class(heat_sweep), intent(inout) :: model
    integer, intent(inout) :: ierr
    type(anadrome_stats) :: stats
    real(real64), pointer, contiguous :: u(:, :)
    u => next_state(model)
    call fill(model%model%grid, initial_state, u)
    if (.not. model%header_is_due) return
    model%header_is_due = .false.
    call anadrome_statistics(model%run, stats, ierr)
    call print_header(model%model%grid, model%options, stats)
  end subroutine write_initial_state

  ! Steps first .. last-1, or up to the end of the simulation; with `record` the last of them fills the tape.
  subroutine advance(sweep, first, last, record, reached)
    class(heat_sweep), intent(inout) :: sweep
    integer(int64), intent(in) :: first, last
    logical, intent(in) :: record
    integer(int64), intent(out) :: reached
    real(real64) :: since
    integer(int64) :: k
    reached = min(last, sweep%options%steps)
    do k = first, reached - 1
      since = MPI_Wtime()
      if (record .and. k + 1 == last) then
        call heat_record_step(sweep%model, k, state(sweep), next_state(sweep), sweep%tape)
      else
        call heat_step(sweep%model, k, state(sweep), next_state(sweep))
      end if
      if (sweep%timed < most_times) then
        sweep%timed = sweep%timed + 1
        sweep%seconds(sweep%timed) = MPI_Wtime() - since
      end if
    end do
  end subroutine advance

  subroutine advance_callback(model, first, last, reached, ierr)
    class(heat_sweep), intent(inout) :: model
    integer(int64), intent(in) :: first, last
    integer(int64), intent(inout) :: reached
    integer, intent(inout) :: ierr
    call advance(model, first, last, .false., reached)
    if (reached < first) ierr = ANADROME_ERR_INTERNAL
  end subroutine advance_callback

  subroutine record_callback(model, step, reached, ierr)
    class(heat_sweep), intent(inout) :: model
    integer(int64), intent(in) :: step
    integer(int64), intent(inout) :: reached
    integer, intent(inout) :: ierr
    call advance(model, step, step + 1, .true., reached)
    if (reached < step) ierr = ANADROME_ERR_INTERNAL
  end subroutine record_callback

  subroutine turn_callback(model, steps, ierr)
    class(heat_sweep), intent(inout) :: model
    integer(int64), intent(in) :: steps
    integer, intent(inout) :: ierr
    call heat_turn(model%model, state(model), model%objective)
    if (steps /= model%options%steps) ierr = ANADROME_ERR_INTERNAL
  end subroutine turn_callback

  subroutine adjoint_callback(model, step, ierr)
    class(heat_sweep), intent(inout) :: model
    integer(int64), intent(in) :: step
    integer, intent(inout) :: ierr
    call adjoint(model, step)
    if (step < 0) ierr = ANADROME_ERR_INTERNAL
  end subroutine adjoint_callback

  ! With a tape the state is not defined.
  subroutine adjoint(sweep, k)
    class(heat_sweep), intent(inout) :: sweep
    integer(int64), intent(in) :: k
    if (sweep%options%tape) then
      call heat_adjoint_of_tape(sweep%model, sweep%tape)
    else
      call heat_adjoint_step(sweep%model, k, state(sweep))
    end if
  end subroutine adjoint

  ! What was done when: seconds, seconds, kind, first step, last step.
  subroutine log_action(sweep, action, since)
    type(heat_sweep), intent(in) :: sweep
    type(anadrome_action), intent(in) :: action
    real(real64), intent(in) :: since
    character(:), allocatable :: kind
    if (sweep%log == -1) return
    kind = "turn"
    if (action%kind == ANADROME_ADJOINT) kind = "adjoint"
    if (action%kind == ANADROME_ADVANCE) kind = trim(merge("again  ", "advance", action%again))
    write (sweep%log, "(f0.6,1x,f0.6,1x,a,1x,i0,1x,i0)") since - sweep%log_start, &
         MPI_Wtime() - sweep%log_start, kind, action%first, action%last
  end subroutine log_action

  !> The median time of the first forward steps on this rank; -1 if none was done.
  function median_step(sweep) result(seconds)
    type(heat_sweep), intent(in) :: sweep
    real(real64) :: seconds, sorted(most_times), middle
    integer :: i, j, n
    n = sweep%timed
    seconds = -1
    if (n == 0) return
    sorted = sweep%seconds
    do i = 2, n
      middle = sorted(i)
      do j = i - 1, 1, -1
        if (sorted(j) <= middle) exit
        sorted(j + 1) = sorted(j)
      end do
      sorted(j + 1) = middle
    end do
    seconds = 0.5_real64 * (sorted((n + 1) / 2) + sorted(n / 2 + 1))
  end function median_step
end module heat_sweeps

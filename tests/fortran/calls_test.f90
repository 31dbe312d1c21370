! SPDX-License-Identifier: BSD-2-Clause
! Calls, failures and callbacks from Fortran.
program calls_test
  use, intrinsic :: iso_c_binding, only: c_intptr_t, c_loc, c_size_t, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use mpi_f08
  use anadrome
  use expectations
  use counting_models
  implicit none

  interface
    function stats_size() bind(c) result(bytes)
      import :: c_size_t
      integer(c_size_t) :: bytes
    end function stats_size
    function stats_last_offset() bind(c) result(bytes)
      import :: c_size_t
      integer(c_size_t) :: bytes
    end function stats_last_offset
  end interface

  integer :: provided, rank

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call errors()
  call statistics()
  call unknown_steps()
  call again_and_rewind()
  call passes()
  call callbacks()
  call callbacks_that_fail()
  call stopping()
  call shapes_and_tolerances()
  call streams()
  call conclude(14 + 8 + 4 + 3 + 2 + 9 + 3 + 1 + 9)

contains

  subroutine errors()
    type(anadrome_run) :: run
    type(anadrome_action) :: action
    integer :: status
    call expect(anadrome_last_error() == "", "no failure yet")
    call anadrome_begin(run, 3, status)
    call expect_status(status, ANADROME_ERR_ARGUMENT, "a run that was not opened")
    call anadrome_open(run, MPI_COMM_NULL, status)
    call expect_status(status, ANADROME_ERR_ARGUMENT, "MPI_COMM_NULL")
    call anadrome_open(run, MPI_COMM_WORLD%MPI_VAL, status)
    call expect_status(status, ANADROME_OK, "an integer communicator")
    call anadrome_set(run, "memroy", "1GiB", status)
    call expect_status(status, ANADROME_ERR_ARGUMENT, "an unknown option")
    call expect_words("'memory'")
    call anadrome_next(run, action, status)
    call expect(status == ANADROME_ERR_ORDER .and. action%kind == 0, "next before begin gives no action")
    call anadrome_close(run)
    call anadrome_request_stop(run, status)
    call expect_status(status, ANADROME_ERR_ARGUMENT, "a run that was closed")
    call expect_words("request_stop: there is no run")
    call expect(anadrome_status_name(ANADROME_ERR_NO_SPACE) == "ANADROME_ERR_NO_SPACE", "names of statuses")
  end subroutine errors

  subroutine statistics()
    type(anadrome_run) :: run
    type(anadrome_stats), target :: stats
    real(real64), target :: x(4)
    integer(c_intptr_t) :: base, last
    integer(int64) :: step
    integer :: phase
    character(:), allocatable :: version
    call expect(c_sizeof(stats) == stats_size(), "the size of anadrome_stats is C's")
    base = transfer(c_loc(stats), base)
    last = transfer(c_loc(stats%seconds_visit_step), last)
    call expect(last - base == stats_last_offset(), "and so is the place of its last member")
    x = 0
    call anadrome_open(run, MPI_COMM_WORLD)
    call anadrome_set(run, "schedule  ", "revolve  ")
    call anadrome_set(run, "memory", "4KiB")
    call anadrome_add_field(run, "x", ANADROME_ROLE_STATE, x)
    call anadrome_begin(run, 17)
    call anadrome_statistics(run, stats)
    call expect(anadrome_text(stats%schedule) == "revolve", "the schedule in force")
    call expect(stats%steps == 17 .and. stats%state_bytes == 32, "n and the bytes of a state")
    call expect(stats%memory_bytes == 4096, "the budget")
    call expect(stats%phase == ANADROME_PHASE_FORWARD, "the phase")
    phase = -1
    call anadrome_resumed(run, phase, step)
    call expect(phase == ANADROME_PHASE_IDLE .and. step == 0, "a sweep that was not resumed begins at x_0")
    version = anadrome_version()
    call expect(version /= "" .and. verify(version, "0123456789.") == 0, "the version")
    call anadrome_close(run)
  end subroutine statistics

  subroutine unknown_steps()
    type(anadrome_run) :: run
    type(anadrome_action) :: action
    integer(int64), target :: x(2)
    integer(int64) :: k
    integer :: status, wrong
    call anadrome_open(run, MPI_COMM_WORLD)
    call anadrome_set(run, "schedule", "revolve")
    call anadrome_set(run, "memory", "1KiB")
    call anadrome_add_field(run, "x", ANADROME_ROLE_STATE, x)
    call anadrome_finish_forward(run, 3_int64, status)
    call expect_status(status, ANADROME_ERR_ORDER, "finish_forward before begin")
    x = 0
    wrong = 0
    call anadrome_begin(run, ANADROME_STEPS_UNKNOWN)
    do
      call anadrome_next(run, action)
      select case (action%kind)
      case (ANADROME_ADVANCE)
        do k = action%first, action%last - 1
          if (k == 29) exit
          x = x + 1
        end do
        if (k == 29 .and. .not. action%again) call anadrome_finish_forward(run, 29_int32)
      case (ANADROME_TURN)
        call expect(action%first == 29, "TURN comes after the last step")
        call expect(all(x == 29), "with x_n")
      case (ANADROME_ADJOINT)
        if (any(x /= action%first)) wrong = wrong + 1
      case (ANADROME_DONE)
        exit
      end select
    end do
    call expect(wrong == 0, "every state comes back")
    call anadrome_close(run)
  end subroutine unknown_steps

  subroutine open_small(run, x)
    type(anadrome_run), intent(out) :: run
    real(real64), target, intent(inout) :: x(:)
    call anadrome_open(run, MPI_COMM_WORLD)
    call anadrome_set(run, "schedule", "revolve")
    call anadrome_set(run, "memory", "3KiB")
    call anadrome_add_field(run, "x", ANADROME_ROLE_STATE, x)
    x = 0
  end subroutine open_small

  subroutine passes()
    type(anadrome_run) :: run
    type(anadrome_action) :: action
    real(real64), target :: x(64)
    integer(int64) :: next
    integer :: wrong, direction, status
    call open_small(run, x)
    call anadrome_set(run, "passes", "2")
    wrong = 0
    next = 0
    call anadrome_begin(run, 20)
    do direction = 0, ANADROME_PASS_REVERSE
      if (direction > 0) call anadrome_pass(run, direction)
      do
        call anadrome_next(run, action)
        if (action%kind == ANADROME_DONE) exit
        if (action%kind == ANADROME_ADVANCE) x = action%last
        if (action%kind == ANADROME_VISIT) then
          if (action%first /= next) wrong = wrong + 1
          next = next + 1
        end if
        if (action%kind == ANADROME_VISIT .or. action%kind == ANADROME_ADJOINT) then
          if (any(nint(x, int64) /= action%first)) wrong = wrong + 1
        end if
      end do
    end do
    call expect(wrong == 0 .and. next == 20, "a pass has the state of every step")
    call anadrome_pass(run, 3, ierr=status)
    call expect_status(status, ANADROME_ERR_ARGUMENT, "no such direction")
    call anadrome_close(run)
  end subroutine passes

  subroutine again_and_rewind()
    type(anadrome_run) :: run
    type(anadrome_action) :: action
    real(real64), target :: x(64)
    integer :: fresh, repeated, turns, sweep, status
    call open_small(run, x)
    fresh = 0
    repeated = 0
    turns = 0
    call anadrome_begin(run, 20)
    do sweep = 1, 2
      do
        call anadrome_next(run, action)
        if (action%kind == ANADROME_DONE) exit
        if (action%kind == ANADROME_TURN) turns = turns + 1
        if (action%kind == ANADROME_ADVANCE .and. action%again) repeated = repeated + 1
        if (action%kind == ANADROME_ADVANCE .and. .not. action%again) &
             fresh = fresh + int(action%last - action%first)
      end do
      if (sweep == 1) call anadrome_rewind(run)
    end do
    call expect(fresh == 20 .and. repeated > 0, "20 steps are first ones, others are repeated")
    call expect(turns == 2, "rewind comes to TURN once more")
    call anadrome_next(run, action, status)
    call expect_status(status, ANADROME_ERR_ORDER, "nothing follows DONE")
    call anadrome_close(run)
  end subroutine again_and_rewind

  subroutine callbacks()
    type(anadrome_run) :: run
    type(counting_model), target :: model
    integer :: status, tape
    do tape = 0, 1
      call open_model(run, model, with_tape=tape == 1)
      call anadrome_solve(run, 31, model, status)
      call expect_status(status, ANADROME_OK, "solve")
      call expect(model%adjoints == 31 .and. model%wrong == 0, "every state, or tape, was right")
      call expect(model%starts == 1 .and. model%turns == 1, "start and turn came once")
      call anadrome_close(run)
    end do
    call open_model(run, model, with_tape=.false.)
    model%has_undo = .true.
    call anadrome_set(run, "schedule", "undo")
    call anadrome_set(run, "memory", "1MiB")
    call anadrome_solve(run, 31, model, status)
    call expect_status(status, ANADROME_OK, "solve by undo")
    call expect(model%adjoints == 31 .and. model%wrong == 0, "every state was right")
    call expect(model%undone == 2 * 31 + 2, "steps were undone twice, and two of them once more")
    call anadrome_close(run)
  end subroutine callbacks

  subroutine callbacks_that_fail()
    type(anadrome_run) :: run
    type(counting_model), target :: model
    type(forgetful_model), target :: forgetful
    integer :: status, ranks
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    call open_model(run, model, with_tape=.false.)
    if (rank == ranks - 1) model%fail_at = 12
    call anadrome_solve(run, 31_int64, model, status)
    call expect_status(status, ANADROME_ERR_PEER, "a callback that fails on one rank fails on all")
    call expect_words("returned 77")
    call anadrome_close(run)
    call open_model(run, forgetful, with_tape=.true.)
    call anadrome_solve(run, 31, forgetful, status)
    call expect_status(status, ANADROME_ERR_PEER, "a tape that nobody fills is a failure")
    call anadrome_close(run)
  end subroutine callbacks_that_fail

  subroutine open_model(run, model, with_tape)
    type(anadrome_run), intent(out) :: run
    class(forgetful_model), target, intent(inout) :: model
    logical, intent(in) :: with_tape
    model%with_tape = with_tape
    model%adjoints = 0
    model%starts = 0
    model%turns = 0
    call anadrome_open(run, MPI_COMM_WORLD)
    call anadrome_set(run, "schedule", "revolve")
    call anadrome_set(run, "memory", "2KiB")
    call anadrome_add_field(run, "x", ANADROME_ROLE_STATE, model%x)
    if (with_tape) call anadrome_add_field(run, "tape", ANADROME_ROLE_TAPE, model%tape)
  end subroutine open_model

  subroutine stopping()
    type(anadrome_run) :: run
    type(anadrome_action) :: action
    real(real64), target :: x(3)
    integer :: status
    x = 0
    call anadrome_open(run, MPI_COMM_WORLD)
    call anadrome_add_field(run, "x", ANADROME_ROLE_STATE, x)
    call anadrome_begin(run, 1000)
    if (rank == 0) call anadrome_request_stop(run)
    do
      call anadrome_next(run, action, status)
      if (status /= ANADROME_OK .or. action%kind == ANADROME_DONE) exit
    end do
    call expect_status(status, ANADROME_STOPPED, "one rank stops all")
    call anadrome_close(run)
  end subroutine stopping

  subroutine shapes_and_tolerances()
    type(anadrome_run) :: run
    real(real64), target :: x(2)
    integer :: status
    call anadrome_open(run, MPI_COMM_WORLD)
    call anadrome_add_field(run, "x", ANADROME_ROLE_STATE, x)
    call anadrome_set_shape(run, "x", [2, 2], status)
    call expect_status(status, ANADROME_ERR_ARGUMENT, "a shape of another size")
    call anadrome_set_shape(run, "x", [integer(int64) :: 2, 1], status)
    call expect_status(status, ANADROME_OK, "a shape")
    call anadrome_set_tolerance(run, "x", -1.0_real64, status)
    call expect_status(status, ANADROME_ERR_ARGUMENT, "a negative tolerance")
    call anadrome_set_tolerance(run, "x", 1e-3_real64, status)
    call expect_status(status, ANADROME_OK, "a tolerance")
    call anadrome_close(run)
  end subroutine shapes_and_tolerances

  ! The schedule alone.
  subroutine streams()
    type(anadrome_schedule) :: schedule
    type(anadrome_schedule_action) :: action
    integer :: status, adjoints, on_disk
    call anadrome_schedule_open(schedule, "schedule=hrevolv steps=9 slots=3", status)
    call expect_status(status, ANADROME_ERR_ARGUMENT, "an unknown schedule")
    call expect_words("'hrevolve'")
    call anadrome_schedule_next(schedule, action, status)
    call expect(status == ANADROME_ERR_ARGUMENT .and. action%kind == 0, "a stream that was not opened")

    call anadrome_schedule_open(schedule, "schedule=hrevolve steps=30 slots=3 disk_slots=2 write=2 read=2 ", status)
    call expect_status(status, ANADROME_OK, "a stream")
    adjoints = 0
    on_disk = 0
    do
      call anadrome_schedule_next(schedule, action)
      if (action%kind == ANADROME_SCHEDULE_KEEP .and. action%tier == 1) on_disk = on_disk + 1
      if (action%kind == ANADROME_SCHEDULE_ADJOINT .and. action%first == 29 - adjoints) adjoints = adjoints + 1
      if (action%kind == ANADROME_SCHEDULE_DONE) exit
    end do
    call expect(adjoints == 30 .and. on_disk > 0, "every adjoint comes, and states go to disk")
    call anadrome_schedule_close(schedule)

    call anadrome_schedule_open(schedule, "schedule=mixed steps=2 slots=3")
    call anadrome_schedule_next(schedule, action)
    call expect(action%kind == ANADROME_SCHEDULE_ADVANCE .and. action%record, "a tape is recorded")
    call anadrome_schedule_next(schedule, action)
    call expect(action%kind == ANADROME_SCHEDULE_KEEP .and. action%what == ANADROME_SCHEDULE_TAPE, "and kept")
    call anadrome_schedule_end(schedule, 2, status)
    call expect_status(status, ANADROME_ERR_ORDER, "the end is known")
    call anadrome_schedule_close(schedule)
    call anadrome_schedule_close(schedule, status)
    call expect_status(status, ANADROME_OK, "closed already")
  end subroutine streams
end program calls_test

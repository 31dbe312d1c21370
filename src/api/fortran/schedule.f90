! SPDX-License-Identifier: BSD-2-Clause
! A schedule as a stream of actions, for programs that keep and restore states themselves. Local.
module anadrome_schedules
  use anadrome_c_interface
  use anadrome_runs
  implicit none
  private
  public :: anadrome_schedule, anadrome_schedule_action, anadrome_schedule_open, anadrome_schedule_next
  public :: anadrome_schedule_close

  !> The actions of one sweep. A copy is the same stream.
  type, bind(c) :: anadrome_schedule
    private
    type(c_ptr) :: handle = c_null_ptr
  end type anadrome_schedule

  !> One action; schedule.h says what its kinds mean. `kind` is 0 if anadrome_schedule_next failed.
  type :: anadrome_schedule_action
    integer :: kind = 0            !< ANADROME_SCHEDULE_ADVANCE, _TURN, ...
    integer :: what = 0            !< KEEP, RESTORE, DROP: ANADROME_SCHEDULE_STATE or _TAPE
    integer :: tier = 0            !< KEEP, RESTORE, DROP, WRITE, READ: 0 is memory, 1 is disk
    logical :: record = .false.    !< ADVANCE: fill the tape in step last-1
    logical :: again = .false.     !< ADVANCE, START, TURN: not the first time
    integer(int64) :: first = 0    !< the first step, or the step of the state or tape, counted from 0
    integer(int64) :: last = 0     !< ADVANCE: one past the last step; ADJOINT: first + 1; others: first
    integer(int64) :: branch = 0   !< START, ADVANCE, TURN, ADJOINT: whose step this is, counted from 0
    integer(int64) :: slot = 0     !< KEEP, RESTORE, DROP, WRITE, READ: counted from 0 within the tier
    integer(int64) :: begin = 0    !< where in memory it lies, in units
    integer(int64) :: units = 0    !< how many units of memory it takes
  end type anadrome_schedule_action

contains

  !> Open a stream, e.g. of "schedule=hrevolve steps=1000 slots=20 write=2 read=2"; the reference of C, at
  !> schedule.h, lists the words. Local.
  subroutine anadrome_schedule_open(schedule, options, ierr)
    type(anadrome_schedule), intent(out) :: schedule
    character(*), intent(in) :: options
    integer, optional, intent(out) :: ierr
    call settle(c_schedule_open(trim(options)//c_null_char, schedule%handle), ierr)
  end subroutine anadrome_schedule_open

  !> Get the next action. Local.
  subroutine anadrome_schedule_next(schedule, action, ierr)
    type(anadrome_schedule), intent(in) :: schedule
    type(anadrome_schedule_action), intent(out) :: action
    integer, optional, intent(out) :: ierr
    type(c_schedule_action) :: given
    integer(c_int) :: status
    status = c_schedule_next(schedule%handle, given)
    if (status == ANADROME_OK) then
      action = anadrome_schedule_action(kind=given%kind, what=given%what, tier=given%tier, &
           record=given%record /= 0, again=given%again /= 0, first=given%first, last=given%last, &
           branch=given%branch, slot=given%slot, begin=given%begin, units=given%units)
    end if
    call settle(status, ierr)
  end subroutine anadrome_schedule_next

  !> Close the stream. A closed one may be closed again. Local.
  subroutine anadrome_schedule_close(schedule, ierr)
    type(anadrome_schedule), intent(inout) :: schedule
    integer, optional, intent(out) :: ierr
    call settle(c_schedule_close(schedule%handle), ierr)
  end subroutine anadrome_schedule_close
end module anadrome_schedules

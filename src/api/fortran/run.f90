! SPDX-License-Identifier: BSD-2-Clause
! A run and what is done with it as a whole: options, the loop over actions, failures, statistics.
module anadrome_runs
  use anadrome_c_interface
  use mpi_f08, only: MPI_Comm
  implicit none
  private
  public :: anadrome_run, anadrome_action, anadrome_open, anadrome_set, anadrome_next, anadrome_resumed
  public :: anadrome_rewind, anadrome_pass, anadrome_fail, anadrome_request_stop, anadrome_set_tolerance
  public :: anadrome_statistics, anadrome_close, anadrome_last_error, anadrome_status_name, anadrome_version
  public :: anadrome_text, settle, copied

  !> One forward sweep and the adjoint sweep(s) back through it. A copy is the same run.
  type, bind(c) :: anadrome_run
    private
    type(c_ptr) :: handle = c_null_ptr
  end type anadrome_run

  !> One action. `kind` is 0 if anadrome_next failed.
  type :: anadrome_action
    integer :: kind = 0            !< ANADROME_ADVANCE, _TURN, _ADJOINT or _DONE
    logical :: record = .false.    !< ADVANCE: fill the tape fields in step last-1
    logical :: again = .false.     !< ADVANCE: these steps were run before (do not count them twice);
                                   !< TURN: of a pass; ADJOINT: a trial (option probe), of which fields of role
                                   !< ADJOINT keep no trace
    integer(int64) :: first = 0    !< ADVANCE, ADJOINT: first step, counted from 0; TURN: n; DONE: 0
    integer(int64) :: last = 0     !< ADVANCE: one past the last step; ADJOINT: first + 1; TURN: n; DONE: 0
  end type anadrome_action

  !> Open a run on the ranks of `comm`, of type(MPI_Comm) or an integer. Collective.
  interface anadrome_open; module procedure open_f08, open_integer; end interface

  ! The last failure, if a check of this library met it and not C's.
  character(:), allocatable, save :: own_error

contains

  subroutine open_f08(run, comm, ierr)
    type(anadrome_run), intent(out) :: run
    type(MPI_Comm), intent(in) :: comm
    integer, optional, intent(out) :: ierr
    call open_integer(run, comm%MPI_VAL, ierr)
  end subroutine open_f08

  subroutine open_integer(run, comm, ierr)
    type(anadrome_run), intent(out) :: run
    integer, intent(in) :: comm
    integer, optional, intent(out) :: ierr
    call settle(c_open(int(comm, c_int), run%handle), ierr)
  end subroutine open_integer

  !> Set option `key` to `value`; trailing blanks are ignored. It holds from the next anadrome_begin on.
  subroutine anadrome_set(run, key, value, ierr)
    include "run_and_ierr.inc"
    character(*), intent(in) :: key, value
    call settle(c_set(run%handle, trim(key)//c_null_char, trim(value)//c_null_char), ierr)
  end subroutine anadrome_set

  !> Say by how much lossy compression may change each number of field `name`, in place of what the option
  !> tolerance says. Local; all ranks say the same.
  subroutine anadrome_set_tolerance(run, name, absolute, ierr)
    include "run_and_ierr.inc"
    character(*), intent(in) :: name
    real(real64), intent(in) :: absolute
    call settle(c_set_tolerance(run%handle, trim(name)//c_null_char, absolute), ierr)
  end subroutine anadrome_set_tolerance

  !> After anadrome_begin with resume=on: where the sweep goes on. `phase` ANADROME_PHASE_IDLE: at x_0, as every
  !> sweep that begins anew. ANADROME_PHASE_FORWARD: the state arrays hold x_step, and the fields of role ADJOINT what
  !> they held when x_step was reached. ANADROME_PHASE_REVERSE: the fields of role ADJOINT are as after the adjoint
  !> step of `step`, and TURN does not come again. Then the caller must not set them.
  !> Where a sweep goes on some rank must call this before the first anadrome_next, which is ANADROME_ERR_ORDER on all
  !> ranks otherwise. Local.
  subroutine anadrome_resumed(run, phase, step, ierr)
    include "run_and_ierr.inc"
    integer, intent(out) :: phase
    integer(int64), intent(out) :: step
    integer(c_int) :: given
    given = ANADROME_PHASE_IDLE
    step = 0
    call settle(c_resumed(run%handle, given, step), ierr)
    phase = given
  end subroutine anadrome_resumed

  !> Finish the previous action and get the next one. All ranks call it, and get the same.
  subroutine anadrome_next(run, action, ierr)
    include "run_and_ierr.inc"
    type(anadrome_action), intent(out) :: action
    type(c_action) :: given
    integer(c_int) :: status
    status = c_next(run%handle, given)
    if (status == ANADROME_OK) then
      action = anadrome_action(kind=given%kind, record=given%record /= 0, again=given%again /= 0, &
           first=given%first, last=given%last)
    end if
    call settle(status, ierr)
  end subroutine anadrome_next

  !> Start a second reverse sweep over the same forward sweep. Collective.
  subroutine anadrome_rewind(run, ierr)
    include "run_and_ierr.inc"
    call settle(c_rewind(run%handle), ierr)
  end subroutine anadrome_rewind

  !> Begin another pass over the trajectory that was swept: ANADROME_PASS_FORWARD, for VISIT of every step in
  !> rising order, or ANADROME_PASS_REVERSE, for TURN with `again` and ADJOINT of every step. Collective.
  subroutine anadrome_pass(run, direction, ierr)
    include "run_and_ierr.inc"
    integer, intent(in) :: direction
    call settle(c_pass(run%handle, int(direction, c_int)), ierr)
  end subroutine anadrome_pass

  !> Say that this rank cannot go on, and why; go on calling anadrome_next until it returns an error.
  subroutine anadrome_fail(run, why, ierr)
    include "run_and_ierr.inc"
    character(*), intent(in) :: why
    call settle(c_fail(run%handle, trim(why)//c_null_char), ierr)
  end subroutine anadrome_fail

  !> Ask for the sweep to stop: every rank gets ANADROME_STOPPED at the next agreement point.
  subroutine anadrome_request_stop(run, ierr)
    include "run_and_ierr.inc"
    integer(c_int) :: status
    status = c_request_stop(run%handle)
    if (status == ANADROME_OK) then
      call settle(status, ierr)
    else  ! C, where a signal handler may call it, leaves no message
      call settle(status, ierr, "request_stop: there is no run: it was not opened, or it is closed")
    end if
  end subroutine anadrome_request_stop

  !> Fill `stats` for this rank.
  subroutine anadrome_statistics(run, stats, ierr)
    include "run_and_ierr.inc"
    type(anadrome_stats), intent(out) :: stats
    stats%size = c_sizeof(stats)
    call settle(c_statistics(run%handle, stats), ierr)
  end subroutine anadrome_statistics

  !> Close the run and remove its files (unless keep=on). Collective. A closed run may be closed again.
  subroutine anadrome_close(run, ierr)
    type(anadrome_run), intent(inout) :: run
    integer, optional, intent(out) :: ierr
    call settle(c_close(run%handle), ierr)
  end subroutine anadrome_close

  !> The last failure on this thread, one line; empty if there was none.
  function anadrome_last_error() result(text)
    character(:), allocatable :: text
    if (allocated(own_error)) then
      text = own_error
    else
      text = copied(c_last_error())
    end if
  end function anadrome_last_error

  !> The name of a status, e.g. "ANADROME_ERR_IO".
  function anadrome_status_name(status) result(text)
    integer, intent(in) :: status
    character(:), allocatable :: text
    text = copied(c_status_name(int(status, c_int)))
  end function anadrome_status_name

  !> The version of the library as "major.minor.patch".
  function anadrome_version() result(text)
    character(:), allocatable :: text
    text = copied(c_version())
  end function anadrome_version

  !> A text of anadrome_stats as Fortran has texts, e.g. anadrome_text(stats\%schedule).
  pure function anadrome_text(characters) result(text)
    character(kind=c_char), intent(in) :: characters(:)
    character(:), allocatable :: text
    integer :: length, i
    length = findloc(characters, c_null_char, dim=1) - 1
    if (length < 0) length = size(characters)
    allocate (character(length) :: text)
    do i = 1, length
      text(i:i) = characters(i)
    end do
  end function anadrome_text

  !> Give the caller the status. Like `allocate` without `stat=`, a failure that the caller does not ask
  !> for ends the program: what follows would compute with states that are not there. `why` is given by
  !> checks that C does not make.
  subroutine settle(status, ierr, why)
    integer(c_int), intent(in) :: status
    integer, optional, intent(out) :: ierr
    character(*), optional, intent(in) :: why
    character(:), allocatable :: text
    if (status /= ANADROME_OK .and. allocated(own_error)) deallocate (own_error)
    if (present(why)) own_error = why
    if (present(ierr)) then
      ierr = status
    else if (status /= ANADROME_OK) then
      text = anadrome_status_name(status)
      text = text//": "//anadrome_last_error()
      error stop text
    end if
  end subroutine settle

  function copied(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: characters(:)
    if (.not. c_associated(address)) then
      text = ""
      return
    end if
    call c_f_pointer(address, characters, [c_length(address)])
    text = anadrome_text(characters)
  end function copied
end module anadrome_runs

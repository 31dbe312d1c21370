! The C interface as Fortran sees it: constants, interoperable types, functions. Nothing is added here;
! anadrome.h says what they mean.
module anadrome_c_interface
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int, c_int32_t, c_int64_t, c_ptr, &
       c_size_t
  implicit none
  private :: c_char, c_double, c_funptr, c_int, c_int32_t, c_int64_t, c_ptr, c_size_t

  !> Outcomes of a call (anadrome_status).
  enum, bind(c)
    enumerator :: ANADROME_OK = 0              !< done
    enumerator :: ANADROME_STOPPED = 1         !< anadrome_request_stop was called on some rank
    enumerator :: ANADROME_ERR_ARGUMENT = 2    !< an argument or option is wrong; nothing was changed
    enumerator :: ANADROME_ERR_ORDER = 3       !< right call, wrong moment
    enumerator :: ANADROME_ERR_MEMORY = 4      !< the memory budget, or the machine's memory, does not suffice
    enumerator :: ANADROME_ERR_NO_SPACE = 5    !< the disk, the quota or the `disk` option is exhausted
    enumerator :: ANADROME_ERR_IO = 6          !< a file operation failed
    enumerator :: ANADROME_ERR_CORRUPT = 7     !< stored bytes are not those that were written
    enumerator :: ANADROME_ERR_NONDETERMINISTIC = 8 !< a recomputed state differs from the first one
    enumerator :: ANADROME_ERR_BUSY = 9        !< another live run uses this directory and name
    enumerator :: ANADROME_ERR_PEER = 10       !< another rank failed or made another call
    enumerator :: ANADROME_ERR_UNSUPPORTED = 11 !< this build or machine cannot do what was asked
    enumerator :: ANADROME_ERR_INTERNAL = 12   !< a defect of the library: please report it
  end enum

  !> What a field is for (anadrome_role).
  enum, bind(c)
    enumerator :: ANADROME_ROLE_STATE = 0      !< what a step needs to go on: x_k, all of it
    enumerator :: ANADROME_ROLE_TAPE = 1       !< everything the adjoint of one step needs
    enumerator :: ANADROME_ROLE_ADJOINT = 2    !< adjoint variables and accumulators: never recomputed
  end enum

  !> Element types of exchanged fields (anadrome_type).
  enum, bind(c)
    enumerator :: ANADROME_FLOAT32 = 0         !< real(real32)
    enumerator :: ANADROME_FLOAT64 = 1         !< real(real64)
    enumerator :: ANADROME_COMPLEX64 = 2       !< complex(real32)
    enumerator :: ANADROME_COMPLEX128 = 3      !< complex(real64)
    enumerator :: ANADROME_INT32 = 4           !< integer(int32)
    enumerator :: ANADROME_INT64 = 5           !< integer(int64)
    enumerator :: ANADROME_BYTE = 6            !< bytes
  end enum

  !> What anadrome_next asks the caller to do (anadrome_action_kind).
  enum, bind(c)
    enumerator :: ANADROME_ADVANCE = 1         !< run steps first .. last-1
    enumerator :: ANADROME_TURN = 2            !< evaluate the objective and start the adjoint
    enumerator :: ANADROME_ADJOINT = 3         !< the adjoint of step first
    enumerator :: ANADROME_DONE = 4            !< leave the loop
  end enum

  !> Where a run is (anadrome_phase).
  enum, bind(c)
    enumerator :: ANADROME_PHASE_IDLE = 0      !< before begin or after a failure
    enumerator :: ANADROME_PHASE_FORWARD = 1   !< from begin to TURN
    enumerator :: ANADROME_PHASE_REVERSE = 2   !< from TURN to DONE
    enumerator :: ANADROME_PHASE_DONE = 3      !< DONE was returned
  end enum

  !> `steps` of anadrome_begin when the number of steps is not known beforehand.
  integer(c_int64_t), parameter :: ANADROME_STEPS_UNKNOWN = -1_c_int64_t

  !> What a run has done and will do, as in C. The texts are read with anadrome_text.
  type, bind(c) :: anadrome_stats
    integer(c_size_t) :: size = 0              !< of this type; set by anadrome_statistics
    integer(c_int64_t) :: steps                !< n; -1 while unknown
    integer(c_int64_t) :: ranks                !< of the run's communicator
    integer(c_int64_t) :: state_bytes          !< one state
    integer(c_int64_t) :: state_bytes_all_ranks !< one state, all ranks together
    integer(c_int64_t) :: memory_bytes         !< the budget (option `memory`)
    integer(c_int64_t) :: peak_library_bytes   !< most the library held so far
    integer(c_int64_t) :: slots                !< states the pool can hold
    integer(c_int64_t) :: checkpoint_slots     !< of these, slots the schedule counts on
    integer(c_int64_t) :: prefetch_depth       !< reads ahead of need
    integer(c_int64_t) :: interval             !< steps between anchors in force; 0: no anchors
    integer(c_int64_t) :: anchors              !< states meant for disk in this sweep
    integer(c_int64_t) :: states_per_write     !< states in one disk write
    integer(c_int64_t) :: forward_steps_taken  !< steps of all ADVANCE actions handed out and completed
    integer(c_int64_t) :: forward_steps_planned !< ADVANCE steps the schedule promises; -1 while not fixed
    integer(c_int64_t) :: forward_steps_remaining !< ADVANCE steps still to come; -1 while not known
    integer(c_int64_t) :: adjoint_steps_taken  !< ADJOINT actions completed
    integer(c_int64_t) :: bytes_written        !< to disk
    integer(c_int64_t) :: bytes_read           !< from disk
    integer(c_int64_t) :: states_kept          !< into the pool
    integer(c_int64_t) :: states_restored      !< out of the pool
    integer(c_int64_t) :: agreements           !< collective decisions
    integer(c_int64_t) :: disk_bytes_reserved_all_ranks !< length of the state files
    real(c_double) :: seconds_total            !< from begin to now, or to DONE
    real(c_double) :: seconds_forward          !< from begin to TURN
    real(c_double) :: seconds_adjoint          !< from TURN to now, or to DONE
    real(c_double) :: seconds_stalled_write    !< the caller waited for a slot that was being written
    real(c_double) :: seconds_stalled_read     !< the caller waited for a state that was being read
    real(c_double) :: seconds_copying          !< the caller copied states
    real(c_double) :: seconds_agreeing         !< the caller was in collective decisions
    real(c_double) :: seconds_writing          !< in writes
    real(c_double) :: seconds_reading          !< in reads
    real(c_double) :: seconds_checksums        !< in checksums
    real(c_double) :: seconds_step             !< measured forward step, maximum over ranks; 0: not known
    real(c_double) :: seconds_adjoint_step     !< measured adjoint step, maximum over ranks; 0: not known
    real(c_double) :: seconds_write_state      !< measured write of one state; 0: not known
    real(c_double) :: seconds_read_state       !< measured read of one state; 0: not known
    integer(c_int32_t) :: direct_io            !< 1: O_DIRECT; 0: buffered; -1: no disk
    integer(c_int32_t) :: phase                !< ANADROME_PHASE_...
    character(kind=c_char) :: schedule(24)     !< the schedule in force
    character(kind=c_char) :: layout(16)       !< the file layout in force
    character(kind=c_char) :: transport(16)    !< the transport in force
    real(c_double) :: seconds_predicted        !< seconds_total as predicted early; 0: not
    integer(c_int64_t) :: predicted_at_step    !< forward steps done then
    integer(c_int32_t) :: adjoint_guessed      !< 1: that prediction guessed the time of an adjoint step
    integer(c_int32_t) :: reserved_int         !< zero
  end type anadrome_stats

  !> anadrome_action as C lays it out; callers get anadrome_action of module anadrome.
  type, bind(c) :: c_action
    integer(c_int) :: kind
    integer(c_int) :: record
    integer(c_int) :: again
    integer(c_int) :: reserved_int
    integer(c_int64_t) :: first
    integer(c_int64_t) :: last
    integer(c_int64_t) :: reserved(4)
  end type c_action

  !> anadrome_model as C lays it out; callers extend anadrome_model of module anadrome.
  type, bind(c) :: c_model
    integer(c_size_t) :: size
    type(c_ptr) :: context
    type(c_funptr) :: advance
    type(c_funptr) :: record
    type(c_funptr) :: turn
    type(c_funptr) :: adjoint
    type(c_funptr) :: start
  end type c_model

  interface
    function c_open(comm, run) bind(c, name="anadrome_fortran_open") result(status)
      import :: c_int, c_ptr
      integer(c_int), value :: comm
      type(c_ptr), intent(out) :: run
      integer(c_int) :: status
    end function c_open

    function c_set(run, key, value) bind(c, name="anadrome_set") result(status)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: key(*), value(*)
      integer(c_int) :: status
    end function c_set

    function c_add_field(run, name, role, type, values, count) bind(c, name="anadrome_add_field") &
         result(status)
      import :: c_char, c_int, c_ptr, c_size_t
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: role, type
      type(c_ptr), value :: values
      integer(c_size_t), value :: count
      integer(c_int) :: status
    end function c_add_field

    function c_add_packed(run, name, role, bytes, pack, unpack, context) &
         bind(c, name="anadrome_add_packed") result(status)
      import :: c_char, c_funptr, c_int, c_ptr, c_size_t
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: role
      integer(c_size_t), value :: bytes
      type(c_funptr), value :: pack, unpack
      type(c_ptr), value :: context
      integer(c_int) :: status
    end function c_add_packed

    function c_add_exchanged(run, name, role, type, count, field) &
         bind(c, name="anadrome_add_exchanged") result(status)
      import :: c_char, c_int, c_ptr, c_size_t
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: role, type
      integer(c_size_t), value :: count
      integer(c_int), intent(out) :: field
      integer(c_int) :: status
    end function c_add_exchanged

    function c_now(run, field) bind(c, name="anadrome_now") result(values)
      import :: c_int, c_ptr
      type(c_ptr), value :: run
      integer(c_int), value :: field
      type(c_ptr) :: values
    end function c_now

    function c_then(run, field) bind(c, name="anadrome_then") result(values)
      import :: c_int, c_ptr
      type(c_ptr), value :: run
      integer(c_int), value :: field
      type(c_ptr) :: values
    end function c_then

    function c_begin(run, steps) bind(c, name="anadrome_begin") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: run
      integer(c_int64_t), value :: steps
      integer(c_int) :: status
    end function c_begin

    function c_next(run, action) bind(c, name="anadrome_next") result(status)
      import :: c_action, c_int, c_ptr
      type(c_ptr), value :: run
      type(c_action), intent(out) :: action
      integer(c_int) :: status
    end function c_next

    function c_finish_forward(run, steps) bind(c, name="anadrome_finish_forward") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: run
      integer(c_int64_t), value :: steps
      integer(c_int) :: status
    end function c_finish_forward

    function c_solve(run, steps, model) bind(c, name="anadrome_solve") result(status)
      import :: c_int, c_int64_t, c_model, c_ptr
      type(c_ptr), value :: run
      integer(c_int64_t), value :: steps
      type(c_model), intent(in) :: model
      integer(c_int) :: status
    end function c_solve

    function c_rewind(run) bind(c, name="anadrome_rewind") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: run
      integer(c_int) :: status
    end function c_rewind

    function c_fail(run, why) bind(c, name="anadrome_fail") result(status)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: why(*)
      integer(c_int) :: status
    end function c_fail

    function c_request_stop(run) bind(c, name="anadrome_request_stop") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: run
      integer(c_int) :: status
    end function c_request_stop

    function c_statistics(run, stats) bind(c, name="anadrome_statistics") result(status)
      import :: anadrome_stats, c_int, c_ptr
      type(c_ptr), value :: run
      type(anadrome_stats), intent(inout) :: stats
      integer(c_int) :: status
    end function c_statistics

    function c_close(run) bind(c, name="anadrome_close") result(status)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: run
      integer(c_int) :: status
    end function c_close

    function c_last_error() bind(c, name="anadrome_last_error") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_last_error

    function c_status_name(status) bind(c, name="anadrome_status_name") result(text)
      import :: c_int, c_ptr
      integer(c_int), value :: status
      type(c_ptr) :: text
    end function c_status_name

    function c_version() bind(c, name="anadrome_version") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function c_version

    function c_length(text) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function c_length
  end interface
end module anadrome_c_interface

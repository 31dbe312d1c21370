! SPDX-License-Identifier: BSD-2-Clause
! Constants and the statistics, as C has them; anadrome.h says what they mean.
module anadrome_types
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int32_t, c_int64_t, c_size_t
  implicit none
  private :: c_char, c_double, c_int32_t, c_int64_t, c_size_t

  enum, bind(c)
    ! Outcomes of a call (anadrome_status).
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
    ! What a field is for (anadrome_role).
    enumerator :: ANADROME_ROLE_STATE = 0      !< what a step needs to go on: x_k, all of it
    enumerator :: ANADROME_ROLE_TAPE = 1       !< everything the adjoint of one step needs
    enumerator :: ANADROME_ROLE_ADJOINT = 2    !< adjoint variables and accumulators: never recomputed
    ! Element types of exchanged fields (anadrome_type).
    enumerator :: ANADROME_FLOAT32 = 0         !< real(real32)
    enumerator :: ANADROME_FLOAT64 = 1         !< real(real64)
    enumerator :: ANADROME_COMPLEX64 = 2       !< complex(real32)
    enumerator :: ANADROME_COMPLEX128 = 3      !< complex(real64)
    enumerator :: ANADROME_INT32 = 4           !< integer(int32)
    enumerator :: ANADROME_INT64 = 5           !< integer(int64)
    enumerator :: ANADROME_BYTE = 6            !< bytes
    ! What anadrome_next asks the caller to do (anadrome_action_kind).
    enumerator :: ANADROME_ADVANCE = 1         !< run steps first .. last-1
    enumerator :: ANADROME_TURN = 2            !< evaluate the objective and start the adjoint
    enumerator :: ANADROME_ADJOINT = 3         !< the adjoint of step first
    enumerator :: ANADROME_DONE = 4            !< leave the loop
    enumerator :: ANADROME_VISIT = 5           !< of a pass forward: step first is there
    enumerator :: ANADROME_RETREAT = 6         !< of schedule=undo: undo step first
    ! A pass over a trajectory that was swept (anadrome_direction).
    enumerator :: ANADROME_PASS_FORWARD = 1    !< VISIT of every step, in rising order
    enumerator :: ANADROME_PASS_REVERSE = 2    !< ADJOINT of every step, in falling order
    ! What the caller of a stream does (anadrome_schedule_kind).
    enumerator :: ANADROME_SCHEDULE_ADVANCE = 1  !< run steps first .. last-1
    enumerator :: ANADROME_SCHEDULE_TURN = 2     !< evaluate the objective and start the adjoint
    enumerator :: ANADROME_SCHEDULE_ADJOINT = 3  !< the adjoint of step first
    enumerator :: ANADROME_SCHEDULE_DONE = 4     !< leave the loop
    enumerator :: ANADROME_SCHEDULE_START = 5    !< make x_0 of the branch
    enumerator :: ANADROME_SCHEDULE_KEEP = 6     !< copy the live state, or the tape, to its slot
    enumerator :: ANADROME_SCHEDULE_RESTORE = 7  !< copy it back
    enumerator :: ANADROME_SCHEDULE_DROP = 8     !< it is not needed there any more
    enumerator :: ANADROME_SCHEDULE_WRITE = 9    !< begin to write it
    enumerator :: ANADROME_SCHEDULE_READ = 10    !< begin to read it
    ! What a stream keeps (anadrome_schedule_what).
    enumerator :: ANADROME_SCHEDULE_STATE = 0    !< a state
    enumerator :: ANADROME_SCHEDULE_TAPE = 1     !< a tape
    ! How a sketch holds what is pushed (anadrome_sketch_kind).
    enumerator :: ANADROME_SKETCH_COUNT = 0      !< each step in one array, with a random sign
    enumerator :: ANADROME_SKETCH_ROWS = 1       !< each array has a random step
    enumerator :: ANADROME_SKETCH_EXACT = 2      !< array t has step t
    ! Where a run is (anadrome_phase).
    enumerator :: ANADROME_PHASE_IDLE = 0      !< before begin or after a failure
    enumerator :: ANADROME_PHASE_FORWARD = 1   !< from begin to TURN
    enumerator :: ANADROME_PHASE_REVERSE = 2   !< from TURN to DONE
    enumerator :: ANADROME_PHASE_DONE = 3      !< DONE was returned
    ! What a test of a gradient says (anadrome_verdict).
    enumerator :: ANADROME_VERDICT_NONE = 0    !< it was not made
    enumerator :: ANADROME_VERDICT_RIGHT = 1   !< the gradient is right
    enumerator :: ANADROME_VERDICT_WRONG = 2   !< it is not
    enumerator :: ANADROME_VERDICT_UNDECIDED = 3 !< round-off, or a kink, hides the answer
    ! What a wrong gradient looks like (anadrome_mismatch).
    enumerator :: ANADROME_MISMATCH_NONE = 0   !< nothing is wrong
    enumerator :: ANADROME_MISMATCH_SIGN = 1   !< a wrong sign
    enumerator :: ANADROME_MISMATCH_FACTOR = 2 !< a factor
    enumerator :: ANADROME_MISMATCH_TERM = 3   !< a term that is missing or wrong
    enumerator :: ANADROME_MISMATCH_STATE = 4  !< the adjoint of a step reads another state than x_k
    enumerator :: ANADROME_MISMATCH_NOT_FINITE = 5 !< a NaN or an infinity
    enumerator :: ANADROME_MISMATCH_OBJECTIVE = 6 !< the same controls give another objective
  end enum

  !> The most seeds of a check.
  integer, parameter :: ANADROME_MOST_SEEDS = 8

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
    real(c_double) :: seconds_step             !< of a forward step, lately, stalls left out; maximum over ranks; 0: not known
    real(c_double) :: seconds_adjoint_step     !< of an adjoint step, likewise
    real(c_double) :: seconds_write_state      !< measured write of one state; 0: not known
    real(c_double) :: seconds_read_state       !< measured read of one state; 0: not known
    integer(c_int32_t) :: direct_io            !< 1: O_DIRECT; 0: buffered; -1: no disk
    integer(c_int32_t) :: phase                !< ANADROME_PHASE_...
    character(kind=c_char) :: schedule(24)     !< the schedule in force
    character(kind=c_char) :: layout(16)       !< the file layout in force
    character(kind=c_char) :: transport(16)    !< the transport in force
    real(c_double) :: seconds_predicted        !< seconds_total as predicted last by half of the forward sweep; 0: not
    integer(c_int64_t) :: predicted_at_step    !< forward steps done then
    integer(c_int32_t) :: adjoint_guessed      !< 1: that prediction guessed the time of an adjoint step
    integer(c_int32_t) :: reserved_int         !< zero
    integer(c_int64_t) :: anchors_lost         !< restores from disk that failed on some rank and were healed
    integer(c_int64_t) :: writes_failed        !< writes that failed on this rank
    integer(c_int64_t) :: states_written       !< to disk in this sweep
    integer(c_int64_t) :: states_read          !< from disk in this sweep
    integer(c_int64_t) :: bytes_compressed     !< of states, before they were compressed to bytes_written
    real(c_double) :: tolerance                !< in force, of a lossy codec; 0: no numbers are changed
    real(c_double) :: gradient_error           !< what that did to the adjoint fields at DONE, relative; 0: not known
    integer(c_int64_t) :: passes               !< anadrome_pass, after this sweep
    integer(c_int64_t) :: visit_steps_taken    !< VISIT actions completed
    real(c_double) :: seconds_visit_step       !< measured VISIT on this rank; 0: not known
    real(c_double) :: drift                    !< of schedule=undo with compress=lossy, relative
  end type anadrome_stats

  !> What anadrome_check_gradient found, as in C. The message is read with anadrome_text.
  type, bind(c) :: anadrome_gradient_check
    integer(c_size_t) :: size = 0              !< of this type; set by anadrome_check_gradient
    integer(c_int32_t) :: verdict              !< ANADROME_VERDICT_...: of both tests
    integer(c_int32_t) :: taylor_verdict       !< of the Taylor tests
    integer(c_int32_t) :: product_verdict      !< of the dot products
    integer(c_int32_t) :: mismatch             !< ANADROME_MISMATCH_...
    real(c_double) :: objective                !< J(m)
    integer(c_int64_t) :: seeds                !< directions that were tested
    real(c_double) :: derivative(8)            !< by seed: what `derivative` gave
    real(c_double) :: ratio(8)                 !< by seed: that over the derivative by differences
    real(c_double) :: slope(8)                 !< by seed: 2 if right, 1 if wrong, 0: round-off only
    real(c_double) :: first_slope(8)           !< by seed: of J(m + e dm) - J(m)
    real(c_double) :: resolution               !< the relative error that would have been seen
    integer(c_int64_t) :: products             !< steps whose dot products were tested
    integer(c_int64_t) :: failing_products     !< how many of them failed
    integer(c_int64_t) :: failing_step         !< the first of them; -1: none
    real(c_double) :: product_mismatch         !< of the failing step, or the largest of any
    real(c_double) :: forward_product          !< of the failing step: <w, F' v>
    real(c_double) :: adjoint_product          !< of the failing step: <F'^T w, v>
    character(kind=c_char) :: message(512)     !< what was found, in a sentence
  end type anadrome_gradient_check

  !> Measured numbers of a store on this rank, as in C.
  type, bind(c) :: anadrome_store_stats
    integer(c_size_t) :: size = 0              !< of this type; set by anadrome_store_statistics
    integer(c_int64_t) :: objects              !< that are in the store
    integer(c_int64_t) :: bytes                !< of these, without padding
    integer(c_int64_t) :: memory_bytes         !< most memory in use so far
    integer(c_int64_t) :: block_bytes          !< what is moved at once
    integer(c_int64_t) :: bytes_written        !< to disk, whole blocks
    integer(c_int64_t) :: bytes_read           !< from disk, whole blocks
    real(c_double) :: seconds_writing          !< in writes, beside the caller
    real(c_double) :: seconds_reading          !< in reads, beside the caller
    real(c_double) :: seconds_stalled_write    !< that calls waited for writes to end
    real(c_double) :: seconds_stalled_read     !< that calls waited for reads to end
    integer(c_int32_t) :: direct_io            !< 1: O_DIRECT; 0: buffered; -1: nothing went to disk so far
    integer(c_int32_t) :: reserved_int         !< zero
  end type anadrome_store_stats
end module anadrome_types

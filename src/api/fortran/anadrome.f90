! SPDX-License-Identifier: BSD-2-Clause
! States of a time-dependent simulation, given back in reverse: the Fortran interface. No comment of Doxygen's: the
! namespace of C++ has the same name there. The conventions are
! those of anadrome.h: steps count from 0, x_k is what step k starts from.
!
! - `ierr`, the optional last argument, is ANADROME_OK or why a call failed; anadrome_last_error() says it in
!   words. A failure that is not asked for ends the program, as with `allocate` without `stat=`.
! - Registered arrays have the TARGET attribute (the compiler demands it) and are contiguous. In procedures
!   where such an array is a dummy argument, anadrome_next changes it only if the dummy is a TARGET too.
module anadrome
  use anadrome_types, only: &
       ANADROME_OK, ANADROME_STOPPED, ANADROME_ERR_ARGUMENT, ANADROME_ERR_ORDER, ANADROME_ERR_MEMORY, &
       ANADROME_ERR_NO_SPACE, ANADROME_ERR_IO, ANADROME_ERR_CORRUPT, ANADROME_ERR_NONDETERMINISTIC, &
       ANADROME_ERR_BUSY, ANADROME_ERR_PEER, ANADROME_ERR_UNSUPPORTED, ANADROME_ERR_INTERNAL, &
       ANADROME_ROLE_STATE, ANADROME_ROLE_TAPE, ANADROME_ROLE_ADJOINT, &
       ANADROME_FLOAT32, ANADROME_FLOAT64, ANADROME_COMPLEX64, ANADROME_COMPLEX128, ANADROME_INT32, &
       ANADROME_INT64, ANADROME_BYTE, &
       ANADROME_ADVANCE, ANADROME_TURN, ANADROME_ADJOINT, ANADROME_DONE, ANADROME_VISIT, &
       ANADROME_PASS_FORWARD, ANADROME_PASS_REVERSE, &
       ANADROME_PHASE_IDLE, ANADROME_PHASE_FORWARD, ANADROME_PHASE_REVERSE, ANADROME_PHASE_DONE, &
       ANADROME_VERDICT_NONE, ANADROME_VERDICT_RIGHT, ANADROME_VERDICT_WRONG, ANADROME_VERDICT_UNDECIDED, &
       ANADROME_MISMATCH_NONE, ANADROME_MISMATCH_SIGN, ANADROME_MISMATCH_FACTOR, ANADROME_MISMATCH_TERM, &
       ANADROME_MISMATCH_STATE, ANADROME_MISMATCH_NOT_FINITE, ANADROME_MISMATCH_OBJECTIVE, &
       ANADROME_SCHEDULE_ADVANCE, ANADROME_SCHEDULE_TURN, ANADROME_SCHEDULE_ADJOINT, ANADROME_SCHEDULE_DONE, &
       ANADROME_SCHEDULE_START, ANADROME_SCHEDULE_KEEP, ANADROME_SCHEDULE_RESTORE, ANADROME_SCHEDULE_DROP, &
       ANADROME_SCHEDULE_WRITE, ANADROME_SCHEDULE_READ, ANADROME_SCHEDULE_STATE, ANADROME_SCHEDULE_TAPE, &
       ANADROME_SKETCH_COUNT, ANADROME_SKETCH_RADEMACHER, ANADROME_SKETCH_GAUSSIAN, ANADROME_SKETCH_ROWS, &
       ANADROME_SKETCH_EXACT, &
       ANADROME_MOST_SEEDS, ANADROME_STEPS_UNKNOWN, anadrome_stats, anadrome_gradient_check, &
       anadrome_store_stats
  use anadrome_runs, only: &
       anadrome_run, anadrome_action, anadrome_open, anadrome_set, anadrome_begin, anadrome_next, &
       anadrome_finish_forward, anadrome_resumed, &
       anadrome_set_shape, anadrome_set_tolerance, anadrome_rewind, anadrome_pass, anadrome_fail, &
       anadrome_request_stop, anadrome_statistics, &
       anadrome_close, anadrome_last_error, anadrome_status_name, anadrome_version, anadrome_text
  use anadrome_fields, only: &
       anadrome_add_field, anadrome_add_packed, anadrome_add_varying, anadrome_pack, anadrome_unpack, anadrome_size
  use anadrome_exchanged, only: anadrome_add_exchanged, anadrome_now, anadrome_then
  use anadrome_models, only: anadrome_model, anadrome_solve, anadrome_solve_pass
  use anadrome_gradients, only: anadrome_gradient_model, anadrome_check_gradient
  use anadrome_stores, only: &
       anadrome_store, anadrome_part, anadrome_store_open, anadrome_store_put, anadrome_store_get, &
       anadrome_store_drop, anadrome_store_expect, anadrome_store_contains, anadrome_store_keys, &
       anadrome_store_parts, anadrome_store_view, anadrome_store_release, anadrome_store_sync, &
       anadrome_store_statistics, anadrome_store_close
  use anadrome_schedules, only: &
       anadrome_schedule, anadrome_schedule_action, anadrome_schedule_open, anadrome_schedule_next, &
       anadrome_schedule_end, anadrome_schedule_close
  use anadrome_sketches, only: &
       anadrome_sketch, anadrome_sketch_bytes, anadrome_sketch_create, anadrome_sketch_push, &
       anadrome_sketch_correlate, anadrome_sketch_gradient, anadrome_sketch_variance, anadrome_sketch_destroy
  implicit none
  public
end module anadrome

! SPDX-License-Identifier: BSD-2-Clause
! The C interface as Fortran sees it; nothing is added here. Functions of one shape include their arguments:
! gfortran 12 forgets VALUE of `procedure(shape), bind(c)` from the second call on. A handle is a run, a store, a
! schedule or a sketch.
module anadrome_c_interface
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use anadrome_types
  implicit none

  !> anadrome_action as C lays it out; callers get anadrome_action of module anadrome.
  type, bind(c) :: c_action
    integer(c_int) :: kind, record, again, reserved_int
    integer(c_int64_t) :: first, last, reserved(4)
  end type c_action

  !> anadrome_schedule_action as C lays it out; callers get that of module anadrome.
  type, bind(c) :: c_schedule_action
    integer(c_int) :: kind, what
    integer(c_int32_t) :: tier, record, again, reserved_int
    integer(c_int64_t) :: first, last, branch, slot, begin, units, reserved(4)
  end type c_schedule_action

  !> anadrome_model as C lays it out; callers extend anadrome_model of module anadrome.
  type, bind(c) :: c_model
    integer(c_size_t) :: size
    type(c_ptr) :: context
    type(c_funptr) :: advance, record, turn, adjoint, start, visit, undo
  end type c_model

  !> anadrome_gradient as C lays it out; callers extend anadrome_gradient_model of module anadrome.
  type, bind(c) :: c_gradient
    integer(c_size_t) :: size
    type(c_ptr) :: context
    type(c_funptr) :: perturb, objective, derivative, mask
    type(c_ptr) :: pairs
    integer(c_int64_t) :: seeds
    real(c_double) :: epsilon
    integer(c_int64_t) :: product_steps
    type(c_ptr) :: report
  end type c_gradient

  !> anadrome_part as C lays it out. An array that cannot be one has one of these types.
  integer(c_int), parameter :: no_array = -1, with_gaps = -2
  type, bind(c) :: c_part
    type(c_ptr) :: name = c_null_ptr
    integer(c_int) :: type = no_array
    integer(c_size_t) :: count = 0
    type(c_ptr) :: values = c_null_ptr
  end type c_part

  interface
    integer(c_int) function c_rewind(handle) bind(c, name="anadrome_rewind")
      include "c_of_handle.inc"
    integer(c_int) function c_request_stop(handle) bind(c, name="anadrome_request_stop")
      include "c_of_handle.inc"
    integer(c_int) function c_store_sync(handle) bind(c, name="anadrome_store_sync")
      include "c_of_handle.inc"
    integer(c_int) function c_close(handle) bind(c, name="anadrome_close")
      include "c_closing.inc"
    integer(c_int) function c_store_close(handle) bind(c, name="anadrome_store_close")
      include "c_closing.inc"
    integer(c_int) function c_schedule_close(handle) bind(c, name="anadrome_schedule_close")
      include "c_closing.inc"
    integer(c_int) function c_sketch_destroy(handle) bind(c, name="anadrome_sketch_destroy")
      include "c_closing.inc"
    integer(c_int) function c_begin(handle, number) bind(c, name="anadrome_begin")
      include "c_of_number.inc"
    integer(c_int) function c_finish_forward(handle, number) bind(c, name="anadrome_finish_forward")
      include "c_of_number.inc"
    integer(c_int) function c_store_drop(handle, number) bind(c, name="anadrome_store_drop")
      include "c_of_number.inc"
    integer(c_int) function c_schedule_end(handle, number) bind(c, name="anadrome_schedule_end")
      include "c_of_number.inc"
    integer(c_int) function c_store_release(handle, address) bind(c, name="anadrome_store_release")
      include "c_of_address.inc"
    integer(c_int) function c_sketch_gradient(handle, address) bind(c, name="anadrome_sketch_gradient")
      include "c_of_address.inc"
    integer(c_int) function c_sketch_variance(handle, address) bind(c, name="anadrome_sketch_variance")
      include "c_of_address.inc"
    integer(c_int) function c_next(handle, structure) bind(c, name="anadrome_next")
      include "c_filling.inc"
    integer(c_int) function c_statistics(handle, structure) bind(c, name="anadrome_statistics")
      include "c_filling.inc"
    integer(c_int) function c_store_statistics(handle, structure) bind(c, name="anadrome_store_statistics")
      include "c_filling.inc"
    integer(c_int) function c_schedule_next(handle, structure) bind(c, name="anadrome_schedule_next")
      include "c_filling.inc"
    integer(c_int) function c_store_put(store, key, parts, part) bind(c, name="anadrome_store_put")
      include "c_of_parts.inc"
    integer(c_int) function c_store_get(store, key, parts, part) bind(c, name="anadrome_store_get")
      include "c_of_parts.inc"
    integer(c_int) function c_sketch_push(handle, number, address) bind(c, name="anadrome_sketch_push")
      include "c_of_step.inc"
    integer(c_int) function c_sketch_correlate(handle, number, address) bind(c, name="anadrome_sketch_correlate")
      include "c_of_step.inc"
    type(c_ptr) function c_last_error() bind(c, name="anadrome_last_error")
      import :: c_ptr
    end function c_last_error
    type(c_ptr) function c_version() bind(c, name="anadrome_version")
      import :: c_ptr
    end function c_version
    integer(c_int) function c_open(comm, run) bind(c, name="anadrome_fortran_open")
      import :: c_int, c_ptr
      integer(c_int), value :: comm
      type(c_ptr), intent(out) :: run
    end function c_open
    type(c_ptr) function handle_of(object) bind(c, name="anadrome_fortran_handle")
      import :: c_ptr
      type(*), intent(in) :: object
    end function handle_of
    type(c_part) function c_part_of(values) bind(c, name="anadrome_fortran_part")
      import :: c_part
      type(*), intent(in) :: values(..)
    end function c_part_of
    integer(c_int) function c_set(run, key, value) bind(c, name="anadrome_set")
      include "c_run.inc"
      character(kind=c_char), intent(in) :: key(*), value(*)
    end function c_set
    integer(c_int) function c_add_field(run, name, role, type, values, count) bind(c, name="anadrome_add_field")
      include "c_run_name.inc"
      type(c_ptr), value :: values
      integer(c_int), value :: role, type
      integer(c_size_t), value :: count
    end function c_add_field
    integer(c_int) function c_add_packed(run, name, role, bytes, pack, unpack, context) &
         bind(c, name="anadrome_add_packed")
      include "c_run_name.inc"
      type(c_ptr), value :: context
      integer(c_int), value :: role
      integer(c_size_t), value :: bytes
      type(c_funptr), value :: pack, unpack
    end function c_add_packed
    integer(c_int) function c_add_varying(run, name, role, most, size, pack, unpack, context) &
         bind(c, name="anadrome_add_varying")
      include "c_run_name.inc"
      type(c_ptr), value :: context
      integer(c_int), value :: role
      integer(c_size_t), value :: most
      type(c_funptr), value :: size, pack, unpack
    end function c_add_varying
    integer(c_int) function c_add_exchanged(run, name, role, type, count, field) &
         bind(c, name="anadrome_fortran_add_exchanged")
      include "c_run_name.inc"
      integer(c_int), value :: role, type
      integer(c_size_t), value :: count
      integer(c_int), intent(out) :: field
    end function c_add_exchanged
    integer(c_int) function c_solve(run, steps, model) bind(c, name="anadrome_solve")
      include "c_run_steps.inc"
    end function c_solve
    integer(c_int) function c_solve_pass(run, direction, model) bind(c, name="anadrome_solve_pass")
      include "c_run.inc"
      integer(c_int), value :: direction
      type(c_model), intent(in) :: model
    end function c_solve_pass
    integer(c_int) function c_check_gradient(run, steps, model, gradient, check) bind(c, name="anadrome_check_gradient")
      include "c_run_steps.inc"
      type(c_gradient), intent(in) :: gradient
      type(anadrome_gradient_check), intent(inout) :: check
    end function c_check_gradient
    integer(c_int) function c_set_shape(run, name, dimensions, sizes) bind(c, name="anadrome_set_shape")
      include "c_run_name.inc"
      integer(c_int), value :: dimensions
      integer(c_int64_t), intent(in) :: sizes(*)
    end function c_set_shape
    integer(c_int) function c_set_tolerance(run, name, absolute) bind(c, name="anadrome_set_tolerance")
      include "c_run_name.inc"
      real(c_double), value :: absolute
    end function c_set_tolerance
    integer(c_int) function c_resumed(run, phase, step) bind(c, name="anadrome_resumed")
      include "c_run.inc"
      integer(c_int), intent(out) :: phase
      integer(c_int64_t), intent(out) :: step
    end function c_resumed
    integer(c_int) function c_pass(run, direction) bind(c, name="anadrome_pass")
      include "c_run.inc"
      integer(c_int), value :: direction
    end function c_pass
    integer(c_int) function c_fail(run, why) bind(c, name="anadrome_fail")
      include "c_run.inc"
      character(kind=c_char), intent(in) :: why(*)
    end function c_fail
    type(c_ptr) function c_status_name(status) bind(c, name="anadrome_status_name")
      import :: c_int, c_ptr
      integer(c_int), value :: status
    end function c_status_name
    integer(c_size_t) function c_length(text) bind(c, name="strlen")
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function c_length
    integer(c_int) function c_store_open(comm, options, store) bind(c, name="anadrome_fortran_store_open")
      import :: c_char, c_int, c_ptr
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: options(*)
      type(c_ptr), intent(out) :: store
    end function c_store_open
    integer(c_int) function c_store_expect(store, count, keys) bind(c, name="anadrome_store_expect")
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: store
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: keys(*)
    end function c_store_expect
    integer(c_int) function c_store_contains(store, key, yes) bind(c, name="anadrome_store_contains")
      include "c_store_key.inc"
      integer(c_int), intent(inout) :: yes
    end function c_store_contains
    integer(c_int) function c_store_keys(store, most, keys, count) bind(c, name="anadrome_store_keys")
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: store
      integer(c_int64_t), value :: most
      integer(c_int64_t), intent(inout) :: keys(*), count
    end function c_store_keys
    integer(c_int) function c_store_parts(store, key, most, parts, count) bind(c, name="anadrome_store_parts")
      include "c_store_key.inc"
      integer(c_int), value :: most
      type(c_part), intent(inout) :: parts(*)
      integer(c_int), intent(inout) :: count
    end function c_store_parts
    integer(c_int) function c_store_view(store, key, part, offset, view, bytes) bind(c, name="anadrome_store_view")
      include "c_store_key.inc"
      character(kind=c_char), intent(in) :: part(*)
      integer(c_size_t), value :: offset
      type(c_ptr), intent(inout) :: view
      integer(c_size_t), intent(inout) :: bytes
    end function c_store_view
    integer(c_int) function c_schedule_open(options, schedule) bind(c, name="anadrome_schedule_open")
      import :: c_char, c_int, c_ptr
      character(kind=c_char), intent(in) :: options(*)
      type(c_ptr), intent(out) :: schedule
    end function c_schedule_open
    integer(c_int) function c_sketch_bytes(count, type, arrays, kind, bytes) bind(c, name="anadrome_sketch_bytes")
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: count, arrays
      integer(c_int), value :: type, kind
      integer(c_int64_t), intent(inout) :: bytes
    end function c_sketch_bytes
    integer(c_int) function c_sketch_create(count, type, arrays, seed, kind, sketch) &
         bind(c, name="anadrome_sketch_create")
      import :: c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: count, arrays, seed
      integer(c_int), value :: type, kind
      type(c_ptr), intent(out) :: sketch
    end function c_sketch_create
  end interface
end module anadrome_c_interface

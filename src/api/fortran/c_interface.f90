! SPDX-License-Identifier: BSD-2-Clause
! The functions of the C interface as Fortran sees them. Nothing is added here. Each has an interface of its
! own: gfortran 12 forgets VALUE where `procedure(shape), bind(c)` comes out of a module file.
module anadrome_c_interface
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int, c_int32_t, c_int64_t, c_ptr, &
       c_size_t
  use anadrome_types, only: anadrome_gradient_check, anadrome_stats, anadrome_store_stats
  implicit none
  private :: anadrome_gradient_check, anadrome_stats, anadrome_store_stats
  private :: c_char, c_double, c_funptr, c_int, c_int32_t, c_int64_t, c_ptr, c_size_t

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

  !> anadrome_schedule_action as C lays it out; callers get that of module anadrome.
  type, bind(c) :: c_schedule_action
    integer(c_int) :: kind
    integer(c_int) :: what
    integer(c_int32_t) :: tier
    integer(c_int32_t) :: record
    integer(c_int32_t) :: again
    integer(c_int32_t) :: reserved_int
    integer(c_int64_t) :: first
    integer(c_int64_t) :: last
    integer(c_int64_t) :: branch
    integer(c_int64_t) :: slot
    integer(c_int64_t) :: begin
    integer(c_int64_t) :: units
    integer(c_int64_t) :: reserved(4)
  end type c_schedule_action

  !> anadrome_model as C lays it out; callers extend anadrome_model of module anadrome.
  type, bind(c) :: c_model
    integer(c_size_t) :: size
    type(c_ptr) :: context
    type(c_funptr) :: advance
    type(c_funptr) :: record
    type(c_funptr) :: turn
    type(c_funptr) :: adjoint
    type(c_funptr) :: start
    type(c_funptr) :: visit
  end type c_model

  !> anadrome_gradient as C lays it out; callers extend anadrome_gradient_model of module anadrome.
  type, bind(c) :: c_gradient
    integer(c_size_t) :: size
    type(c_ptr) :: context
    type(c_funptr) :: perturb
    type(c_funptr) :: objective
    type(c_funptr) :: derivative
    type(c_funptr) :: mask
    type(c_ptr) :: pairs
    integer(c_int64_t) :: seeds
    real(c_double) :: epsilon
    integer(c_int64_t) :: product_steps
    type(c_ptr) :: report
  end type c_gradient

  !> anadrome_part as C lays it out.
  type, bind(c) :: c_part
    type(c_ptr) :: name
    integer(c_int) :: type
    integer(c_size_t) :: count
    type(c_ptr) :: values
  end type c_part

  interface
    function c_open(comm, run) bind(c, name="anadrome_fortran_open") result(status)
      import :: c_int, c_ptr
      integer(c_int), value :: comm
      type(c_ptr), intent(out) :: run
      integer(c_int) :: status
    end function c_open

    function c_is_contiguous(values) bind(c, name="anadrome_fortran_is_contiguous") result(contiguous)
      import :: c_int
      type(*), intent(in) :: values(..)
      integer(c_int) :: contiguous
    end function c_is_contiguous

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

    function c_add_varying(run, name, role, most, size, pack, unpack, context) &
         bind(c, name="anadrome_add_varying") result(status)
      import :: c_char, c_funptr, c_int, c_ptr, c_size_t
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: role
      integer(c_size_t), value :: most
      type(c_funptr), value :: size, pack, unpack
      type(c_ptr), value :: context
      integer(c_int) :: status
    end function c_add_varying

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

    function c_solve_pass(run, direction, model) bind(c, name="anadrome_solve_pass") result(status)
      import :: c_int, c_model, c_ptr
      type(c_ptr), value :: run
      integer(c_int), value :: direction
      type(c_model), intent(in) :: model
      integer(c_int) :: status
    end function c_solve_pass

    function c_check_gradient(run, steps, model, gradient, check) bind(c, name="anadrome_check_gradient") &
         result(status)
      import :: anadrome_gradient_check, c_gradient, c_int, c_int64_t, c_model, c_ptr
      type(c_ptr), value :: run
      integer(c_int64_t), value :: steps
      type(c_model), intent(in) :: model
      type(c_gradient), intent(in) :: gradient
      type(anadrome_gradient_check), intent(inout) :: check
      integer(c_int) :: status
    end function c_check_gradient

    function c_set_shape(run, name, dimensions, sizes) bind(c, name="anadrome_set_shape") result(status)
      import :: c_char, c_int, c_int64_t, c_ptr
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: dimensions
      integer(c_int64_t), intent(in) :: sizes(*)
      integer(c_int) :: status
    end function c_set_shape

    function c_set_tolerance(run, name, absolute) bind(c, name="anadrome_set_tolerance") result(status)
      import :: c_char, c_double, c_int, c_ptr
      type(c_ptr), value :: run
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: absolute
      integer(c_int) :: status
    end function c_set_tolerance

    function c_resumed(run, phase, step) bind(c, name="anadrome_resumed") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: run
      integer(c_int), intent(out) :: phase
      integer(c_int64_t), intent(out) :: step
      integer(c_int) :: status
    end function c_resumed

    function c_rewind(run) bind(c, name="anadrome_rewind") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: run
      integer(c_int) :: status
    end function c_rewind

    function c_pass(run, direction) bind(c, name="anadrome_pass") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: run
      integer(c_int), value :: direction
      integer(c_int) :: status
    end function c_pass

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

    function c_store_open(comm, options, store) bind(c, name="anadrome_fortran_store_open") result(status)
      import :: c_char, c_int, c_ptr
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: options(*)
      type(c_ptr), intent(out) :: store
      integer(c_int) :: status
    end function c_store_open

    function c_store_put(store, key, parts, part) bind(c, name="anadrome_store_put") result(status)
      import :: c_int, c_int64_t, c_part, c_ptr
      type(c_ptr), value :: store
      integer(c_int64_t), value :: key
      integer(c_int), value :: parts
      type(c_part), intent(in) :: part(*)
      integer(c_int) :: status
    end function c_store_put

    function c_store_get(store, key, parts, part) bind(c, name="anadrome_store_get") result(status)
      import :: c_int, c_int64_t, c_part, c_ptr
      type(c_ptr), value :: store
      integer(c_int64_t), value :: key
      integer(c_int), value :: parts
      type(c_part), intent(in) :: part(*)
      integer(c_int) :: status
    end function c_store_get

    function c_store_drop(store, key) bind(c, name="anadrome_store_drop") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: store
      integer(c_int64_t), value :: key
      integer(c_int) :: status
    end function c_store_drop

    function c_store_expect(store, count, keys) bind(c, name="anadrome_store_expect") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: store
      integer(c_int64_t), value :: count
      integer(c_int64_t), intent(in) :: keys(*)
      integer(c_int) :: status
    end function c_store_expect

    function c_store_contains(store, key, yes) bind(c, name="anadrome_store_contains") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: store
      integer(c_int64_t), value :: key
      integer(c_int), intent(inout) :: yes
      integer(c_int) :: status
    end function c_store_contains

    function c_store_keys(store, most, keys, count) bind(c, name="anadrome_store_keys") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: store
      integer(c_int64_t), value :: most
      integer(c_int64_t), intent(inout) :: keys(*)
      integer(c_int64_t), intent(inout) :: count
      integer(c_int) :: status
    end function c_store_keys

    function c_store_parts(store, key, most, parts, count) bind(c, name="anadrome_store_parts") result(status)
      import :: c_int, c_int64_t, c_part, c_ptr
      type(c_ptr), value :: store
      integer(c_int64_t), value :: key
      integer(c_int), value :: most
      type(c_part), intent(inout) :: parts(*)
      integer(c_int), intent(inout) :: count
      integer(c_int) :: status
    end function c_store_parts

    function c_store_view(store, key, part, offset, view, bytes) bind(c, name="anadrome_store_view") result(status)
      import :: c_char, c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: store
      integer(c_int64_t), value :: key
      character(kind=c_char), intent(in) :: part(*)
      integer(c_size_t), value :: offset
      type(c_ptr), intent(inout) :: view
      integer(c_size_t), intent(inout) :: bytes
      integer(c_int) :: status
    end function c_store_view

    function c_store_release(store, view) bind(c, name="anadrome_store_release") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: store
      type(c_ptr), value :: view
      integer(c_int) :: status
    end function c_store_release

    function c_store_sync(store) bind(c, name="anadrome_store_sync") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: store
      integer(c_int) :: status
    end function c_store_sync

    function c_store_statistics(store, stats) bind(c, name="anadrome_store_statistics") result(status)
      import :: anadrome_store_stats, c_int, c_ptr
      type(c_ptr), value :: store
      type(anadrome_store_stats), intent(inout) :: stats
      integer(c_int) :: status
    end function c_store_statistics

    function c_store_close(store) bind(c, name="anadrome_store_close") result(status)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: store
      integer(c_int) :: status
    end function c_store_close

    function c_schedule_open(options, schedule) bind(c, name="anadrome_schedule_open") result(status)
      import :: c_char, c_int, c_ptr
      character(kind=c_char), intent(in) :: options(*)
      type(c_ptr), intent(out) :: schedule
      integer(c_int) :: status
    end function c_schedule_open

    function c_schedule_next(schedule, action) bind(c, name="anadrome_schedule_next") result(status)
      import :: c_int, c_ptr, c_schedule_action
      type(c_ptr), value :: schedule
      type(c_schedule_action), intent(out) :: action
      integer(c_int) :: status
    end function c_schedule_next

    function c_schedule_end(schedule, steps) bind(c, name="anadrome_schedule_end") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: schedule
      integer(c_int64_t), value :: steps
      integer(c_int) :: status
    end function c_schedule_end

    function c_schedule_close(schedule) bind(c, name="anadrome_schedule_close") result(status)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: schedule
      integer(c_int) :: status
    end function c_schedule_close
  end interface
end module anadrome_c_interface

! SPDX-License-Identifier: BSD-2-Clause
! The callbacks of anadrome_solve as procedures of a type: a model extends anadrome_model.
module anadrome_models
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_funloc, c_int, c_int64_t, c_loc, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use anadrome_c_interface
  use anadrome_types
  use anadrome_runs, only: anadrome_run, handle_of, settle
  implicit none
  private
  public :: anadrome_model, anadrome_solve, anadrome_solve_pass
  public :: model_pointer, callbacks_of

  !> What is to be done, for anadrome_solve. `ierr` is 0 on entry; another value fails the run as
  !> anadrome_fail does, and the procedures go on being called until the next agreement point.
  type, abstract :: anadrome_model
  contains
    !> Write x_0, before the first step; nothing to do if the arrays hold it already.
    procedure(start_interface), deferred :: start
    !> Run steps first .. last-1. With unknown steps set reached = n < last when the sweep ends.
    procedure(advance_interface), deferred :: advance
    !> As advance for the one step `step`, and fill the tape fields. Only with tape fields.
    procedure :: record => record_missing
    !> Objective and terminal condition; the arrays hold x_n.
    procedure(turn_interface), deferred :: turn
    !> The adjoint of step `step`.
    procedure(adjoint_interface), deferred :: adjoint
    !> Visit step `step` in a pass forward: the arrays hold x_k, or the tape. Only with anadrome_solve_pass.
    procedure :: visit => visit_missing
  end type anadrome_model

  abstract interface
    subroutine start_interface(model, ierr)
      import :: anadrome_model
      class(anadrome_model), intent(inout) :: model
      integer, intent(inout) :: ierr
    end subroutine start_interface

    subroutine advance_interface(model, first, last, reached, ierr)
      import :: anadrome_model, int64
      class(anadrome_model), intent(inout) :: model
      integer(int64), intent(in) :: first, last
      integer(int64), intent(inout) :: reached
      integer, intent(inout) :: ierr
    end subroutine advance_interface

    subroutine turn_interface(model, steps, ierr)
      import :: anadrome_model, int64
      class(anadrome_model), intent(inout) :: model
      integer(int64), intent(in) :: steps
      integer, intent(inout) :: ierr
    end subroutine turn_interface

    subroutine adjoint_interface(model, step, ierr)
      import :: anadrome_model, int64
      class(anadrome_model), intent(inout) :: model
      integer(int64), intent(in) :: step
      integer, intent(inout) :: ierr
    end subroutine adjoint_interface
  end interface

  !> Run a whole sweep, forward and reverse, with the procedures of `model`. Collective.
  interface anadrome_solve
    module procedure solve_int32, solve_int64
  end interface anadrome_solve

  ! A polymorphic object has no C address; what points to it has.
  type :: model_pointer
    class(anadrome_model), pointer :: model => null()
  end type model_pointer

contains

  subroutine solve_int64(run, steps, model, ierr)
    type(anadrome_run), intent(in) :: run
    integer(int64), intent(in) :: steps
    class(anadrome_model), target, intent(inout) :: model
    integer, optional, intent(out) :: ierr
    type(model_pointer), target :: context
    type(c_model) :: callbacks
    context%model => model
    callbacks = callbacks_of(context)
    call settle(c_solve(handle_of(run), steps, callbacks), ierr)
  end subroutine solve_int64

  !> Run a pass with the procedures of `model`: anadrome_pass, then its actions. Collective.
  subroutine anadrome_solve_pass(run, direction, model, ierr)
    type(anadrome_run), intent(in) :: run
    integer, intent(in) :: direction
    class(anadrome_model), target, intent(inout) :: model
    integer, optional, intent(out) :: ierr
    type(model_pointer), target :: context
    type(c_model) :: callbacks
    context%model => model
    callbacks = callbacks_of(context)
    call settle(c_solve_pass(handle_of(run), int(direction, c_int), callbacks), ierr)
  end subroutine anadrome_solve_pass

  !> For the other modules of this library: `context` outlives them.
  function callbacks_of(context) result(callbacks)
    type(model_pointer), target, intent(in) :: context
    type(c_model) :: callbacks
    callbacks%size = c_sizeof(callbacks)
    callbacks%context = c_loc(context)
    callbacks%start = c_funloc(on_start)
    callbacks%advance = c_funloc(on_advance)
    callbacks%record = c_funloc(on_record)
    callbacks%turn = c_funloc(on_turn)
    callbacks%adjoint = c_funloc(on_adjoint)
    callbacks%visit = c_funloc(on_visit)
  end function callbacks_of

  subroutine solve_int32(run, steps, model, ierr)
    type(anadrome_run), intent(in) :: run
    integer(int32), intent(in) :: steps
    class(anadrome_model), target, intent(inout) :: model
    integer, optional, intent(out) :: ierr
    call solve_int64(run, int(steps, int64), model, ierr)
  end subroutine solve_int32

  subroutine record_missing(model, step, reached, ierr)
    class(anadrome_model), intent(inout) :: model
    integer(int64), intent(in) :: step
    integer(int64), intent(inout) :: reached
    integer, intent(inout) :: ierr
    ierr = ANADROME_ERR_ARGUMENT  ! a tape that nobody fills would make a wrong gradient
  end subroutine record_missing

  subroutine visit_missing(model, step, ierr)
    class(anadrome_model), intent(inout) :: model
    integer(int64), intent(in) :: step
    integer, intent(inout) :: ierr
    ierr = ANADROME_ERR_ARGUMENT  ! a pass forward in which nothing is done
  end subroutine visit_missing

  function on_start(context) bind(c, name="") result(failure)
    type(c_ptr), value :: context
    integer(c_int) :: failure
    type(model_pointer), pointer :: held
    integer :: ierr
    call c_f_pointer(context, held)
    ierr = 0
    call held%model%start(ierr)
    failure = int(ierr, c_int)
  end function on_start

  function on_advance(context, first, last, reached) bind(c, name="") result(failure)
    type(c_ptr), value :: context
    integer(c_int64_t), value :: first, last
    integer(c_int64_t), intent(inout) :: reached
    integer(c_int) :: failure
    type(model_pointer), pointer :: held
    integer :: ierr
    call c_f_pointer(context, held)
    ierr = 0
    call held%model%advance(first, last, reached, ierr)
    failure = int(ierr, c_int)
  end function on_advance

  function on_record(context, step, reached) bind(c, name="") result(failure)
    type(c_ptr), value :: context
    integer(c_int64_t), value :: step
    integer(c_int64_t), intent(inout) :: reached
    integer(c_int) :: failure
    type(model_pointer), pointer :: held
    integer :: ierr
    call c_f_pointer(context, held)
    ierr = 0
    call held%model%record(step, reached, ierr)
    failure = int(ierr, c_int)
  end function on_record

  function on_turn(context, steps) bind(c, name="") result(failure)
    type(c_ptr), value :: context
    integer(c_int64_t), value :: steps
    integer(c_int) :: failure
    type(model_pointer), pointer :: held
    integer :: ierr
    call c_f_pointer(context, held)
    ierr = 0
    call held%model%turn(steps, ierr)
    failure = int(ierr, c_int)
  end function on_turn

  function on_adjoint(context, step) bind(c, name="") result(failure)
    type(c_ptr), value :: context
    integer(c_int64_t), value :: step
    integer(c_int) :: failure
    type(model_pointer), pointer :: held
    integer :: ierr
    call c_f_pointer(context, held)
    ierr = 0
    call held%model%adjoint(step, ierr)
    failure = int(ierr, c_int)
  end function on_adjoint

  function on_visit(context, step) bind(c, name="") result(failure)
    type(c_ptr), value :: context
    integer(c_int64_t), value :: step
    integer(c_int) :: failure
    type(model_pointer), pointer :: held
    integer :: ierr
    call c_f_pointer(context, held)
    ierr = 0
    call held%model%visit(step, ierr)
    failure = int(ierr, c_int)
  end function on_visit
end module anadrome_models

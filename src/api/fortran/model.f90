! SPDX-License-Identifier: BSD-2-Clause
! The callbacks of anadrome_solve as procedures of a type: a model extends anadrome_model, or, for the check of its
! gradient, anadrome_gradient_model, which also knows the controls.
module anadrome_models
  use anadrome_c_interface
  use anadrome_runs
  implicit none
  private
  public :: anadrome_model, anadrome_solve_pass, model_pointer, callbacks_of
  public :: anadrome_gradient_model, anadrome_check_gradient

  !> What is to be done, for anadrome_solve. `ierr` is 0 on entry; another value fails the run as
  !> anadrome_fail does, and the procedures go on being called until the next agreement point.
  type, abstract :: anadrome_model
    !> Is there an `undo`? Without one schedule=undo calls `advance` instead, several times.
    logical :: has_undo = .false.
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
    !> Undo step `step`, up to rounding: for schedule=undo, with has_undo set.
    procedure :: undo => visit_missing
  end type anadrome_model

  !> What anadrome_check_gradient is given: a model, functions of its controls m and of directions dm, and
  !> what to test. The reference of C, at gradient.h, has the meanings.
  type, abstract, extends(anadrome_model) :: anadrome_gradient_model
    !> Which adjoint field belongs to which state field: "u=lambda v=mu". Not allocated: no dot products.
    character(:), allocatable :: pairs
    !> Where rank 0 writes a report: "-" or a file. Not allocated: nowhere.
    character(:), allocatable :: report
    integer(int64) :: seeds = 0          !< how many directions; 0: three
    integer(int64) :: product_steps = 0  !< how many steps have their dot products tested; 0: 32
    real(real64) :: epsilon = 0          !< the largest perturbation; 0: 0.01, in single precision 0.1
  contains
    !> Set the controls to m + epsilon dm, dm being the direction of number `seed`; 0 gives m back.
    procedure(perturb_interface), deferred :: perturb
    !> The objective of the forward sweep that is at its end, of all ranks.
    procedure(objective_interface), deferred :: objective
    !> Its derivative in the direction of number `seed`, of all ranks.
    procedure(derivative_interface), deferred :: derivative
    !> Set to zero what is part of an array and of no state; by itself it does nothing.
    procedure :: mask => nothing_to_mask
  end type anadrome_gradient_model

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
    subroutine perturb_interface(model, seed, epsilon, ierr)
      import :: anadrome_gradient_model, int64, real64
      class(anadrome_gradient_model), intent(inout) :: model
      integer(int64), intent(in) :: seed
      real(real64), intent(in) :: epsilon
      integer, intent(inout) :: ierr
    end subroutine perturb_interface
    subroutine objective_interface(model, value, ierr)
      import :: anadrome_gradient_model, real64
      class(anadrome_gradient_model), intent(inout) :: model
      real(real64), intent(out) :: value
      integer, intent(inout) :: ierr
    end subroutine objective_interface
    subroutine derivative_interface(model, seed, value, ierr)
      import :: anadrome_gradient_model, int64, real64
      class(anadrome_gradient_model), intent(inout) :: model
      integer(int64), intent(in) :: seed
      real(real64), intent(out) :: value
      integer, intent(inout) :: ierr
    end subroutine derivative_interface
  end interface

  !> Check the gradient that the model's adjoint computes, in place of anadrome_solve. Collective. A wrong
  !> gradient is what `check` says, and no failure.
  interface anadrome_check_gradient; module procedure check_int32, check_int64; end interface

  ! A polymorphic object has no C address; what points to it has.
  type :: model_pointer
    class(anadrome_model), pointer :: model => null()
    class(anadrome_gradient_model), pointer :: gradient => null()
  end type model_pointer

contains

  !> Run a pass with the procedures of `model`: anadrome_pass, then its actions. Collective.
  subroutine anadrome_solve_pass(run, direction, model, ierr)
    include "run_and_ierr.inc"
    integer, intent(in) :: direction
    class(anadrome_model), target, intent(inout) :: model
    type(model_pointer), target :: context
    context%model => model
    call settle(c_solve_pass(handle_of(run), int(direction, c_int), callbacks_of(context)), ierr)
  end subroutine anadrome_solve_pass

  ! `context` outlives them.
  function callbacks_of(context) result(callbacks)
    type(model_pointer), target, intent(in) :: context
    type(c_model) :: callbacks
    callbacks = c_model(c_sizeof(callbacks), c_loc(context), c_funloc(on_advance), c_funloc(on_record), &
         c_funloc(on_turn), c_funloc(on_adjoint), c_funloc(on_start), c_funloc(on_visit), c_null_funptr)
    if (context%model%has_undo) callbacks%undo = c_funloc(on_undo)
  end function callbacks_of

  subroutine check_int64(run, steps, model, check, ierr)
    include "run_and_ierr.inc"
    integer(int64), intent(in) :: steps
    class(anadrome_gradient_model), target, intent(inout) :: model
    type(anadrome_gradient_check), intent(out) :: check
    type(model_pointer), target :: context
    type(c_gradient) :: functions
    character(:), allocatable, target :: pairs, report
    context%model => model
    context%gradient => model
    pairs = c_null_char
    report = c_null_char
    if (allocated(model%pairs)) pairs = trim(model%pairs)//c_null_char
    if (allocated(model%report)) report = trim(model%report)//c_null_char
    functions = c_gradient(c_sizeof(functions), c_loc(context), c_funloc(on_perturb), c_funloc(on_objective), &
         c_funloc(on_derivative), c_funloc(on_mask), c_loc(pairs), model%seeds, model%epsilon, model%product_steps, &
         c_loc(report))
    check%size = c_sizeof(check)
    call settle(c_check_gradient(handle_of(run), steps, callbacks_of(context), functions, check), ierr)
  end subroutine check_int64

  subroutine check_int32(run, steps, model, check, ierr)
    include "run_and_ierr.inc"
    integer(int32), intent(in) :: steps
    class(anadrome_gradient_model), target, intent(inout) :: model
    type(anadrome_gradient_check), intent(out) :: check
    call check_int64(run, int(steps, int64), model, check, ierr)
  end subroutine check_int32

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
    ierr = ANADROME_ERR_ARGUMENT  ! a pass forward in which nothing is done, or a step that stays
  end subroutine visit_missing

  subroutine nothing_to_mask(model, ierr)
    class(anadrome_gradient_model), intent(inout) :: model
    integer, intent(inout) :: ierr
  end subroutine nothing_to_mask

  integer(c_int) function on_start(context) bind(c, name="") result(failure)
    include "held.inc"
    call held%model%start(failure)
  end function on_start

  integer(c_int) function on_advance(context, first, last, reached) bind(c, name="") result(failure)
    integer(c_int64_t), value :: first, last
    integer(c_int64_t), intent(inout) :: reached
    include "held.inc"
    call held%model%advance(first, last, reached, failure)
  end function on_advance

  integer(c_int) function on_record(context, step, reached) bind(c, name="") result(failure)
    integer(c_int64_t), value :: step
    integer(c_int64_t), intent(inout) :: reached
    include "held.inc"
    call held%model%record(step, reached, failure)
  end function on_record

  integer(c_int) function on_turn(context, steps) bind(c, name="") result(failure)
    integer(c_int64_t), value :: steps
    include "held.inc"
    call held%model%turn(steps, failure)
  end function on_turn

  integer(c_int) function on_adjoint(context, step) bind(c, name="") result(failure)
    integer(c_int64_t), value :: step
    include "held.inc"
    call held%model%adjoint(step, failure)
  end function on_adjoint

  integer(c_int) function on_visit(context, step) bind(c, name="") result(failure)
    integer(c_int64_t), value :: step
    include "held.inc"
    call held%model%visit(step, failure)
  end function on_visit

  integer(c_int) function on_undo(context, step) bind(c, name="") result(failure)
    integer(c_int64_t), value :: step
    include "held.inc"
    call held%model%undo(step, failure)
  end function on_undo

  integer(c_int) function on_perturb(context, seed, epsilon) bind(c, name="") result(failure)
    integer(c_int64_t), value :: seed
    real(c_double), value :: epsilon
    include "held.inc"
    call held%gradient%perturb(seed, epsilon, failure)
  end function on_perturb

  integer(c_int) function on_objective(context, objective) bind(c, name="") result(failure)
    real(c_double), intent(inout) :: objective
    include "held.inc"
    call held%gradient%objective(objective, failure)
  end function on_objective

  integer(c_int) function on_derivative(context, seed, derivative) bind(c, name="") result(failure)
    integer(c_int64_t), value :: seed
    real(c_double), intent(inout) :: derivative
    include "held.inc"
    call held%gradient%derivative(seed, derivative, failure)
  end function on_derivative

  integer(c_int) function on_mask(context) bind(c, name="") result(failure)
    include "held.inc"
    call held%gradient%mask(failure)
  end function on_mask
end module anadrome_models

! SPDX-License-Identifier: BSD-2-Clause
! The check of a gradient: a model that also knows its controls extends anadrome_gradient_model.
module anadrome_gradients
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_f_pointer, c_funloc, c_int, c_int64_t, c_loc, &
       c_null_char, c_ptr, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use anadrome_c_interface
  use anadrome_types
  use anadrome_models, only: anadrome_model, callbacks_of, model_pointer
  use anadrome_runs, only: anadrome_run, handle_of, settle
  implicit none
  private
  public :: anadrome_gradient_model, anadrome_check_gradient

  !> What anadrome_check_gradient is given: a model, functions of its controls m and of directions dm, and
  !> what to test. gradient.h has the meanings.
  type, abstract, extends(anadrome_model) :: anadrome_gradient_model
    !> Which adjoint field belongs to which state field: "u=lambda v=mu". Not allocated: no dot products.
    character(:), allocatable :: pairs
    !> Where rank 0 writes a report: "-" or a file. Not allocated: nowhere.
    character(:), allocatable :: report
    integer(int64) :: seeds = 0          !< how many directions; 0: three
    integer(int64) :: product_steps = 0  !< how many steps have their dot products tested; 0: 32
    real(real64) :: epsilon = 0          !< the largest perturbation; 0: as gradient.h says
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
  interface anadrome_check_gradient
    module procedure check_int32, check_int64
  end interface anadrome_check_gradient

  type :: gradient_pointer
    class(anadrome_gradient_model), pointer :: model => null()
  end type gradient_pointer

contains

  subroutine check_int64(run, steps, model, check, ierr)
    type(anadrome_run), intent(in) :: run
    integer(int64), intent(in) :: steps
    class(anadrome_gradient_model), target, intent(inout) :: model
    type(anadrome_gradient_check), intent(out) :: check
    integer, optional, intent(out) :: ierr
    type(model_pointer), target :: of_model
    type(gradient_pointer), target :: of_gradient
    type(c_gradient) :: functions
    character(kind=c_char), allocatable, target :: pairs(:), report(:)
    of_model%model => model
    of_gradient%model => model
    call to_c(model%pairs, pairs)
    call to_c(model%report, report)
    functions%size = c_sizeof(functions)
    functions%context = c_loc(of_gradient)
    functions%perturb = c_funloc(on_perturb)
    functions%objective = c_funloc(on_objective)
    functions%derivative = c_funloc(on_derivative)
    functions%mask = c_funloc(on_mask)
    functions%pairs = c_loc(pairs)
    functions%report = c_loc(report)
    functions%seeds = model%seeds
    functions%epsilon = model%epsilon
    functions%product_steps = model%product_steps
    check%size = c_sizeof(check)
    call settle(c_check_gradient(handle_of(run), steps, callbacks_of(of_model), functions, check), ierr)
  end subroutine check_int64

  subroutine check_int32(run, steps, model, check, ierr)
    type(anadrome_run), intent(in) :: run
    integer(int32), intent(in) :: steps
    class(anadrome_gradient_model), target, intent(inout) :: model
    type(anadrome_gradient_check), intent(out) :: check
    integer, optional, intent(out) :: ierr
    call check_int64(run, int(steps, int64), model, check, ierr)
  end subroutine check_int32

  ! "" for a text that is not there.
  subroutine to_c(text, characters)
    character(:), allocatable, intent(in) :: text
    character(kind=c_char), allocatable, intent(out) :: characters(:)
    integer :: length, i
    length = 0
    if (allocated(text)) length = len_trim(text)
    allocate (characters(length + 1))
    do i = 1, length
      characters(i) = text(i:i)
    end do
    characters(length + 1) = c_null_char
  end subroutine to_c

  subroutine nothing_to_mask(model, ierr)
    class(anadrome_gradient_model), intent(inout) :: model
    integer, intent(inout) :: ierr
  end subroutine nothing_to_mask

  function on_perturb(context, seed, epsilon) bind(c, name="") result(failure)
    type(c_ptr), value :: context
    integer(c_int64_t), value :: seed
    real(c_double), value :: epsilon
    integer(c_int) :: failure
    type(gradient_pointer), pointer :: held
    integer :: ierr
    call c_f_pointer(context, held)
    ierr = 0
    call held%model%perturb(seed, epsilon, ierr)
    failure = int(ierr, c_int)
  end function on_perturb

  function on_objective(context, objective) bind(c, name="") result(failure)
    type(c_ptr), value :: context
    real(c_double), intent(inout) :: objective
    integer(c_int) :: failure
    type(gradient_pointer), pointer :: held
    integer :: ierr
    call c_f_pointer(context, held)
    ierr = 0
    call held%model%objective(objective, ierr)
    failure = int(ierr, c_int)
  end function on_objective

  function on_derivative(context, seed, derivative) bind(c, name="") result(failure)
    type(c_ptr), value :: context
    integer(c_int64_t), value :: seed
    real(c_double), intent(inout) :: derivative
    integer(c_int) :: failure
    type(gradient_pointer), pointer :: held
    integer :: ierr
    call c_f_pointer(context, held)
    ierr = 0
    call held%model%derivative(seed, derivative, ierr)
    failure = int(ierr, c_int)
  end function on_derivative

  function on_mask(context) bind(c, name="") result(failure)
    type(c_ptr), value :: context
    integer(c_int) :: failure
    type(gradient_pointer), pointer :: held
    integer :: ierr
    call c_f_pointer(context, held)
    ierr = 0
    call held%model%mask(ierr)
    failure = int(ierr, c_int)
  end function on_mask
end module anadrome_gradients

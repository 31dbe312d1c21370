! SPDX-License-Identifier: BSD-2-Clause
! Models for anadrome_solve: a state that counts its steps. One forgets to fill its tape.
module counting_models
  use, intrinsic :: iso_fortran_env, only: int64
  use anadrome
  implicit none
  private
  public :: forgetful_model, counting_model

  type, extends(anadrome_model) :: forgetful_model
    integer(int64) :: x(4) = -1, tape(2) = -1
    logical :: with_tape = .false.
    integer :: adjoints = 0, starts = 0, turns = 0, undone = 0, wrong = 0, fail_at = -1
  contains
    procedure :: start
    procedure :: advance
    procedure :: turn
    procedure :: adjoint
  end type forgetful_model

  type, extends(forgetful_model) :: counting_model
  contains
    procedure :: record
    procedure :: undo
  end type counting_model

contains

  subroutine start(model, ierr)
    class(forgetful_model), intent(inout) :: model
    integer, intent(inout) :: ierr
    model%starts = model%starts + 1
    model%x = 0
    if (ierr /= 0) model%wrong = model%wrong + 1
  end subroutine start

  subroutine advance(model, first, last, reached, ierr)
    class(forgetful_model), intent(inout) :: model
    integer(int64), intent(in) :: first, last
    integer(int64), intent(inout) :: reached
    integer, intent(inout) :: ierr
    if (any(model%x /= first) .or. reached /= last) model%wrong = model%wrong + 1
    model%x = last
    if (first <= model%fail_at .and. model%fail_at < last) ierr = 77
  end subroutine advance

  subroutine record(model, step, reached, ierr)
    class(counting_model), intent(inout) :: model
    integer(int64), intent(in) :: step
    integer(int64), intent(inout) :: reached
    integer, intent(inout) :: ierr
    if (reached /= step + 1) ierr = 1
    model%tape = 10 * step
    model%x = step + 1
  end subroutine record

  subroutine undo(model, step, ierr)
    class(counting_model), intent(inout) :: model
    integer(int64), intent(in) :: step
    integer, intent(inout) :: ierr
    if (any(model%x /= step + 1)) ierr = 1
    model%x = step - 3  ! a guess
    model%undone = model%undone + 1
  end subroutine undo

  subroutine turn(model, steps, ierr)
    class(forgetful_model), intent(inout) :: model
    integer(int64), intent(in) :: steps
    integer, intent(inout) :: ierr
    model%turns = model%turns + 1
    if (any(model%x /= steps)) ierr = 1
  end subroutine turn

  subroutine adjoint(model, step, ierr)
    class(forgetful_model), intent(inout) :: model
    integer(int64), intent(in) :: step
    integer, intent(inout) :: ierr
    logical :: right
    right = merge(all(model%tape == 10 * step), all(model%x == step), model%with_tape)
    if (.not. right .or. ierr /= 0) model%wrong = model%wrong + 1
    model%adjoints = model%adjoints + 1
  end subroutine adjoint
end module counting_models

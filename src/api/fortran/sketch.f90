! SPDX-License-Identifier: BSD-2-Clause
! Gradients that are correlations in time, from a few arrays: sketch.h. Local.
module anadrome_sketches
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_loc, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use anadrome_c_sketch_interface
  use anadrome_types
  use anadrome_runs, only: settle
  implicit none
  private
  public :: anadrome_sketch, anadrome_sketch_bytes, anadrome_sketch_create, anadrome_sketch_push
  public :: anadrome_sketch_correlate, anadrome_sketch_gradient, anadrome_sketch_variance, anadrome_sketch_destroy

  !> A sketch. A copy is the same sketch.
  type :: anadrome_sketch
    private
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int64_t) :: count = 0
    integer(c_int) :: type = ANADROME_FLOAT64
  end type anadrome_sketch

  !> What a sketch of `count` points in `arrays` arrays allocates, in bytes. `type`: ANADROME_FLOAT64 if absent.
  !> `kind`: ANADROME_SKETCH_COUNT if absent. Local.
  interface anadrome_sketch_bytes
    module procedure bytes_int32, bytes_int64
  end interface anadrome_sketch_bytes

  !> Make a sketch of `count` points on this rank in `arrays` arrays. `seed`: 0 if absent. Local.
  interface anadrome_sketch_create
    module procedure create_int32, create_int64
  end interface anadrome_sketch_create

  !> Add x_t of step `step`, counted from 0: an array of the sketch's type and count, of any rank. Local.
  interface anadrome_sketch_push
    module procedure push_real32, push_real64, push_real32_int64, push_real64_int64
  end interface anadrome_sketch_push

  !> Multiply y_t of step `step` with what the sketch has of x_t, and add it to the gradient. Local.
  interface anadrome_sketch_correlate
    module procedure correlate_real32, correlate_real64, correlate_real32_int64, correlate_real64_int64
  end interface anadrome_sketch_correlate

  !> Write the gradient of all that was correlated so far. Local.
  interface anadrome_sketch_gradient
    module procedure gradient_real32, gradient_real64
  end interface anadrome_sketch_gradient

contains

  function bytes_int64(count, arrays, type, kind) result(bytes)
    integer(int64), intent(in) :: count
    integer, intent(in) :: arrays
    integer(c_int), optional, intent(in) :: type, kind
    integer(int64) :: bytes
    integer(c_int) :: of_type, of_kind
    of_type = ANADROME_FLOAT64
    of_kind = ANADROME_SKETCH_COUNT
    if (present(type)) of_type = type
    if (present(kind)) of_kind = kind
    bytes = 0
    call settle(c_sketch_bytes(count, of_type, int(arrays, c_int64_t), of_kind, bytes))
  end function bytes_int64

  function bytes_int32(count, arrays, type, kind) result(bytes)
    integer(int32), intent(in) :: count
    integer, intent(in) :: arrays
    integer(c_int), optional, intent(in) :: type, kind
    integer(int64) :: bytes
    bytes = bytes_int64(int(count, int64), arrays, type, kind)
  end function bytes_int32

  subroutine create_int64(sketch, count, arrays, seed, type, kind, ierr)
    type(anadrome_sketch), intent(out) :: sketch
    integer(int64), intent(in) :: count
    integer, intent(in) :: arrays
    integer, optional, intent(in) :: seed
    integer(c_int), optional, intent(in) :: type, kind
    integer, optional, intent(out) :: ierr
    integer(c_int64_t) :: of_seed
    integer(c_int) :: of_kind
    of_seed = 0
    of_kind = ANADROME_SKETCH_COUNT
    if (present(seed)) of_seed = seed
    if (present(type)) sketch%type = type
    if (present(kind)) of_kind = kind
    sketch%count = count
    call settle(c_sketch_create(count, sketch%type, int(arrays, c_int64_t), of_seed, of_kind, sketch%handle), ierr)
  end subroutine create_int64

  subroutine create_int32(sketch, count, arrays, seed, type, kind, ierr)
    type(anadrome_sketch), intent(out) :: sketch
    integer(int32), intent(in) :: count
    integer, intent(in) :: arrays
    integer, optional, intent(in) :: seed
    integer(c_int), optional, intent(in) :: type, kind
    integer, optional, intent(out) :: ierr
    call create_int64(sketch, int(count, int64), arrays, seed, type, kind, ierr)
  end subroutine create_int32

  ! An array of another size or type would be read past its end; false, and ierr or the end.
  logical function fits(sketch, name, type, count, ierr)
    type(anadrome_sketch), intent(in) :: sketch
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: type
    integer(int64), intent(in) :: count
    integer, optional, intent(out) :: ierr
    character(100) :: why
    fits = type == sketch%type .and. count == sketch%count
    if (fits) return
    write (why, "(2a,i0,a,i0)") name, ": the sketch has ", sketch%count, " points, the array ", count
    if (type /= sketch%type) why = name//": the array is not of the sketch's type"
    call settle(ANADROME_ERR_ARGUMENT, ierr, trim(why))
  end function fits

  subroutine push_real64(sketch, step, x, ierr)
    type(anadrome_sketch), intent(in) :: sketch
    integer(int32), intent(in) :: step
    real(real64), contiguous, target, intent(in) :: x(..)
    integer, optional, intent(out) :: ierr
    if (.not. fits(sketch, "anadrome_sketch_push", ANADROME_FLOAT64, size(x, kind=int64), ierr)) return
    call settle(c_sketch_push(sketch%handle, int(step, c_int64_t), c_loc(x)), ierr)
  end subroutine push_real64

  subroutine push_real64_int64(sketch, step, x, ierr)
    type(anadrome_sketch), intent(in) :: sketch
    integer(int64), intent(in) :: step
    real(real64), contiguous, target, intent(in) :: x(..)
    integer, optional, intent(out) :: ierr
    if (.not. fits(sketch, "anadrome_sketch_push", ANADROME_FLOAT64, size(x, kind=int64), ierr)) return
    call settle(c_sketch_push(sketch%handle, step, c_loc(x)), ierr)
  end subroutine push_real64_int64

  subroutine push_real32(sketch, step, x, ierr)
    type(anadrome_sketch), intent(in) :: sketch
    integer(int32), intent(in) :: step
    real(real32), contiguous, target, intent(in) :: x(..)
    integer, optional, intent(out) :: ierr
    if (.not. fits(sketch, "anadrome_sketch_push", ANADROME_FLOAT32, size(x, kind=int64), ierr)) return
    call settle(c_sketch_push(sketch%handle, int(step, c_int64_t), c_loc(x)), ierr)
  end subroutine push_real32

  subroutine push_real32_int64(sketch, step, x, ierr)
    type(anadrome_sketch), intent(in) :: sketch
    integer(int64), intent(in) :: step
    real(real32), contiguous, target, intent(in) :: x(..)
    integer, optional, intent(out) :: ierr
    if (.not. fits(sketch, "anadrome_sketch_push", ANADROME_FLOAT32, size(x, kind=int64), ierr)) return
    call settle(c_sketch_push(sketch%handle, step, c_loc(x)), ierr)
  end subroutine push_real32_int64

  subroutine correlate_real64(sketch, step, y, ierr)
    type(anadrome_sketch), intent(in) :: sketch
    integer(int32), intent(in) :: step
    real(real64), contiguous, target, intent(in) :: y(..)
    integer, optional, intent(out) :: ierr
    if (.not. fits(sketch, "anadrome_sketch_correlate", ANADROME_FLOAT64, size(y, kind=int64), ierr)) return
    call settle(c_sketch_correlate(sketch%handle, int(step, c_int64_t), c_loc(y)), ierr)
  end subroutine correlate_real64

  subroutine correlate_real64_int64(sketch, step, y, ierr)
    type(anadrome_sketch), intent(in) :: sketch
    integer(int64), intent(in) :: step
    real(real64), contiguous, target, intent(in) :: y(..)
    integer, optional, intent(out) :: ierr
    if (.not. fits(sketch, "anadrome_sketch_correlate", ANADROME_FLOAT64, size(y, kind=int64), ierr)) return
    call settle(c_sketch_correlate(sketch%handle, step, c_loc(y)), ierr)
  end subroutine correlate_real64_int64

  subroutine correlate_real32(sketch, step, y, ierr)
    type(anadrome_sketch), intent(in) :: sketch
    integer(int32), intent(in) :: step
    real(real32), contiguous, target, intent(in) :: y(..)
    integer, optional, intent(out) :: ierr
    if (.not. fits(sketch, "anadrome_sketch_correlate", ANADROME_FLOAT32, size(y, kind=int64), ierr)) return
    call settle(c_sketch_correlate(sketch%handle, int(step, c_int64_t), c_loc(y)), ierr)
  end subroutine correlate_real32

  subroutine correlate_real32_int64(sketch, step, y, ierr)
    type(anadrome_sketch), intent(in) :: sketch
    integer(int64), intent(in) :: step
    real(real32), contiguous, target, intent(in) :: y(..)
    integer, optional, intent(out) :: ierr
    if (.not. fits(sketch, "anadrome_sketch_correlate", ANADROME_FLOAT32, size(y, kind=int64), ierr)) return
    call settle(c_sketch_correlate(sketch%handle, step, c_loc(y)), ierr)
  end subroutine correlate_real32_int64

  subroutine gradient_real64(sketch, gradient, ierr)
    type(anadrome_sketch), intent(in) :: sketch
    real(real64), contiguous, target, intent(inout) :: gradient(..)
    integer, optional, intent(out) :: ierr
    if (.not. fits(sketch, "anadrome_sketch_gradient", ANADROME_FLOAT64, size(gradient, kind=int64), ierr)) return
    call settle(c_sketch_gradient(sketch%handle, c_loc(gradient)), ierr)
  end subroutine gradient_real64

  subroutine gradient_real32(sketch, gradient, ierr)
    type(anadrome_sketch), intent(in) :: sketch
    real(real32), contiguous, target, intent(inout) :: gradient(..)
    integer, optional, intent(out) :: ierr
    if (.not. fits(sketch, "anadrome_sketch_gradient", ANADROME_FLOAT32, size(gradient, kind=int64), ierr)) return
    call settle(c_sketch_gradient(sketch%handle, c_loc(gradient)), ierr)
  end subroutine gradient_real32

  !> Write an estimate of the variance of each point's gradient, in double precision whatever the sketch's type. Local.
  subroutine anadrome_sketch_variance(sketch, variance, ierr)
    type(anadrome_sketch), intent(in) :: sketch
    real(real64), contiguous, target, intent(inout) :: variance(..)
    integer, optional, intent(out) :: ierr
    if (.not. fits(sketch, "anadrome_sketch_variance", sketch%type, size(variance, kind=int64), ierr)) return
    call settle(c_sketch_variance(sketch%handle, c_loc(variance)), ierr)
  end subroutine anadrome_sketch_variance

  !> Free the sketch. One that is gone may be freed again. Local.
  subroutine anadrome_sketch_destroy(sketch, ierr)
    type(anadrome_sketch), intent(inout) :: sketch
    integer, optional, intent(out) :: ierr
    call settle(c_sketch_destroy(sketch%handle), ierr)
  end subroutine anadrome_sketch_destroy
end module anadrome_sketches

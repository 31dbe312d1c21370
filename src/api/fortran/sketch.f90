! SPDX-License-Identifier: BSD-2-Clause
! Gradients that are correlations in time, from a few arrays: sketch.h. Local.
module anadrome_sketches
  use anadrome_c_interface
  use anadrome_runs
  implicit none
  private
  public :: anadrome_sketch, anadrome_sketch_create, anadrome_sketch_variance, anadrome_sketch_destroy
  public :: matches

  !> A sketch. A copy is the same sketch.
  type, bind(c) :: anadrome_sketch
    private
    type(c_ptr) :: handle = c_null_ptr
    integer(c_int64_t) :: count = 0
    integer(c_int) :: type = ANADROME_FLOAT64
  end type anadrome_sketch

  !> Make a sketch of `count` points on this rank in `arrays` arrays. `seed`: 0 if absent. Local.
  interface anadrome_sketch_create; module procedure create_int32, create_int64; end interface

contains

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
  logical function matches(sketch, name, array, ierr)
    type(anadrome_sketch), intent(in) :: sketch
    character(*), intent(in) :: name
    type(c_part), intent(in) :: array
    integer, optional, intent(out) :: ierr
    character(100) :: why
    matches = array%type == sketch%type .and. int(array%count, int64) == sketch%count
    if (matches) return
    write (why, "(2a,i0,a,i0)") name, ": the sketch has ", sketch%count, " points, the array ", array%count
    if (array%type /= sketch%type) why = name//": the array is not of the sketch's type"
    call settle(ANADROME_ERR_ARGUMENT, ierr, trim(why))
  end function matches

  !> Write an estimate of the variance of each point's gradient, in double precision whatever the sketch's type. Local.
  subroutine anadrome_sketch_variance(sketch, variance, ierr)
    type(anadrome_sketch), intent(in) :: sketch
    real(real64), contiguous, target, intent(inout) :: variance(..)
    integer, optional, intent(out) :: ierr
    type(c_part) :: array
    array = c_part_of(variance)
    array%type = sketch%type
    if (matches(sketch, "anadrome_sketch_variance", array, ierr)) &
         call settle(c_sketch_variance(sketch%handle, array%values), ierr)
  end subroutine anadrome_sketch_variance

  !> Free the sketch. One that is gone may be freed again. Local.
  subroutine anadrome_sketch_destroy(sketch, ierr)
    type(anadrome_sketch), intent(inout) :: sketch
    integer, optional, intent(out) :: ierr
    call settle(c_sketch_destroy(sketch%handle), ierr)
  end subroutine anadrome_sketch_destroy
end module anadrome_sketches

! SPDX-License-Identifier: BSD-2-Clause
! The functions of sketch.h as Fortran sees them, as c_interface.f90 has the others.
module anadrome_c_sketch_interface
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t, c_ptr
  implicit none
  private :: c_int, c_int64_t, c_ptr

  interface
    function c_sketch_bytes(count, type, arrays, kind, bytes) bind(c, name="anadrome_sketch_bytes") result(status)
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: count
      integer(c_int), value :: type
      integer(c_int64_t), value :: arrays
      integer(c_int), value :: kind
      integer(c_int64_t), intent(inout) :: bytes
      integer(c_int) :: status
    end function c_sketch_bytes

    function c_sketch_create(count, type, arrays, seed, kind, sketch) bind(c, name="anadrome_sketch_create") &
         result(status)
      import :: c_int, c_int64_t, c_ptr
      integer(c_int64_t), value :: count
      integer(c_int), value :: type
      integer(c_int64_t), value :: arrays
      integer(c_int64_t), value :: seed
      integer(c_int), value :: kind
      type(c_ptr), intent(out) :: sketch
      integer(c_int) :: status
    end function c_sketch_create

    function c_sketch_push(sketch, step, x) bind(c, name="anadrome_sketch_push") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: sketch
      integer(c_int64_t), value :: step
      type(c_ptr), value :: x
      integer(c_int) :: status
    end function c_sketch_push

    function c_sketch_correlate(sketch, step, y) bind(c, name="anadrome_sketch_correlate") result(status)
      import :: c_int, c_int64_t, c_ptr
      type(c_ptr), value :: sketch
      integer(c_int64_t), value :: step
      type(c_ptr), value :: y
      integer(c_int) :: status
    end function c_sketch_correlate

    function c_sketch_gradient(sketch, gradient) bind(c, name="anadrome_sketch_gradient") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: sketch
      type(c_ptr), value :: gradient
      integer(c_int) :: status
    end function c_sketch_gradient

    function c_sketch_variance(sketch, variance) bind(c, name="anadrome_sketch_variance") result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: sketch
      type(c_ptr), value :: variance
      integer(c_int) :: status
    end function c_sketch_variance

    function c_sketch_destroy(sketch) bind(c, name="anadrome_sketch_destroy") result(status)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: sketch
      integer(c_int) :: status
    end function c_sketch_destroy
  end interface
end module anadrome_c_sketch_interface

! SPDX-License-Identifier: BSD-2-Clause
! Exchanged fields: registration, and pointers to where they are. There is a procedure for each type and rank,
! not one of assumed rank: that would have to believe the rank in the caller's descriptor, and gfortran sets none in
! a pointer component that has not been nullified.
module anadrome_exchanged
  use, intrinsic :: iso_c_binding, only: c_double, c_f_pointer, c_int, c_intptr_t, c_loc, c_null_char, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use anadrome_c_interface
  use anadrome_types
  use anadrome_runs, only: anadrome_run, handle_of, settle
  implicit none
  private
  public :: anadrome_add_exchanged, anadrome_now, anadrome_then

  !> Register a state field whose memory is the library's: steps read anadrome_now and write anadrome_then.
  !> `type` is ANADROME_FLOAT64 and so on, `field` its number for these two.
  interface anadrome_add_exchanged
    module procedure add_exchanged_int32, add_exchanged_int64
  end interface anadrome_add_exchanged

  !> Where exchanged field `field` is: make the pointer `values` (rank 1 to 4) point to it, with these
  !> extents and lower bounds 1. Read only. Valid until the next call of next, begin, rewind or close;
  !> disassociated where C gets NULL, `shape` does not fit the rank or has more elements than were
  !> registered, or an element has another size.
  interface anadrome_now
    module procedure now_real32_1, now_real32_2, now_real32_3, now_real32_4
    module procedure now_real64_1, now_real64_2, now_real64_3, now_real64_4
    module procedure now_int32_1, now_int32_2, now_int32_3, now_int32_4
    module procedure now_int64_1, now_int64_2, now_int64_3, now_int64_4
    module procedure now_complex64_1, now_complex64_2, now_complex64_3, now_complex64_4
    module procedure now_complex128_1, now_complex128_2, now_complex128_3, now_complex128_4
  end interface anadrome_now

  !> Where the caller writes exchanged field `field`; as anadrome_now.
  interface anadrome_then
    module procedure then_real32_1, then_real32_2, then_real32_3, then_real32_4
    module procedure then_real64_1, then_real64_2, then_real64_3, then_real64_4
    module procedure then_int32_1, then_int32_2, then_int32_3, then_int32_4
    module procedure then_int64_1, then_int64_2, then_int64_3, then_int64_4
    module procedure then_complex64_1, then_complex64_2, then_complex64_3, then_complex64_4
    module procedure then_complex128_1, then_complex128_2, then_complex128_3, then_complex128_4
  end interface anadrome_then

  ! What a pointer without elements points to.
  real(c_double), target, save :: nothing(2)

  !> What was registered here: a pointer that is larger would reach into other states.
  type :: registered
     integer(c_intptr_t) :: run
     integer :: field
     integer(int64) :: count
     integer :: bits
  end type registered
  type(registered), allocatable, save :: known(:)

contains

  subroutine add_exchanged_int64(run, name, role, type, count, field, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role, type
    integer(int64), intent(in) :: count
    integer, intent(out) :: field
    integer, optional, intent(out) :: ierr
    integer(c_int) :: number
    number = -1
    call settle(c_add_exchanged(handle_of(run), trim(name)//c_null_char, role, type, &
         int(count, c_size_t), number), ierr)
    field = number
    if (number >= 0) call note(registered(address_of(run), field, count, bits_of(type)))
  end subroutine add_exchanged_int64

  function address_of(run) result(address)
    type(anadrome_run), intent(in) :: run
    integer(c_intptr_t) :: address
    address = transfer(handle_of(run), address)
  end function address_of

  !> Of an element.
  pure function bits_of(type) result(bits)
    integer(c_int), intent(in) :: type
    integer :: bits
    if (type == ANADROME_BYTE) then
       bits = 8
    else if (type == ANADROME_FLOAT32 .or. type == ANADROME_INT32) then
       bits = 32
    else if (type == ANADROME_COMPLEX128) then
       bits = 128
    else
       bits = 64
    end if
  end function bits_of

  subroutine note(field)
    type(registered), intent(in) :: field
    integer :: i
    if (.not. allocated(known)) allocate (known(0))
    do i = 1, size(known)
       if (known(i)%run == field%run .and. known(i)%field == field%field) then  ! of a run that was closed
          known(i) = field
          return
       end if
    end do
    known = [known, field]
  end subroutine note

  function fits(run, field, bits, shape)
    type(anadrome_run), intent(in) :: run
    integer, intent(in) :: field, bits, shape(:)
    logical :: fits
    integer :: i
    fits = .true.
    if (.not. allocated(known)) return
    do i = 1, size(known)
       if (known(i)%run /= address_of(run) .or. known(i)%field /= field) cycle
       fits = known(i)%bits == bits .and. product(int(shape, int64)) <= known(i)%count
       return
    end do
  end function fits

  subroutine add_exchanged_int32(run, name, role, type, count, field, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role, type
    integer(int32), intent(in) :: count
    integer, intent(out) :: field
    integer, optional, intent(out) :: ierr
    call add_exchanged_int64(run, name, role, type, int(count, int64), field, ierr)
  end subroutine add_exchanged_int32

  ! A rank without elements gets an array of size 0, not a pointer that must not be used.
  function place(address, shape) result(usable)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: shape(:)
    type(c_ptr) :: usable
    usable = address
    if (any(shape == 0)) usable = c_loc(nothing)
  end function place

  subroutine now_real32_1(run, field, values, shape)
    real(real32), pointer, intent(out) :: values(:)
    include "point_to_now.inc"
  end subroutine now_real32_1

  subroutine now_real32_2(run, field, values, shape)
    real(real32), pointer, intent(out) :: values(:, :)
    include "point_to_now.inc"
  end subroutine now_real32_2

  subroutine now_real32_3(run, field, values, shape)
    real(real32), pointer, intent(out) :: values(:, :, :)
    include "point_to_now.inc"
  end subroutine now_real32_3

  subroutine now_real32_4(run, field, values, shape)
    real(real32), pointer, intent(out) :: values(:, :, :, :)
    include "point_to_now.inc"
  end subroutine now_real32_4

  subroutine then_real32_1(run, field, values, shape)
    real(real32), pointer, intent(out) :: values(:)
    include "point_to_then.inc"
  end subroutine then_real32_1

  subroutine then_real32_2(run, field, values, shape)
    real(real32), pointer, intent(out) :: values(:, :)
    include "point_to_then.inc"
  end subroutine then_real32_2

  subroutine then_real32_3(run, field, values, shape)
    real(real32), pointer, intent(out) :: values(:, :, :)
    include "point_to_then.inc"
  end subroutine then_real32_3

  subroutine then_real32_4(run, field, values, shape)
    real(real32), pointer, intent(out) :: values(:, :, :, :)
    include "point_to_then.inc"
  end subroutine then_real32_4

  subroutine now_real64_1(run, field, values, shape)
    real(real64), pointer, intent(out) :: values(:)
    include "point_to_now.inc"
  end subroutine now_real64_1

  subroutine now_real64_2(run, field, values, shape)
    real(real64), pointer, intent(out) :: values(:, :)
    include "point_to_now.inc"
  end subroutine now_real64_2

  subroutine now_real64_3(run, field, values, shape)
    real(real64), pointer, intent(out) :: values(:, :, :)
    include "point_to_now.inc"
  end subroutine now_real64_3

  subroutine now_real64_4(run, field, values, shape)
    real(real64), pointer, intent(out) :: values(:, :, :, :)
    include "point_to_now.inc"
  end subroutine now_real64_4

  subroutine then_real64_1(run, field, values, shape)
    real(real64), pointer, intent(out) :: values(:)
    include "point_to_then.inc"
  end subroutine then_real64_1

  subroutine then_real64_2(run, field, values, shape)
    real(real64), pointer, intent(out) :: values(:, :)
    include "point_to_then.inc"
  end subroutine then_real64_2

  subroutine then_real64_3(run, field, values, shape)
    real(real64), pointer, intent(out) :: values(:, :, :)
    include "point_to_then.inc"
  end subroutine then_real64_3

  subroutine then_real64_4(run, field, values, shape)
    real(real64), pointer, intent(out) :: values(:, :, :, :)
    include "point_to_then.inc"
  end subroutine then_real64_4

  subroutine now_int32_1(run, field, values, shape)
    integer(int32), pointer, intent(out) :: values(:)
    include "point_to_now.inc"
  end subroutine now_int32_1

  subroutine now_int32_2(run, field, values, shape)
    integer(int32), pointer, intent(out) :: values(:, :)
    include "point_to_now.inc"
  end subroutine now_int32_2

  subroutine now_int32_3(run, field, values, shape)
    integer(int32), pointer, intent(out) :: values(:, :, :)
    include "point_to_now.inc"
  end subroutine now_int32_3

  subroutine now_int32_4(run, field, values, shape)
    integer(int32), pointer, intent(out) :: values(:, :, :, :)
    include "point_to_now.inc"
  end subroutine now_int32_4

  subroutine then_int32_1(run, field, values, shape)
    integer(int32), pointer, intent(out) :: values(:)
    include "point_to_then.inc"
  end subroutine then_int32_1

  subroutine then_int32_2(run, field, values, shape)
    integer(int32), pointer, intent(out) :: values(:, :)
    include "point_to_then.inc"
  end subroutine then_int32_2

  subroutine then_int32_3(run, field, values, shape)
    integer(int32), pointer, intent(out) :: values(:, :, :)
    include "point_to_then.inc"
  end subroutine then_int32_3

  subroutine then_int32_4(run, field, values, shape)
    integer(int32), pointer, intent(out) :: values(:, :, :, :)
    include "point_to_then.inc"
  end subroutine then_int32_4

  subroutine now_int64_1(run, field, values, shape)
    integer(int64), pointer, intent(out) :: values(:)
    include "point_to_now.inc"
  end subroutine now_int64_1

  subroutine now_int64_2(run, field, values, shape)
    integer(int64), pointer, intent(out) :: values(:, :)
    include "point_to_now.inc"
  end subroutine now_int64_2

  subroutine now_int64_3(run, field, values, shape)
    integer(int64), pointer, intent(out) :: values(:, :, :)
    include "point_to_now.inc"
  end subroutine now_int64_3

  subroutine now_int64_4(run, field, values, shape)
    integer(int64), pointer, intent(out) :: values(:, :, :, :)
    include "point_to_now.inc"
  end subroutine now_int64_4

  subroutine then_int64_1(run, field, values, shape)
    integer(int64), pointer, intent(out) :: values(:)
    include "point_to_then.inc"
  end subroutine then_int64_1

  subroutine then_int64_2(run, field, values, shape)
    integer(int64), pointer, intent(out) :: values(:, :)
    include "point_to_then.inc"
  end subroutine then_int64_2

  subroutine then_int64_3(run, field, values, shape)
    integer(int64), pointer, intent(out) :: values(:, :, :)
    include "point_to_then.inc"
  end subroutine then_int64_3

  subroutine then_int64_4(run, field, values, shape)
    integer(int64), pointer, intent(out) :: values(:, :, :, :)
    include "point_to_then.inc"
  end subroutine then_int64_4

  subroutine now_complex64_1(run, field, values, shape)
    complex(real32), pointer, intent(out) :: values(:)
    include "point_to_now.inc"
  end subroutine now_complex64_1

  subroutine now_complex64_2(run, field, values, shape)
    complex(real32), pointer, intent(out) :: values(:, :)
    include "point_to_now.inc"
  end subroutine now_complex64_2

  subroutine now_complex64_3(run, field, values, shape)
    complex(real32), pointer, intent(out) :: values(:, :, :)
    include "point_to_now.inc"
  end subroutine now_complex64_3

  subroutine now_complex64_4(run, field, values, shape)
    complex(real32), pointer, intent(out) :: values(:, :, :, :)
    include "point_to_now.inc"
  end subroutine now_complex64_4

  subroutine then_complex64_1(run, field, values, shape)
    complex(real32), pointer, intent(out) :: values(:)
    include "point_to_then.inc"
  end subroutine then_complex64_1

  subroutine then_complex64_2(run, field, values, shape)
    complex(real32), pointer, intent(out) :: values(:, :)
    include "point_to_then.inc"
  end subroutine then_complex64_2

  subroutine then_complex64_3(run, field, values, shape)
    complex(real32), pointer, intent(out) :: values(:, :, :)
    include "point_to_then.inc"
  end subroutine then_complex64_3

  subroutine then_complex64_4(run, field, values, shape)
    complex(real32), pointer, intent(out) :: values(:, :, :, :)
    include "point_to_then.inc"
  end subroutine then_complex64_4

  subroutine now_complex128_1(run, field, values, shape)
    complex(real64), pointer, intent(out) :: values(:)
    include "point_to_now.inc"
  end subroutine now_complex128_1

  subroutine now_complex128_2(run, field, values, shape)
    complex(real64), pointer, intent(out) :: values(:, :)
    include "point_to_now.inc"
  end subroutine now_complex128_2

  subroutine now_complex128_3(run, field, values, shape)
    complex(real64), pointer, intent(out) :: values(:, :, :)
    include "point_to_now.inc"
  end subroutine now_complex128_3

  subroutine now_complex128_4(run, field, values, shape)
    complex(real64), pointer, intent(out) :: values(:, :, :, :)
    include "point_to_now.inc"
  end subroutine now_complex128_4

  subroutine then_complex128_1(run, field, values, shape)
    complex(real64), pointer, intent(out) :: values(:)
    include "point_to_then.inc"
  end subroutine then_complex128_1

  subroutine then_complex128_2(run, field, values, shape)
    complex(real64), pointer, intent(out) :: values(:, :)
    include "point_to_then.inc"
  end subroutine then_complex128_2

  subroutine then_complex128_3(run, field, values, shape)
    complex(real64), pointer, intent(out) :: values(:, :, :)
    include "point_to_then.inc"
  end subroutine then_complex128_3

  subroutine then_complex128_4(run, field, values, shape)
    complex(real64), pointer, intent(out) :: values(:, :, :, :)
    include "point_to_then.inc"
  end subroutine then_complex128_4
end module anadrome_exchanged

! SPDX-License-Identifier: BSD-2-Clause
! Registration of arrays. An array is a POINTER, INTENT(IN) dummy, so that the compiler demands TARGET of
! the caller's: the library writes to it in later calls that do not mention it. One procedure for each type
! serves all ranks.
module anadrome_fields
  use, intrinsic :: iso_c_binding, only: c_funloc, c_int, c_loc, c_null_char, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use anadrome_c_interface
  use anadrome_types
  use anadrome_runs, only: anadrome_run, handle_of, settle
  implicit none
  private
  public :: anadrome_add_field, anadrome_add_packed, anadrome_add_varying
  public :: anadrome_pack, anadrome_unpack, anadrome_size

  !> Register the array `values` as a field. It must live until anadrome_close. Rank 0 to 15, contiguous;
  !> real32, real64, int32, int64 and complex of both; its bounds do not matter. Local.
  interface anadrome_add_field
    module procedure add_real32, add_real64, add_int32, add_int64
    module procedure add_complex64, add_complex128
  end interface anadrome_add_field

  abstract interface
    !> Write the field into `buffer`. A result other than 0: failure, as if anadrome_fail had been called.
    function anadrome_pack(context, buffer, bytes) bind(c) result(failure)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: context, buffer
      integer(c_size_t), value :: bytes
      integer(c_int) :: failure
    end function anadrome_pack

    !> Read the field from `buffer`. Result as anadrome_pack.
    function anadrome_unpack(context, buffer, bytes) bind(c) result(failure)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: context, buffer
      integer(c_size_t), value :: bytes
      integer(c_int) :: failure
    end function anadrome_unpack

    !> Bytes that a field of changing size takes at this moment.
    function anadrome_size(context) bind(c) result(bytes)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: context
      integer(c_size_t) :: bytes
    end function anadrome_size
  end interface

contains

  subroutine add(run, name, role, type, address, count, contiguous, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role, type
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: count
    integer(c_int), intent(in) :: contiguous
    integer, optional, intent(out) :: ierr
    if (contiguous /= 0 .or. count <= 1) then
      call settle(c_add_field(handle_of(run), trim(name)//c_null_char, role, type, address, count), ierr)
    else
      call settle(ANADROME_ERR_ARGUMENT, ierr, "add_field: the array of field '"//trim(name)// &
           "' is not contiguous; register all of it, or a contiguous part")
    end if
  end subroutine add

  subroutine refuse_absent(name, ierr)
    character(*), intent(in) :: name
    integer, optional, intent(out) :: ierr
    call settle(ANADROME_ERR_ARGUMENT, ierr, "add_field: the array of field '"//trim(name)// &
         "' is not allocated, or its pointer not associated; do that first, with size 0 if need be")
  end subroutine refuse_absent

  subroutine add_real32(run, name, role, values, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    real(real32), pointer, intent(in) :: values(..)
    integer, optional, intent(out) :: ierr
    if (associated(values)) then
      call add(run, name, role, ANADROME_FLOAT32, c_loc(values), size(values, kind=c_size_t), &
           c_is_contiguous(values), ierr)
    else
      call refuse_absent(name, ierr)
    end if
  end subroutine add_real32

  subroutine add_real64(run, name, role, values, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    real(real64), pointer, intent(in) :: values(..)
    integer, optional, intent(out) :: ierr
    if (associated(values)) then
      call add(run, name, role, ANADROME_FLOAT64, c_loc(values), size(values, kind=c_size_t), &
           c_is_contiguous(values), ierr)
    else
      call refuse_absent(name, ierr)
    end if
  end subroutine add_real64

  subroutine add_int32(run, name, role, values, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    integer(int32), pointer, intent(in) :: values(..)
    integer, optional, intent(out) :: ierr
    if (associated(values)) then
      call add(run, name, role, ANADROME_INT32, c_loc(values), size(values, kind=c_size_t), &
           c_is_contiguous(values), ierr)
    else
      call refuse_absent(name, ierr)
    end if
  end subroutine add_int32

  subroutine add_int64(run, name, role, values, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    integer(int64), pointer, intent(in) :: values(..)
    integer, optional, intent(out) :: ierr
    if (associated(values)) then
      call add(run, name, role, ANADROME_INT64, c_loc(values), size(values, kind=c_size_t), &
           c_is_contiguous(values), ierr)
    else
      call refuse_absent(name, ierr)
    end if
  end subroutine add_int64

  subroutine add_complex64(run, name, role, values, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    complex(real32), pointer, intent(in) :: values(..)
    integer, optional, intent(out) :: ierr
    if (associated(values)) then
      call add(run, name, role, ANADROME_COMPLEX64, c_loc(values), size(values, kind=c_size_t), &
           c_is_contiguous(values), ierr)
    else
      call refuse_absent(name, ierr)
    end if
  end subroutine add_complex64

  subroutine add_complex128(run, name, role, values, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    complex(real64), pointer, intent(in) :: values(..)
    integer, optional, intent(out) :: ierr
    if (associated(values)) then
      call add(run, name, role, ANADROME_COMPLEX128, c_loc(values), size(values, kind=c_size_t), &
           c_is_contiguous(values), ierr)
    else
      call refuse_absent(name, ierr)
    end if
  end subroutine add_complex128

  !> Register a field of exactly `bytes` bytes that the caller packs and unpacks.
  subroutine anadrome_add_packed(run, name, role, bytes, pack, unpack, context, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    integer(c_size_t), intent(in) :: bytes
    procedure(anadrome_pack) :: pack
    procedure(anadrome_unpack) :: unpack
    type(c_ptr), intent(in) :: context
    integer, optional, intent(out) :: ierr
    call settle(c_add_packed(handle_of(run), trim(name)//c_null_char, role, bytes, c_funloc(pack), &
         c_funloc(unpack), context), ierr)
  end subroutine anadrome_add_packed

  !> Register a packed state field whose size changes from state to state, `most` bytes at most.
  subroutine anadrome_add_varying(run, name, role, most, size, pack, unpack, context, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    integer(c_size_t), intent(in) :: most
    procedure(anadrome_size) :: size
    procedure(anadrome_pack) :: pack
    procedure(anadrome_unpack) :: unpack
    type(c_ptr), intent(in) :: context
    integer, optional, intent(out) :: ierr
    call settle(c_add_varying(handle_of(run), trim(name)//c_null_char, role, most, c_funloc(size), c_funloc(pack), &
         c_funloc(unpack), context), ierr)
  end subroutine anadrome_add_varying
end module anadrome_fields

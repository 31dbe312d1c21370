! SPDX-License-Identifier: BSD-2-Clause
! Fields: what their registration checks, and those that are packed. An array is a POINTER, INTENT(IN) dummy of assumed
! rank, so that the compiler demands TARGET of the caller's: the library writes to it in later calls that do not
! mention it. What there is for each type is in either_kind.inc.
module anadrome_fields
  use anadrome_c_interface
  use anadrome_runs
  implicit none
  private
  public :: anadrome_add_packed, anadrome_add_varying, anadrome_pack, anadrome_unpack, anadrome_size, add

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

  ! `array` is what the caller gave; its type is that of no array if there is none.
  subroutine add(run, name, role, array, ierr)
    include "run_and_ierr.inc"
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    type(c_part), intent(in) :: array
    integer(c_int) :: refused
    ! begin fails then, whether the caller looks at ierr or not.
    if (array%type == no_array .or. array%type == with_gaps) &
         refused = c_add_field(handle_of(run), trim(name)//c_null_char, role, ANADROME_FLOAT64, c_null_ptr, 1_c_size_t)
    if (array%type == no_array) then
      call settle(ANADROME_ERR_ARGUMENT, ierr, "add_field: the array of field '"//trim(name)// &
           "' is not allocated, or its pointer not associated; do that first, with size 0 if need be")
    else if (array%type == with_gaps) then
      call settle(ANADROME_ERR_ARGUMENT, ierr, "add_field: the array of field '"//trim(name)// &
           "' is not contiguous; register all of it, or a contiguous part")
    else
      call settle(c_add_field(handle_of(run), trim(name)//c_null_char, role, array%type, array%values, &
           array%count), ierr)
    end if
  end subroutine add

  !> Register a field of exactly `bytes` bytes that the caller packs and unpacks.
  subroutine anadrome_add_packed(run, name, role, bytes, pack, unpack, context, ierr)
    include "run_and_ierr.inc"
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    integer(c_size_t), intent(in) :: bytes
    procedure(anadrome_pack) :: pack
    procedure(anadrome_unpack) :: unpack
    type(c_ptr), intent(in) :: context
    call settle(c_add_packed(handle_of(run), trim(name)//c_null_char, role, bytes, c_funloc(pack), &
         c_funloc(unpack), context), ierr)
  end subroutine anadrome_add_packed

  !> Register a packed state field whose size changes from state to state, `most` bytes at most.
  subroutine anadrome_add_varying(run, name, role, most, size, pack, unpack, context, ierr)
    include "run_and_ierr.inc"
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    integer(c_size_t), intent(in) :: most
    procedure(anadrome_size) :: size
    procedure(anadrome_pack) :: pack
    procedure(anadrome_unpack) :: unpack
    type(c_ptr), intent(in) :: context
    call settle(c_add_varying(handle_of(run), trim(name)//c_null_char, role, most, c_funloc(size), c_funloc(pack), &
         c_funloc(unpack), context), ierr)
  end subroutine anadrome_add_varying
end module anadrome_fields

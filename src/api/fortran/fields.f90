! Registration of arrays. An array is a POINTER, INTENT(IN) dummy, so that the compiler demands TARGET of
! the caller's: the library writes to it in later calls that do not mention it. One procedure for each type
! serves all ranks.
module anadrome_fields
  use, intrinsic :: iso_c_binding, only: c_double, c_f_pointer, c_funloc, c_int, c_loc, c_null_char, &
       c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use anadrome_c_interface
  use anadrome_types
  use anadrome_runs, only: anadrome_run, handle_of, settle
  implicit none
  private
  public :: anadrome_add_field, anadrome_add_packed, anadrome_add_exchanged
  public :: anadrome_now, anadrome_then, anadrome_pack, anadrome_unpack

  !> Register the array `values` as a field. It must live until anadrome_close. Rank 0 to 15, contiguous;
  !> real32, real64, int32, int64 and complex of both; its bounds do not matter. Local.
  interface anadrome_add_field
    module procedure add_real32, add_real64, add_int32, add_int64
    module procedure add_complex64, add_complex128
  end interface anadrome_add_field

  !> Register a state field whose memory is the library's: steps read anadrome_now and write anadrome_then.
  !> `type` is ANADROME_FLOAT64 and so on, `field` its number for these two.
  interface anadrome_add_exchanged
    module procedure add_exchanged_int32, add_exchanged_int64
  end interface anadrome_add_exchanged

  !> Where exchanged field `field` is: make the pointer `values` (rank 1 to 4) point to it, with these
  !> extents and lower bounds 1. Read only. Valid until the next call of next, begin, rewind or close;
  !> disassociated where C gets NULL or `shape` does not fit the rank.
  interface anadrome_now
    module procedure now_real32, now_real64, now_int32, now_int64
    module procedure now_complex64, now_complex128
  end interface anadrome_now

  !> Where the caller writes exchanged field `field`; as anadrome_now.
  interface anadrome_then
    module procedure then_real32, then_real64, then_int32, then_int64
    module procedure then_complex64, then_complex128
  end interface anadrome_then

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
  end interface

  ! What a pointer without elements points to.
  real(c_double), target, save :: nothing(2)

contains

  subroutine add(run, name, role, type, address, count, there, contiguous, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role, type
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: count
    logical, intent(in) :: there
    integer(c_int), intent(in) :: contiguous
    integer, optional, intent(out) :: ierr
    if (.not. there) then
      call settle(ANADROME_ERR_ARGUMENT, ierr, "add_field: the array of field '"//trim(name)// &
           "' is not allocated, or its pointer not associated; do that first, with size 0 if need be")
    else if (contiguous /= 0 .or. count <= 1) then
      call settle(c_add_field(handle_of(run), trim(name)//c_null_char, role, type, address, count), ierr)
    else
      call settle(ANADROME_ERR_ARGUMENT, ierr, "add_field: the array of field '"//trim(name)// &
           "' is not contiguous; register all of it, or a contiguous part")
    end if
  end subroutine add

  subroutine add_real32(run, name, role, values, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    real(real32), pointer, intent(in) :: values(..)
    integer, optional, intent(out) :: ierr
    call add(run, name, role, ANADROME_FLOAT32, c_loc(values), size(values, kind=c_size_t), &
         associated(values), c_is_contiguous(values), ierr)
  end subroutine add_real32

  subroutine add_real64(run, name, role, values, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    real(real64), pointer, intent(in) :: values(..)
    integer, optional, intent(out) :: ierr
    call add(run, name, role, ANADROME_FLOAT64, c_loc(values), size(values, kind=c_size_t), &
         associated(values), c_is_contiguous(values), ierr)
  end subroutine add_real64

  subroutine add_int32(run, name, role, values, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    integer(int32), pointer, intent(in) :: values(..)
    integer, optional, intent(out) :: ierr
    call add(run, name, role, ANADROME_INT32, c_loc(values), size(values, kind=c_size_t), &
         associated(values), c_is_contiguous(values), ierr)
  end subroutine add_int32

  subroutine add_int64(run, name, role, values, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    integer(int64), pointer, intent(in) :: values(..)
    integer, optional, intent(out) :: ierr
    call add(run, name, role, ANADROME_INT64, c_loc(values), size(values, kind=c_size_t), &
         associated(values), c_is_contiguous(values), ierr)
  end subroutine add_int64

  subroutine add_complex64(run, name, role, values, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    complex(real32), pointer, intent(in) :: values(..)
    integer, optional, intent(out) :: ierr
    call add(run, name, role, ANADROME_COMPLEX64, c_loc(values), size(values, kind=c_size_t), &
         associated(values), c_is_contiguous(values), ierr)
  end subroutine add_complex64

  subroutine add_complex128(run, name, role, values, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role
    complex(real64), pointer, intent(in) :: values(..)
    integer, optional, intent(out) :: ierr
    call add(run, name, role, ANADROME_COMPLEX128, c_loc(values), size(values, kind=c_size_t), &
         associated(values), c_is_contiguous(values), ierr)
  end subroutine add_complex128

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
  end subroutine add_exchanged_int64

  subroutine add_exchanged_int32(run, name, role, type, count, field, ierr)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: role, type
    integer(int32), intent(in) :: count
    integer, intent(out) :: field
    integer, optional, intent(out) :: ierr
    call add_exchanged_int64(run, name, role, type, int(count, int64), field, ierr)
  end subroutine add_exchanged_int32

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

  ! A rank without elements gets an array of size 0, not a pointer that must not be used.
  function place(address, shape) result(usable)
    type(c_ptr), intent(in) :: address
    integer, intent(in) :: shape(:)
    type(c_ptr) :: usable
    usable = address
    if (any(shape == 0)) usable = c_loc(nothing)
  end function place

  subroutine now_real32(run, field, values, shape)
    type(anadrome_run), intent(in) :: run
    integer, intent(in) :: field
    real(real32), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    call point_real32(place(c_now(handle_of(run), int(field, c_int)), shape), values, shape)
  end subroutine now_real32

  subroutine then_real32(run, field, values, shape)
    type(anadrome_run), intent(in) :: run
    integer, intent(in) :: field
    real(real32), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    call point_real32(place(c_then(handle_of(run), int(field, c_int)), shape), values, shape)
  end subroutine then_real32

  subroutine point_real32(address, values, shape)
    type(c_ptr), intent(in) :: address
    real(real32), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    include "point_by_rank.inc"
  end subroutine point_real32

  subroutine now_real64(run, field, values, shape)
    type(anadrome_run), intent(in) :: run
    integer, intent(in) :: field
    real(real64), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    call point_real64(place(c_now(handle_of(run), int(field, c_int)), shape), values, shape)
  end subroutine now_real64

  subroutine then_real64(run, field, values, shape)
    type(anadrome_run), intent(in) :: run
    integer, intent(in) :: field
    real(real64), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    call point_real64(place(c_then(handle_of(run), int(field, c_int)), shape), values, shape)
  end subroutine then_real64

  subroutine point_real64(address, values, shape)
    type(c_ptr), intent(in) :: address
    real(real64), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    include "point_by_rank.inc"
  end subroutine point_real64

  subroutine now_int32(run, field, values, shape)
    type(anadrome_run), intent(in) :: run
    integer, intent(in) :: field
    integer(int32), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    call point_int32(place(c_now(handle_of(run), int(field, c_int)), shape), values, shape)
  end subroutine now_int32

  subroutine then_int32(run, field, values, shape)
    type(anadrome_run), intent(in) :: run
    integer, intent(in) :: field
    integer(int32), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    call point_int32(place(c_then(handle_of(run), int(field, c_int)), shape), values, shape)
  end subroutine then_int32

  subroutine point_int32(address, values, shape)
    type(c_ptr), intent(in) :: address
    integer(int32), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    include "point_by_rank.inc"
  end subroutine point_int32

  subroutine now_int64(run, field, values, shape)
    type(anadrome_run), intent(in) :: run
    integer, intent(in) :: field
    integer(int64), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    call point_int64(place(c_now(handle_of(run), int(field, c_int)), shape), values, shape)
  end subroutine now_int64

  subroutine then_int64(run, field, values, shape)
    type(anadrome_run), intent(in) :: run
    integer, intent(in) :: field
    integer(int64), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    call point_int64(place(c_then(handle_of(run), int(field, c_int)), shape), values, shape)
  end subroutine then_int64

  subroutine point_int64(address, values, shape)
    type(c_ptr), intent(in) :: address
    integer(int64), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    include "point_by_rank.inc"
  end subroutine point_int64

  subroutine now_complex64(run, field, values, shape)
    type(anadrome_run), intent(in) :: run
    integer, intent(in) :: field
    complex(real32), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    call point_complex64(place(c_now(handle_of(run), int(field, c_int)), shape), values, shape)
  end subroutine now_complex64

  subroutine then_complex64(run, field, values, shape)
    type(anadrome_run), intent(in) :: run
    integer, intent(in) :: field
    complex(real32), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    call point_complex64(place(c_then(handle_of(run), int(field, c_int)), shape), values, shape)
  end subroutine then_complex64

  subroutine point_complex64(address, values, shape)
    type(c_ptr), intent(in) :: address
    complex(real32), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    include "point_by_rank.inc"
  end subroutine point_complex64

  subroutine now_complex128(run, field, values, shape)
    type(anadrome_run), intent(in) :: run
    integer, intent(in) :: field
    complex(real64), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    call point_complex128(place(c_now(handle_of(run), int(field, c_int)), shape), values, shape)
  end subroutine now_complex128

  subroutine then_complex128(run, field, values, shape)
    type(anadrome_run), intent(in) :: run
    integer, intent(in) :: field
    complex(real64), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    call point_complex128(place(c_then(handle_of(run), int(field, c_int)), shape), values, shape)
  end subroutine then_complex128

  subroutine point_complex128(address, values, shape)
    type(c_ptr), intent(in) :: address
    complex(real64), pointer, intent(out) :: values(..)
    integer, intent(in) :: shape(:)
    include "point_by_rank.inc"
  end subroutine point_complex128
end module anadrome_fields

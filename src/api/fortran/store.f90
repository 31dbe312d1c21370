! SPDX-License-Identifier: BSD-2-Clause
! The object store of store.h. Between open and close everything is local.
module anadrome_stores
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_int, c_int64_t, c_loc, c_null_char, &
       c_null_ptr, c_ptr, c_size_t, c_sizeof
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use mpi_f08, only: MPI_Comm
  use anadrome_c_interface
  use anadrome_types
  use anadrome_runs, only: settle
  implicit none
  private
  public :: anadrome_store, anadrome_part
  public :: anadrome_store_open, anadrome_store_put, anadrome_store_get, anadrome_store_drop, anadrome_store_expect
  public :: anadrome_store_contains, anadrome_store_keys, anadrome_store_parts, anadrome_store_view
  public :: anadrome_store_release, anadrome_store_sync, anadrome_store_statistics
  public :: anadrome_store_close

  !> An open store. A copy is the same store.
  type :: anadrome_store
    private
    type(c_ptr) :: handle = c_null_ptr
  end type anadrome_store

  !> One part of an object: anadrome_part("u", u) for an array of rank 0 to 15, contiguous, of real32, real64,
  !> int32, int64 or complex of both. It must have the TARGET attribute, which the compiler demands.
  type :: anadrome_part
    private
    character(64) :: name = ""  !< one letter more than C takes, which says so
    integer(c_int) :: type = ANADROME_BYTE
    integer(c_size_t) :: count = 0
    type(c_ptr) :: values = c_null_ptr
    character(8) :: mistake = ""
  end type anadrome_part

  interface anadrome_part
    module procedure part_real32, part_real64, part_int32, part_int64, part_complex64, part_complex128
  end interface anadrome_part

  !> Open a store on the ranks of `comm`, of type(MPI_Comm) or an integer. `options`: "memory=8GiB
  !> directory=/scratch/me". Collective.
  interface anadrome_store_open
    module procedure open_f08, open_integer
  end interface anadrome_store_open

  !> The parts become the object `key`: call anadrome_store_put(store, k, [anadrome_part("u", u)]).
  interface anadrome_store_put
    module procedure put_int32, put_int64
  end interface anadrome_store_put

  !> Parts of the object `key` into their arrays.
  interface anadrome_store_get
    module procedure get_int32, get_int64
  end interface anadrome_store_get

  !> Forget the object `key`.
  interface anadrome_store_drop
    module procedure drop_int32, drop_int64
  end interface anadrome_store_drop

  !> The gets to come, in this order.
  interface anadrome_store_expect
    module procedure expect_int32, expect_int64
  end interface anadrome_store_expect

  !> Whether there is an object `key`.
  interface anadrome_store_contains
    module procedure contains_int32, contains_int64
  end interface anadrome_store_contains

contains

  function part_of(name, type, count, contiguous) result(part)
    character(*), intent(in) :: name
    integer(c_int), intent(in) :: type, contiguous
    integer(c_size_t), intent(in) :: count
    type(anadrome_part) :: part
    part%name = name
    part%type = type
    part%count = count
    if (contiguous == 0 .and. count > 1) part%mistake = "gaps"
  end function part_of

  function part_real32(name, values) result(part)
    character(*), intent(in) :: name
    real(real32), pointer, intent(in) :: values(..)
    type(anadrome_part) :: part
    if (associated(values)) then
      part = part_of(name, ANADROME_FLOAT32, size(values, kind=c_size_t), c_is_contiguous(values))
      part%values = c_loc(values)
    else
      part%mistake = "absent"
    end if
  end function part_real32

  function part_real64(name, values) result(part)
    character(*), intent(in) :: name
    real(real64), pointer, intent(in) :: values(..)
    type(anadrome_part) :: part
    if (associated(values)) then
      part = part_of(name, ANADROME_FLOAT64, size(values, kind=c_size_t), c_is_contiguous(values))
      part%values = c_loc(values)
    else
      part%mistake = "absent"
    end if
  end function part_real64

  function part_int32(name, values) result(part)
    character(*), intent(in) :: name
    integer(int32), pointer, intent(in) :: values(..)
    type(anadrome_part) :: part
    if (associated(values)) then
      part = part_of(name, ANADROME_INT32, size(values, kind=c_size_t), c_is_contiguous(values))
      part%values = c_loc(values)
    else
      part%mistake = "absent"
    end if
  end function part_int32

  function part_int64(name, values) result(part)
    character(*), intent(in) :: name
    integer(int64), pointer, intent(in) :: values(..)
    type(anadrome_part) :: part
    if (associated(values)) then
      part = part_of(name, ANADROME_INT64, size(values, kind=c_size_t), c_is_contiguous(values))
      part%values = c_loc(values)
    else
      part%mistake = "absent"
    end if
  end function part_int64

  function part_complex64(name, values) result(part)
    character(*), intent(in) :: name
    complex(real32), pointer, intent(in) :: values(..)
    type(anadrome_part) :: part
    if (associated(values)) then
      part = part_of(name, ANADROME_COMPLEX64, size(values, kind=c_size_t), c_is_contiguous(values))
      part%values = c_loc(values)
    else
      part%mistake = "absent"
    end if
  end function part_complex64

  function part_complex128(name, values) result(part)
    character(*), intent(in) :: name
    complex(real64), pointer, intent(in) :: values(..)
    type(anadrome_part) :: part
    if (associated(values)) then
      part = part_of(name, ANADROME_COMPLEX128, size(values, kind=c_size_t), c_is_contiguous(values))
      part%values = c_loc(values)
    else
      part%mistake = "absent"
    end if
  end function part_complex128

  subroutine open_f08(store, comm, options, ierr)
    type(anadrome_store), intent(out) :: store
    type(MPI_Comm), intent(in) :: comm
    character(*), intent(in) :: options
    integer, optional, intent(out) :: ierr
    call open_integer(store, comm%MPI_VAL, options, ierr)
  end subroutine open_f08

  subroutine open_integer(store, comm, options, ierr)
    type(anadrome_store), intent(out) :: store
    integer, intent(in) :: comm
    character(*), intent(in) :: options
    integer, optional, intent(out) :: ierr
    call settle(c_store_open(int(comm, c_int), trim(options)//c_null_char, store%handle), ierr)
  end subroutine open_integer

  ! The parts as C has them; false, and ierr or the end, if the array of one cannot be used.
  logical function are_right(parts, names, in_c, ierr)
    type(anadrome_part), intent(in) :: parts(:)
    character(kind=c_char, len=65), target, intent(out) :: names(:)
    type(c_part), intent(out) :: in_c(:)
    integer, optional, intent(out) :: ierr
    integer :: i
    are_right = .false.
    do i = 1, size(parts)
      if (parts(i)%mistake == "gaps") then
        call settle(ANADROME_ERR_ARGUMENT, ierr, "anadrome_part: the array of part '"//trim(parts(i)%name)// &
             "' is not contiguous; give all of it, or a contiguous part")
        return
      else if (parts(i)%mistake == "absent") then
        call settle(ANADROME_ERR_ARGUMENT, ierr, "anadrome_part: the array of a part is not allocated, or its "// &
             "pointer not associated")
        return
      end if
      names(i) = trim(parts(i)%name)//c_null_char
      in_c(i) = c_part(c_loc(names(i)), parts(i)%type, parts(i)%count, parts(i)%values)
    end do
    are_right = .true.
  end function are_right

  subroutine put_int64(store, key, parts, ierr)
    type(anadrome_store), intent(in) :: store
    integer(int64), intent(in) :: key
    type(anadrome_part), intent(in) :: parts(:)
    integer, optional, intent(out) :: ierr
    character(kind=c_char, len=65), target :: names(size(parts))
    type(c_part) :: in_c(size(parts))
    if (are_right(parts, names, in_c, ierr)) then
      call settle(c_store_put(store%handle, key, size(parts, kind=c_int), in_c), ierr)
    end if
  end subroutine put_int64

  subroutine get_int64(store, key, parts, ierr)
    type(anadrome_store), intent(in) :: store
    integer(int64), intent(in) :: key
    type(anadrome_part), intent(in) :: parts(:)
    integer, optional, intent(out) :: ierr
    character(kind=c_char, len=65), target :: names(size(parts))
    type(c_part) :: in_c(size(parts))
    if (are_right(parts, names, in_c, ierr)) then
      call settle(c_store_get(store%handle, key, size(parts, kind=c_int), in_c), ierr)
    end if
  end subroutine get_int64

  subroutine put_int32(store, key, parts, ierr)
    type(anadrome_store), intent(in) :: store
    integer(int32), intent(in) :: key
    type(anadrome_part), intent(in) :: parts(:)
    integer, optional, intent(out) :: ierr
    call put_int64(store, int(key, int64), parts, ierr)
  end subroutine put_int32

  subroutine get_int32(store, key, parts, ierr)
    type(anadrome_store), intent(in) :: store
    integer(int32), intent(in) :: key
    type(anadrome_part), intent(in) :: parts(:)
    integer, optional, intent(out) :: ierr
    call get_int64(store, int(key, int64), parts, ierr)
  end subroutine get_int32

  subroutine drop_int64(store, key, ierr)
    type(anadrome_store), intent(in) :: store
    integer(int64), intent(in) :: key
    integer, optional, intent(out) :: ierr
    call settle(c_store_drop(store%handle, key), ierr)
  end subroutine drop_int64

  subroutine drop_int32(store, key, ierr)
    type(anadrome_store), intent(in) :: store
    integer(int32), intent(in) :: key
    integer, optional, intent(out) :: ierr
    call drop_int64(store, int(key, int64), ierr)
  end subroutine drop_int32

  subroutine expect_int64(store, keys, ierr)
    type(anadrome_store), intent(in) :: store
    integer(int64), intent(in) :: keys(:)
    integer, optional, intent(out) :: ierr
    call settle(c_store_expect(store%handle, size(keys, kind=c_int64_t), keys), ierr)
  end subroutine expect_int64

  subroutine expect_int32(store, keys, ierr)
    type(anadrome_store), intent(in) :: store
    integer(int32), intent(in) :: keys(:)
    integer, optional, intent(out) :: ierr
    call expect_int64(store, int(keys, int64), ierr)
  end subroutine expect_int32

  logical function contains_int64(store, key) result(yes)
    type(anadrome_store), intent(in) :: store
    integer(int64), intent(in) :: key
    integer(c_int) :: found
    found = 0
    call settle(c_store_contains(store%handle, key, found))
    yes = found /= 0
  end function contains_int64

  logical function contains_int32(store, key) result(yes)
    type(anadrome_store), intent(in) :: store
    integer(int32), intent(in) :: key
    yes = contains_int64(store, int(key, int64))
  end function contains_int32

  !> The keys of all objects, in rising order.
  function anadrome_store_keys(store) result(keys)
    type(anadrome_store), intent(in) :: store
    integer(int64), allocatable :: keys(:)
    integer(c_int64_t) :: count, nothing(1)
    count = 0
    call settle(c_store_keys(store%handle, 0_c_int64_t, nothing, count))
    allocate (keys(count))
    call settle(c_store_keys(store%handle, count, keys, count))
  end function anadrome_store_keys

  !> The parts of the object `key`: their names, types (ANADROME_FLOAT64, ...) and numbers of elements.
  subroutine anadrome_store_parts(store, key, names, types, counts, ierr)
    type(anadrome_store), intent(in) :: store
    integer(int64), intent(in) :: key
    character(63), allocatable, intent(out) :: names(:)
    integer, allocatable, intent(out) :: types(:)
    integer(int64), allocatable, intent(out) :: counts(:)
    integer, optional, intent(out) :: ierr
    type(c_part), allocatable :: in_c(:)
    character(kind=c_char), pointer :: letters(:)
    integer(c_int) :: count, status
    integer :: i, j
    count = 0
    allocate (in_c(0))
    status = c_store_parts(store%handle, key, 0_c_int, in_c, count)
    if (status == ANADROME_OK) then
      deallocate (in_c)
      allocate (in_c(count))
      status = c_store_parts(store%handle, key, count, in_c, count)
    end if
    allocate (names(count), types(count), counts(count))
    do i = 1, count
      call c_f_pointer(in_c(i)%name, letters, [64])
      names(i) = ""
      do j = 1, 63
        if (letters(j) == c_null_char) exit
        names(i)(j:j) = letters(j)
      end do
      types(i) = in_c(i)%type
      counts(i) = int(in_c(i)%count, int64)
    end do
    call settle(status, ierr)
  end subroutine anadrome_store_parts

  !> The bytes of a part from byte `offset` on, as far as they lie side by side, without a copy: `bytes` of them
  !> at `view`, which c_f_pointer makes an array; none at the end of the part. They must not be changed.
  subroutine anadrome_store_view(store, key, part, offset, view, bytes, ierr)
    type(anadrome_store), intent(in) :: store
    integer(int64), intent(in) :: key, offset
    character(*), intent(in) :: part
    type(c_ptr), intent(out) :: view
    integer(int64), intent(out) :: bytes
    integer, optional, intent(out) :: ierr
    integer(c_size_t) :: size_in_c
    view = c_null_ptr
    size_in_c = 0
    call settle(c_store_view(store%handle, key, trim(part)//c_null_char, int(offset, c_size_t), view, size_in_c), ierr)
    bytes = int(size_in_c, int64)
  end subroutine anadrome_store_view

  !> End a view.
  subroutine anadrome_store_release(store, view, ierr)
    type(anadrome_store), intent(in) :: store
    type(c_ptr), intent(in) :: view
    integer, optional, intent(out) :: ierr
    call settle(c_store_release(store%handle, view), ierr)
  end subroutine anadrome_store_release

  !> Wait until all that was put is on disk.
  subroutine anadrome_store_sync(store, ierr)
    type(anadrome_store), intent(in) :: store
    integer, optional, intent(out) :: ierr
    call settle(c_store_sync(store%handle), ierr)
  end subroutine anadrome_store_sync

  !> Measured numbers of this rank.
  subroutine anadrome_store_statistics(store, stats, ierr)
    type(anadrome_store), intent(in) :: store
    type(anadrome_store_stats), intent(out) :: stats
    integer, optional, intent(out) :: ierr
    stats%size = c_sizeof(stats)
    call settle(c_store_statistics(store%handle, stats), ierr)
  end subroutine anadrome_store_statistics

  !> Close the store and remove its files. Collective.
  subroutine anadrome_store_close(store, ierr)
    type(anadrome_store), intent(inout) :: store
    integer, optional, intent(out) :: ierr
    call settle(c_store_close(store%handle), ierr)
  end subroutine anadrome_store_close
end module anadrome_stores

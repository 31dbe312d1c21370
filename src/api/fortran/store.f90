! SPDX-License-Identifier: BSD-2-Clause
! The object store of store.h. Between open and close everything is local.
module anadrome_stores
  use anadrome_c_interface
  use anadrome_runs
  use mpi_f08, only: MPI_Comm
  implicit none
  private
  public :: anadrome_store, anadrome_part, anadrome_store_open, anadrome_store_keys, anadrome_store_parts
  public :: anadrome_store_view, anadrome_store_release, anadrome_store_sync, anadrome_store_statistics
  public :: anadrome_store_close, part_of, are_right

  !> An open store. A copy is the same store.
  type, bind(c) :: anadrome_store
    private
    type(c_ptr) :: handle = c_null_ptr
  end type anadrome_store

  !> One part of an object, which the function of this name makes.
  type :: anadrome_part
    private
    character(64) :: name = ""  !< one letter more than C takes, which says so
    type(c_part) :: array
  end type anadrome_part

  !> Open a store on the ranks of `comm`, of type(MPI_Comm) or an integer. `options`: "memory=8GiB
  !> directory=/scratch/me". Collective.
  interface anadrome_store_open; module procedure store_open_f08, store_open_integer; end interface

contains

  type(anadrome_part) function part_of(name, array)
    character(*), intent(in) :: name
    type(c_part), intent(in) :: array
    part_of%name = name
    part_of%array = array
  end function part_of

  subroutine store_open_f08(store, comm, options, ierr)
    type(anadrome_store), intent(out) :: store
    type(MPI_Comm), intent(in) :: comm
    character(*), intent(in) :: options
    integer, optional, intent(out) :: ierr
    call store_open_integer(store, comm%MPI_VAL, options, ierr)
  end subroutine store_open_f08

  subroutine store_open_integer(store, comm, options, ierr)
    type(anadrome_store), intent(out) :: store
    integer, intent(in) :: comm
    character(*), intent(in) :: options
    integer, optional, intent(out) :: ierr
    call settle(c_store_open(int(comm, c_int), trim(options)//c_null_char, store%handle), ierr)
  end subroutine store_open_integer

  ! The parts as C has them; false, and ierr or the end, if the array of one cannot be used.
  logical function are_right(parts, names, in_c, ierr)
    type(anadrome_part), intent(in) :: parts(:)
    character(kind=c_char, len=65), target, intent(out) :: names(:)
    type(c_part), intent(out) :: in_c(:)
    integer, optional, intent(out) :: ierr
    integer :: i
    are_right = .false.
    do i = 1, size(parts)
      if (parts(i)%array%type == no_array) then
        call settle(ANADROME_ERR_ARGUMENT, ierr, "anadrome_part: the array of a part is not allocated, or its "// &
             "pointer not associated")
        return
      else if (parts(i)%array%type == with_gaps) then
        call settle(ANADROME_ERR_ARGUMENT, ierr, "anadrome_part: the array of part '"//trim(parts(i)%name)// &
             "' is not contiguous; give all of it, or a contiguous part")
        return
      end if
      names(i) = trim(parts(i)%name)//c_null_char
      in_c(i) = parts(i)%array
      in_c(i)%name = c_loc(names(i))
    end do
    are_right = .true.
  end function are_right

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
    include "store_and_ierr.inc"
    integer(int64), intent(in) :: key
    character(63), allocatable, intent(out) :: names(:)
    integer, allocatable, intent(out) :: types(:)
    integer(int64), allocatable, intent(out) :: counts(:)
    type(c_part), allocatable :: in_c(:)
    type(c_part) :: none(0)
    integer(c_int) :: count, status
    integer :: i
    count = 0
    status = c_store_parts(store%handle, key, 0_c_int, none, count)
    allocate (in_c(count), names(count), types(count), counts(count))
    if (status == ANADROME_OK) status = c_store_parts(store%handle, key, count, in_c, count)
    do i = 1, count
      names(i) = copied(in_c(i)%name)
      types(i) = in_c(i)%type
      counts(i) = int(in_c(i)%count, int64)
    end do
    call settle(status, ierr)
  end subroutine anadrome_store_parts

  !> The bytes of a part from byte `offset` on, as far as they lie side by side, without a copy: `bytes` of them
  !> at `view`, which c_f_pointer makes an array; none at the end of the part. They must not be changed.
  subroutine anadrome_store_view(store, key, part, offset, view, bytes, ierr)
    include "store_and_ierr.inc"
    integer(int64), intent(in) :: key, offset
    character(*), intent(in) :: part
    type(c_ptr), intent(out) :: view
    integer(int64), intent(out) :: bytes
    integer(c_size_t) :: size_in_c
    view = c_null_ptr
    size_in_c = 0
    call settle(c_store_view(store%handle, key, trim(part)//c_null_char, int(offset, c_size_t), view, size_in_c), ierr)
    bytes = int(size_in_c, int64)
  end subroutine anadrome_store_view

  !> End a view.
  subroutine anadrome_store_release(store, view, ierr)
    include "store_and_ierr.inc"
    type(c_ptr), intent(in) :: view
    call settle(c_store_release(store%handle, view), ierr)
  end subroutine anadrome_store_release

  !> Wait until all that was put is on disk.
  subroutine anadrome_store_sync(store, ierr)
    include "store_and_ierr.inc"
    call settle(c_store_sync(store%handle), ierr)
  end subroutine anadrome_store_sync

  !> Measured numbers of this rank.
  subroutine anadrome_store_statistics(store, stats, ierr)
    include "store_and_ierr.inc"
    type(anadrome_store_stats), intent(out) :: stats
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

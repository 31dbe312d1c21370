! SPDX-License-Identifier: BSD-2-Clause
! The object store: objects of every type and rank come back as they were put, past the memory.
program store_test
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use mpi_f08
  use anadrome
  use expectations
  implicit none

  integer, parameter :: steps = 60
  type(anadrome_store) :: store
  type(anadrome_store_stats) :: stats
  real(real64), target :: u(40, 50)
  real(real32), target :: a(3)
  integer(int32), target :: c(2, 2)
  integer(int64), target :: d
  complex(real32), target :: e(0:4)
  complex(real64), allocatable, target :: f(:)
  real(real64), pointer :: seen(:)
  character(63), allocatable :: names(:)
  integer, allocatable :: types(:)
  integer(int64), allocatable :: counts(:)
  type(c_ptr) :: view
  integer(int64) :: bytes
  integer :: k, ierr, provided

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  allocate (f(3))
  call anadrome_store_open(store, MPI_COMM_WORLD, "memory=256KiB directory="//directory())
  call anadrome_store_expect(store, [(k, k=steps, 1, -1)])
  do k = 1, steps
    call fill(k)
    call anadrome_store_put(store, k, [anadrome_part("u", u), anadrome_part("a", a), anadrome_part("c", c), &
         anadrome_part("d", d), anadrome_part("e", e), anadrome_part("f", f)])
  end do
  call anadrome_store_sync(store)
  do k = steps, 1, -1
    call fill(0)
    call anadrome_store_get(store, k, [anadrome_part("f", f), anadrome_part("u", u), anadrome_part("a", a)])
    call anadrome_store_get(store, int(k, int64), [anadrome_part("c", c), anadrome_part("d", d), anadrome_part("e", e)])
    call expect(all(u == k) .and. all(a == k) .and. all(c == k) .and. d == k .and. all(e == k) .and. all(f == k), &
         "an object is what was put")
    if (k > 2) call anadrome_store_drop(store, k)
  end do
  call anadrome_store_statistics(store, stats)
  call expect(stats%bytes_read > 0 .and. stats%objects == 2, "the objects went past the memory")
  call expect(all(anadrome_store_keys(store) == [1_int64, 2_int64]), "the keys are there")
  call expect(anadrome_store_contains(store, 2) .and. .not. anadrome_store_contains(store, 3), "contains")

  call anadrome_store_parts(store, 2_int64, names, types, counts)
  call expect(size(names) == 6 .and. names(6) == "f" .and. types(6) == ANADROME_COMPLEX128 .and. counts(1) == 2000, "parts")
  call anadrome_store_view(store, 2_int64, "u", 800_int64, view, bytes)
  call c_f_pointer(view, seen, [bytes / 8])
  call expect(bytes > 0 .and. all(seen == 2), "a view shows the part")
  call anadrome_store_drop(store, 2, ierr)
  call expect_status(ierr, ANADROME_ERR_ORDER, "drop while there is a view")
  call anadrome_store_release(store, view)

  call anadrome_store_get(store, 7, [anadrome_part("u", u)], ierr)
  call expect_status(ierr, ANADROME_ERR_ARGUMENT, "get what is not there")
  call anadrome_store_put(store, 7, [anadrome_part("u", u(1:3, :))], ierr)
  call expect_status(ierr, ANADROME_ERR_ARGUMENT, "an array with gaps")
  call expect_words("array of part 'u' is not contiguous")
  call anadrome_store_put(store, 7, [anadrome_part(repeat("n", 80), u)], ierr)
  call expect_status(ierr, ANADROME_ERR_ARGUMENT, "a name that is too long")
  deallocate (f)
  call anadrome_store_close(store)
  call conclude(steps + 10)

contains

  subroutine fill(value)
    integer, intent(in) :: value
    u = value
    a = real(value, real32)
    c = value
    d = value
    e = cmplx(value, kind=real32)
    f = cmplx(value, kind=real64)
  end subroutine fill
end program store_test

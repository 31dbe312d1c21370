! SPDX-License-Identifier: BSD-2-Clause
! Exchanged fields of every type, with pointers of rank 1 to 4; one has no elements on odd ranks.
program exchanged_test
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use mpi_f08
  use anadrome
  use expectations
  implicit none

  integer, parameter :: steps = 19
  integer, parameter :: extents(4) = [2, 3, 1, 2]
  ! Where a state is: that of the steps so far, or the next one.
  type :: place
    real(real32), pointer :: a(:, :, :, :)
    real(real64), pointer :: b(:, :)
    integer(int32), pointer :: c(:)
    integer(int64), pointer :: d(:, :, :)
    complex(real32), pointer :: e(:, :)
    complex(real64), pointer :: f(:, :, :, :)
  end type place
  integer :: provided, rank, types(6), fields(6), of_e(2)

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  of_e = [2, merge(0, 3, mod(rank, 2) == 1)]
  types = [ANADROME_FLOAT32, ANADROME_FLOAT64, ANADROME_INT32, ANADROME_INT64, ANADROME_COMPLEX64, &
       ANADROME_COMPLEX128]
  call sweep()
  call conclude(steps + 14)

contains

  subroutine sweep()
    type(anadrome_run) :: run
    type(anadrome_action) :: action
    type(place) :: now, then
    integer :: i, counts(6), status
    counts = [12, 6, 5, 6, product(of_e), 12]
    call anadrome_open(run, MPI_COMM_WORLD)
    call anadrome_set(run, "directory", directory())
    call anadrome_set(run, "schedule", "async")
    call anadrome_set(run, "memory", "250KiB")
    do i = 1, 5
      call anadrome_add_exchanged(run, achar(96 + i), ANADROME_ROLE_STATE, types(i), counts(i), fields(i), status)
    end do
    call anadrome_add_exchanged(run, "f", ANADROME_ROLE_STATE, types(6), int(counts(6), int64), fields(6))
    call expect(all(fields == [0, 1, 2, 3, 4, 5]), "fields are numbered")
    call get_then(run, then)
    call expect(.not. associated(then%b), "there is no state before begin")
    call anadrome_begin(run, steps, status)
    call expect_status(status, ANADROME_OK, "begin")
    call get_then(run, then)
    call put(then, 0_int64)
    do
      call anadrome_next(run, action, status)
      if (status /= ANADROME_OK .or. action%kind == ANADROME_DONE) exit
      call get_now(run, now)
      if (action%kind == ANADROME_ADVANCE) then
        call get_then(run, then)
        if (holds(now, action%first)) call put(then, action%last)
      else if (action%kind == ANADROME_ADJOINT) then
        call expect(holds(now, action%first), "every field is that of its step")
      end if
    end do
    call expect_status(status, ANADROME_OK, "the sweep ends")
    call expect_no_larger_pointer(run)
    call get_now(run, now)
    call expect(holds(now, 0_int64), "with x_0")
    call anadrome_close(run)
    call anadrome_close(run)
    call get_now(run, now)
    call expect(.not. associated(now%b), "nothing is live after close, and closing twice is fine")
  end subroutine sweep

  ! A larger one would reach into the next field, or another state.
  subroutine expect_no_larger_pointer(run)
    type(anadrome_run), intent(in) :: run
    real(real32), pointer :: single(:, :)
    real(real64), pointer :: double(:, :), huge(:, :, :, :), flat(:)
    call anadrome_now(run, fields(2), double, [3, 2])
    call expect(associated(double), "a pointer of the field's type and size is associated")
    call anadrome_now(run, fields(2), double, [3, 1])
    call expect(associated(double), "and one to some of its elements")
    call anadrome_now(run, fields(2), double, [3, 3])
    call expect(.not. associated(double), "a larger one is not")
    call anadrome_now(run, fields(2), huge, [65536, 65536, 65536, 65536])
    call expect(.not. associated(huge), "nor one of 2**64 elements")
    call anadrome_now(run, fields(2), single, [3, 2])
    call expect(.not. associated(single), "nor one of another type")
    call anadrome_now(run, fields(2), flat, [3, 2])
    call expect(.not. associated(flat), "nor one of fewer ranks than extents")
    call anadrome_now(run, fields(2), huge, [3, 2])
    call expect(.not. associated(huge), "nor of more")
    call anadrome_now(run, 7, double, [3, 2])
    call expect(.not. associated(double), "nor of a field that is not there")
  end subroutine expect_no_larger_pointer

  subroutine get_now(run, now)
    type(anadrome_run), intent(in) :: run
    type(place), intent(out) :: now
    call anadrome_now(run, fields(1), now%a, extents)
    call anadrome_now(run, fields(2), now%b, [3, 2])
    call anadrome_now(run, fields(3), now%c, [5])
    call anadrome_now(run, fields(4), now%d, extents(:3))
    call anadrome_now(run, fields(5), now%e, of_e)
    call anadrome_now(run, fields(6), now%f, extents)
  end subroutine get_now

  subroutine get_then(run, then)
    type(anadrome_run), intent(in) :: run
    type(place), intent(out) :: then
    call anadrome_then(run, fields(1), then%a, extents)
    call anadrome_then(run, fields(2), then%b, [3, 2])
    call anadrome_then(run, fields(3), then%c, [5])
    call anadrome_then(run, fields(4), then%d, extents(:3))
    call anadrome_then(run, fields(5), then%e, of_e)
    call anadrome_then(run, fields(6), then%f, extents)
  end subroutine get_then

  subroutine put(x, step)
    type(place), intent(in) :: x
    integer(int64), intent(in) :: step
    x%a = 0.25_real32 + real(step, real32)
    x%a(2, 3, 1, 2) = -real(step, real32)
    x%b = 1e100_real64 * step
    x%c = int(step, int32) - 3
    x%d = 5000000000_int64 * step
    x%d(1, 2, 1) = -1
    x%e = cmplx(step, -step, real32)
    x%f = cmplx(1, 2 * step, real64)
  end subroutine put

  function holds(x, step) result(every_field)
    type(place), intent(in) :: x
    integer(int64), intent(in) :: step
    logical :: every_field
    type(place) :: right
    allocate (right%a(2, 3, 1, 2), right%b(3, 2), right%c(5), right%d(2, 3, 1), right%f(2, 3, 1, 2), &
         right%e(of_e(1), of_e(2)))
    call put(right, step)
    every_field = all(abs(x%a - right%a) <= 0) .and. all(abs(x%b - right%b) <= 0) .and. all(x%c == right%c) &
         .and. all(x%d == right%d) .and. all(abs(x%e - right%e) <= 0) .and. all(abs(x%f - right%f) <= 0)
    deallocate (right%a, right%b, right%c, right%d, right%e, right%f)
  end function holds
end program exchanged_test

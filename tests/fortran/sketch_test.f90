! SPDX-License-Identifier: BSD-2-Clause
! Sketches: arrays of both types and any rank arrive, and every rank has the same random numbers.
program sketch_test
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64
  use mpi_f08
  use anadrome
  use expectations
  implicit none

  integer, parameter :: steps = 60
  type(anadrome_sketch) :: sketch, single, other
  real(real64) :: x(3, 2), y(3, 2), gradient(3, 2), variance(3, 2), lowest(3, 2), highest(3, 2), exact(3, 2)
  real(real32) :: a(4), g(4)
  real(real64) :: v(4)
  integer :: k, ierr, provided

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  exact = 0
  call anadrome_sketch_create(sketch, size(x), 40, seed=5)
  do k = 0, steps - 1
    call fill(k)
    exact = exact + x*y
    if (mod(k, 2) == 0) call anadrome_sketch_push(sketch, k, x)
    if (mod(k, 2) == 1) call anadrome_sketch_push(sketch, int(k, int64), x)
  end do
  do k = steps - 1, 0, -1
    call fill(k)
    if (mod(k, 2) == 0) call anadrome_sketch_correlate(sketch, k, y)
    if (mod(k, 2) == 1) call anadrome_sketch_correlate(sketch, int(k, int64), y)
  end do
  call anadrome_sketch_gradient(sketch, gradient)
  call anadrome_sketch_variance(sketch, variance)
  call expect(sum((gradient - exact)**2) < 6*sum(variance) .and. sum(variance) > 0, "the error is as large as it says")
  call expect(any(abs(gradient - exact) > 1e-8), "an estimate is no exact gradient")
  call MPI_Allreduce(gradient, lowest, size(x), MPI_DOUBLE_PRECISION, MPI_MIN, MPI_COMM_WORLD)
  call MPI_Allreduce(gradient, highest, size(x), MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
  call expect(.not. any(highest > lowest), "all ranks have the same random numbers")

  call anadrome_sketch_create(single, 4_int64, 2, type=ANADROME_FLOAT32, kind=ANADROME_SKETCH_EXACT)
  a = [1, 2, 3, 4]
  call anadrome_sketch_push(single, 0, a)
  call anadrome_sketch_push(single, 1_int64, 2*a)
  call anadrome_sketch_correlate(single, 0, a)
  call anadrome_sketch_correlate(single, 1_int64, a)
  call anadrome_sketch_gradient(single, g)
  call anadrome_sketch_variance(single, v)
  call expect(.not. any(abs(g - 3*a**2) > 0 .or. v > 0), "single precision and a kind arrive")
  call expect(anadrome_sketch_bytes(1000, 128) == 8*1000*131, "bytes")
  call expect(anadrome_sketch_bytes(1000_int64, 128, type=ANADROME_FLOAT32, kind=ANADROME_SKETCH_ROWS) == 4*1000*131, &
       "bytes of a type and a kind")

  call anadrome_sketch_push(single, 0, x, ierr)
  call expect_status(ierr, ANADROME_ERR_ARGUMENT, "an array of another type")
  call expect_words("not of the sketch's type")
  call anadrome_sketch_correlate(single, 0, a(1:3), ierr)
  call expect_status(ierr, ANADROME_ERR_ARGUMENT, "an array of another size")
  call expect_words("the sketch has 4 points, the array 3")
  call anadrome_sketch_push(single, 0, a, ierr)
  call expect_status(ierr, ANADROME_ERR_ORDER, "a push after a correlation")
  call anadrome_sketch_create(other, 4, 0, ierr=ierr)
  call expect_status(ierr, ANADROME_ERR_ARGUMENT, "no array")
  call anadrome_sketch_destroy(single)
  call anadrome_sketch_destroy(single)
  call anadrome_sketch_destroy(sketch)
  call anadrome_sketch_push(sketch, 0, x, ierr)
  call expect_status(ierr, ANADROME_ERR_ARGUMENT, "a sketch that is gone")
  call expect_words("sketch is NULL")
  call conclude(14)

contains

  subroutine fill(k)
    integer, intent(in) :: k
    integer :: i
    x = reshape([(sin(0.1d0*k + i), i=1, 6)], [3, 2])
    y = reshape([(cos(0.3d0*k*i), i=1, 6)], [3, 2])
  end subroutine fill
end program sketch_test

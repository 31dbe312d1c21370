! SPDX-License-Identifier: BSD-2-Clause
! Fields of every type and rank are given back as they were.
program fields_test
  use, intrinsic :: iso_c_binding, only: c_loc, c_ptr, c_int, c_size_t, c_f_pointer
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use mpi_f08
  use anadrome
  use expectations
  implicit none

  integer, parameter :: steps = 23
  integer :: provided
  real(real32), target :: a(3)
  real(real64), target :: b(2, 3), scalar
  integer(int32), target :: c(2, 2, 2)
  integer(int64), allocatable, target :: d(:, :, :, :)
  complex(real32), target :: e(0:4)
  complex(real64), pointer :: f(:, :)
  real(real64), target :: none(0)

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided)
  call registered()
  call packed_and_varying()
  call refused()
  call conclude(2 * steps + 2 + 15)

contains

  subroutine set_all(run, schedule, memory)
    type(anadrome_run), intent(in) :: run
    character(*), intent(in) :: schedule, memory
    call anadrome_set(run, "directory", directory())
    call anadrome_set(run, "schedule", schedule)
    call anadrome_set(run, "memory", memory)
    if (schedule == "async") call anadrome_set(run, "interval", "5")  ! and most states come from disk
  end subroutine set_all

  subroutine registered()
    type(anadrome_run) :: run
    type(anadrome_action) :: action
    integer(int64) :: k
    allocate (d(2, 1, 2, -1:1), f(2, 2))
    call anadrome_open(run, MPI_COMM_WORLD)
    call set_all(run, "async", "30KiB")
    call anadrome_add_field(run, "a", ANADROME_ROLE_STATE, a)
    call anadrome_add_field(run, "b", ANADROME_ROLE_STATE, b)
    call anadrome_add_field(run, "c", ANADROME_ROLE_STATE, c)
    call anadrome_add_field(run, "d", ANADROME_ROLE_STATE, d)
    call anadrome_add_field(run, "e", ANADROME_ROLE_STATE, e)
    call anadrome_add_field(run, "f", ANADROME_ROLE_STATE, f)
    call anadrome_add_field(run, "scalar", ANADROME_ROLE_STATE, scalar)
    call anadrome_add_field(run, "none", ANADROME_ROLE_STATE, none)
    call put(0_int64)
    call anadrome_begin(run, steps)
    do
      call anadrome_next(run, action)
      select case (action%kind)
      case (ANADROME_ADVANCE)
        do k = action%first, action%last - 1
          call put(k + 1)
        end do
      case (ANADROME_ADJOINT)
        call expect(holds(action%first), "every field is that of its step")
        call expect(action%last == action%first + 1, "an adjoint action is one step")
        call put(-1_int64)
      case (ANADROME_DONE)
        exit
      end select
    end do
    call anadrome_close(run)
    deallocate (d, f)
  end subroutine registered

  subroutine put(step)
    integer(int64), intent(in) :: step
    real(real64) :: x
    x = real(step, real64)
    a = real(x, real32) + [0.25, 0.5, 0.75]
    b = reshape([x, 2 * x, 3 * x, 4 * x, 5 * x, 6 * x], [2, 3])
    c = int(step) * 7
    c(2, 1, 2) = -int(step)
    d = step * 3000000000_int64
    d(2, 1, 1, -1) = -step
    e = cmplx(x, -x, real32)
    e(0) = (1.0, 2.0)
    f = cmplx(x / 3, x / 7, real64)
    scalar = x / 11
  end subroutine put

  function holds(step) result(all_fields)
    integer(int64), intent(in) :: step
    logical :: all_fields
    real(real32) :: was_a(3)
    real(real64) :: was_b(2, 3), was_scalar
    integer(int32) :: was_c(2, 2, 2)
    integer(int64) :: was_d(2, 1, 2, 3)
    complex(real32) :: was_e(5)
    complex(real64) :: was_f(2, 2)
    was_a = a
    was_b = b
    was_c = c
    was_d = d
    was_e = e
    was_f = f
    was_scalar = scalar
    call put(step)
    all_fields = all(abs(was_a - a) <= 0) .and. all(abs(was_b - b) <= 0) .and. all(was_c == c) .and. &
         all(was_d == d) .and. all(abs(was_e - e) <= 0) .and. all(abs(was_f - f) <= 0) .and. &
         abs(was_scalar - scalar) <= 0
  end function holds

  ! `number`, and one integer of one to five places, each of them `numbers`.
  subroutine packed_and_varying()
    integer, target :: number, numbers
    type(anadrome_run) :: run
    type(anadrome_action) :: action
    integer :: wrong
    wrong = 0
    call anadrome_open(run, MPI_COMM_WORLD)
    call set_all(run, "revolve", "4KiB")
    call anadrome_add_packed(run, "number", ANADROME_ROLE_STATE, 4_c_size_t, pack_number, unpack_number, c_loc(number))
    call anadrome_add_varying(run, "numbers", ANADROME_ROLE_STATE, 20_c_size_t, size_of_numbers, pack_numbers, &
         unpack_numbers, c_loc(numbers))
    number = 0
    numbers = 0
    call anadrome_begin(run, 40_int64)
    do
      call anadrome_next(run, action)
      if (action%kind == ANADROME_DONE) exit
      if (action%kind == ANADROME_ADVANCE) then
        number = number + int(action%last - action%first)
        numbers = number
      end if
      if (action%kind == ANADROME_ADJOINT .and. (number /= action%first .or. numbers /= number)) wrong = wrong + 1
    end do
    call expect(wrong == 0, "both are those of their step")
    call expect(number == 0 .and. numbers == 0, "and x_0 at the end")
    call anadrome_close(run)
  end subroutine packed_and_varying

  function size_of_numbers(context) bind(c) result(bytes)
    type(c_ptr), value :: context
    integer(c_size_t) :: bytes
    integer, pointer :: number
    call c_f_pointer(context, number)
    bytes = int(4 * (1 + mod(number, 5)), c_size_t)
  end function size_of_numbers

  function pack_numbers(context, buffer, bytes) bind(c) result(failure)
    type(c_ptr), value :: context, buffer
    integer(c_size_t), value :: bytes
    integer(c_int) :: failure
    integer, pointer :: number, numbers(:)
    call c_f_pointer(context, number)
    call c_f_pointer(buffer, numbers, [bytes / 4])
    numbers = number
    failure = merge(0, 1, bytes == size_of_numbers(context))
  end function pack_numbers

  function unpack_numbers(context, buffer, bytes) bind(c) result(failure)
    type(c_ptr), value :: context, buffer
    integer(c_size_t), value :: bytes
    integer(c_int) :: failure
    integer, pointer :: number, numbers(:)
    call c_f_pointer(context, number)
    call c_f_pointer(buffer, numbers, [bytes / 4])
    number = numbers(1)
    failure = merge(0, 1, all(numbers == number) .and. bytes == size_of_numbers(context))
  end function unpack_numbers

  function pack_number(context, buffer, bytes) bind(c) result(failure)
    type(c_ptr), value :: context, buffer
    integer(c_size_t), value :: bytes
    integer(c_int) :: failure
    integer, pointer :: from, to
    call c_f_pointer(context, from)
    call c_f_pointer(buffer, to)
    to = from
    failure = merge(0, 1, bytes == 4)
  end function pack_number

  function unpack_number(context, buffer, bytes) bind(c) result(failure)
    type(c_ptr), value :: context, buffer
    integer(c_size_t), value :: bytes
    integer(c_int) :: failure
    failure = pack_number(buffer, context, bytes)
  end function unpack_number

  ! What lies apart in memory, and what is not there.
  subroutine refused()
    type :: particle
      real(real64) :: position, momentum
    end type particle
    real(real64), target :: u(6, 6)
    type(particle), target :: particles(4)
    complex(real64), target :: z(3)
    real(real64), allocatable, target :: absent(:)
    real(real64), pointer :: through(:), matrix(:, :)
    type(anadrome_run) :: run
    integer :: status, field
    call anadrome_open(run, MPI_COMM_WORLD)
    call anadrome_add_field(run, "row", ANADROME_ROLE_STATE, u(2, :), status)
    call expect_status(status, ANADROME_ERR_ARGUMENT, "a strided array is refused")
    call expect_words("'row' is not contiguous")
    call anadrome_add_field(run, "imaginary", ANADROME_ROLE_STATE, z%im, status)
    call expect_status(status, ANADROME_ERR_ARGUMENT, "imaginary parts are refused")
    through => particles%position
    call anadrome_add_field(run, "through", ANADROME_ROLE_STATE, through, status)
    call expect_status(status, ANADROME_ERR_ARGUMENT, "a pointer to a component is refused")
    call anadrome_add_field(run, "backwards", ANADROME_ROLE_STATE, u(6:1:-1, 1), status)
    call expect_status(status, ANADROME_ERR_ARGUMENT, "a reversed array is refused")
    allocate (absent(0))
    call anadrome_add_field(run, "empty", ANADROME_ROLE_STATE, absent, status)
    call expect_status(status, ANADROME_OK, "an array without elements is not")
    deallocate (absent)
    call anadrome_add_field(run, "absent", ANADROME_ROLE_STATE, absent, status)
    call expect_status(status, ANADROME_ERR_ARGUMENT, "an array that is not allocated is refused")
    call expect_words("'absent' is not allocated")
    matrix => u(:, 2:4)
    call anadrome_add_field(run, "columns", ANADROME_ROLE_STATE, matrix, status)
    call expect_status(status, ANADROME_OK, "columns are contiguous")
    matrix => u(3:5, 2:2)
    call anadrome_add_field(run, "part", ANADROME_ROLE_STATE, matrix, status)
    call expect_status(status, ANADROME_OK, "a part of one column is contiguous")
    matrix => u(2:2, 3:5)
    call anadrome_add_field(run, "across", ANADROME_ROLE_STATE, matrix, status)
    call expect_status(status, ANADROME_ERR_ARGUMENT, "a part of one row is not")
    call anadrome_begin(run, 3_int64, status)
    call expect_status(status, ANADROME_ERR_ARGUMENT, "what was refused is missing at begin")
    call expect_words("an earlier call failed: add_field: the array of field 'row'")
    call anadrome_add_exchanged(run, "tape", ANADROME_ROLE_TAPE, ANADROME_FLOAT64, 3, field, status)
    call expect_status(status, ANADROME_ERR_UNSUPPORTED, "only states are exchanged")
    call expect_words("add_exchanged")
    call anadrome_close(run)
  end subroutine refused
end program fields_test

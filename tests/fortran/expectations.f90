! SPDX-License-Identifier: BSD-2-Clause
! Counts what did not hold, and says it; a test program ends with `conclude`.
module expectations
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08
  use anadrome, only: anadrome_last_error
  implicit none
  private
  public :: expect, expect_status, expect_words, conclude, directory

  integer :: failures = 0, held = 0

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) then
      held = held + 1
    else
      failures = failures + 1
      write (error_unit, "(a)") "does not hold: "//what
    end if
  end subroutine expect

  subroutine expect_status(status, expected, what)
    integer, intent(in) :: status, expected
    character(*), intent(in) :: what
    call expect(status == expected, what//": "//anadrome_last_error())
  end subroutine expect_status

  ! The last failure says `words`.
  subroutine expect_words(words)
    character(*), intent(in) :: words
    call expect(index(anadrome_last_error(), words) > 0, "'"//words//"' in '"//anadrome_last_error()//"'")
  end subroutine expect_words

  ! Where state files go: the first argument.
  function directory() result(path)
    character(:), allocatable :: path
    character(1024) :: argument
    call get_command_argument(1, argument)
    path = trim(argument)
  end function directory

  ! `expected` expectations held on this rank, and no other was.
  subroutine conclude(expected)
    integer, intent(in) :: expected
    if (held /= expected) call expect(.false., "the number of expectations is right")
    call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call MPI_Finalize()
    if (failures > 0) stop 1, quiet=.true.
    print "(i0,a)", held, " expectations"
  end subroutine conclude
end module expectations

! SPDX-License-Identifier: BSD-2-Clause
! States of a time-dependent simulation, given back in reverse: the Fortran interface. No comment of Doxygen's: the
! namespace of C++ has the same name there. The conventions are
! those of anadrome.h: steps count from 0, x_k is what step k starts from.
!
! - `ierr`, the optional last argument, is ANADROME_OK or why a call failed; anadrome_last_error() says it in
!   words. A failure that is not asked for ends the program, as with `allocate` without `stat=`.
! - Registered arrays have the TARGET attribute (the compiler demands it) and are contiguous. In procedures
!   where such an array is a dummy argument, anadrome_next changes it only if the dummy is a TARGET too.
module anadrome
  use anadrome_types
  use anadrome_runs
  use anadrome_fields
  use anadrome_models
  use anadrome_stores
  use anadrome_schedules
  use anadrome_sketches
  use anadrome_kinds_of_4_bytes
  use anadrome_kinds_of_8_bytes
  implicit none
  public
  ! What these modules have for each other.
  private :: settle, copied, add, model_pointer, callbacks_of, part_of, are_right, matches
end module anadrome

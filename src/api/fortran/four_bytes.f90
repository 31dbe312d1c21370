! SPDX-License-Identifier: BSD-2-Clause
! Procedures that are alike for numbers of 4 bytes and of 8 are written once, in either_kind.inc. Generic names of one
! name come together where both modules are used. gfortran 12 mistakes interfaces of two modules of one file for one.
module anadrome_topics
  use anadrome_c_interface
  use anadrome_fields
  use anadrome_models
  use anadrome_runs
  use anadrome_schedules
  use anadrome_sketches
  use anadrome_stores
  implicit none
end module anadrome_topics

module anadrome_kinds_of_4_bytes
  use anadrome_topics
  use, intrinsic :: iso_c_binding, only: int32_or_int64 => c_int32_t, real32_or_real64 => c_float
  include "either_kind.inc"
end module anadrome_kinds_of_4_bytes

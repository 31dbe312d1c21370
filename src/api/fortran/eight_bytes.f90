! SPDX-License-Identifier: BSD-2-Clause
! What four_bytes.f90 has, for numbers of 8 bytes.
module anadrome_kinds_of_8_bytes
  use anadrome_topics
  use, intrinsic :: iso_c_binding, only: int32_or_int64 => c_int64_t, real32_or_real64 => c_double
  include "either_kind.inc"
end module anadrome_kinds_of_8_bytes

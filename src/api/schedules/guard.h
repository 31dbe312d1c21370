// SPDX-License-Identifier: BSD-2-Clause
// The one place where an exception becomes a status, so that none leaks into a C or Fortran frame,
// and where the caller's floating-point environment is left.
#pragma once

#include <anadrome/export.h>

#include "base/arithmetic.h"
#include "base/error.h"

/// Keeps a failure's line for anadrome_last_error, in this thread's fixed memory: of both
/// libraries, of which libanadrome_schedules has it.
extern "C" ANADROME_API void anadrome_keep_error(const char* message) noexcept;

namespace anadrome::api {

template <class Body>
anadrome_status guard(Body&& body) noexcept {
  const OwnArithmetic own;
  try {
    body();
    return ANADROME_OK;
  } catch (...) {
    const Failure failure = current_failure();
    anadrome_keep_error(failure.message.c_str());
    return failure.status;
  }
}

inline void require(bool condition, const char* message) {
  if (!condition) throw Error(ANADROME_ERR_ARGUMENT, message);
}

}  // namespace anadrome::api

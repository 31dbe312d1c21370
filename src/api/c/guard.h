// SPDX-License-Identifier: BSD-2-Clause
// The one place where an exception becomes a status, so that none leaks into a C or Fortran frame,
// and where the caller's floating-point environment is left.
#pragma once

#include <string>

#include "base/arithmetic.h"
#include "base/error.h"

namespace anadrome::api {

/// Keeps the failure's line for anadrome_last_error, in this thread's fixed memory.
void remember(const std::string& message) noexcept;

template <class Body>
anadrome_status guard(Body&& body) noexcept {
  const OwnArithmetic own;
  try {
    body();
    return ANADROME_OK;
  } catch (...) {
    const Failure failure = current_failure();
    remember(failure.message);
    return failure.status;
  }
}

inline void require(bool condition, const char* message) {
  if (!condition) throw Error(ANADROME_ERR_ARGUMENT, message);
}

}  // namespace anadrome::api

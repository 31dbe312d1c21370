// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic on sizes that says so instead of wrapping round.
#pragma once

#include <cstdint>

#include "base/error.h"

namespace anadrome {

inline std::int64_t checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) throw Error(ANADROME_ERR_ARGUMENT, "a size overflows");
  return sum;
}

inline std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw Error(ANADROME_ERR_ARGUMENT, "a size overflows");
  }
  return product;
}

/// a rounded up to a multiple of `unit`; a >= 0, unit > 0.
inline std::int64_t round_up(std::int64_t a, std::int64_t unit) {
  return checked_multiply(a / unit + (a % unit != 0), unit);
}

inline std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0); }

}  // namespace anadrome

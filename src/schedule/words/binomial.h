// SPDX-License-Identifier: BSD-2-Clause
// Binomials in 128 bits, one factor at a time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace anadrome::schedule {

__extension__ typedef unsigned __int128 uint128;

/// For products of such numbers; value >= 0.
constexpr uint128 wide(std::int64_t value) { return static_cast<uint128>(value); }

/// a * factor / divisor, which must be whole; a * factor below 2^128.
inline uint128 times_over(uint128 a, std::int64_t factor, std::int64_t divisor) {
  const auto f = static_cast<std::uint64_t>(factor);
  const auto d = static_cast<std::uint64_t>(divisor);
  if (a < (uint128{1} << 40) && f < (std::uint64_t{1} << 24)) {
    return static_cast<std::uint64_t>(a) * f / d;  // a 128-bit division takes several times as long
  }
  return a * f / d;
}

/// C(a + b, b), or something above 2^63 if it is above 2^63. 0 <= a, b < 2^63.
inline uint128 binomial(std::int64_t a, std::int64_t b) {
  const std::int64_t few = std::min(a, b), many = std::max(a, b);
  uint128 value = 1;
  for (std::int64_t i = 1; i <= few && value <= uint128{1} << 63; ++i) {
    value = times_over(value, many + i, i);
  }
  return value;
}

}  // namespace anadrome::schedule

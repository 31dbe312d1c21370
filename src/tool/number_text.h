// SPDX-License-Identifier: BSD-2-Clause
// Numbers as people write them, without loss: decimals of any unit, and 128-bit results.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/words.h"
#include "schedule/words/revolve.h"

namespace anadrome::tool {

using schedule::uint128;
using schedule::wide;

/// value / 10^digits, exactly.
struct Decimal {
  std::int64_t value = 0;
  int digits = 0;

  static constexpr int kMostDigits = 9;
  double as_double() const;
  /// In units of 10^-digits; `to_digits` >= digits. Throws ERR_ARGUMENT if that is above 2^62.
  std::int64_t ticks(int to_digits) const;
};

/// "20" or "0.125": not negative, at most 2^62 and nine digits after the point. Throws
/// ERR_ARGUMENT, naming `flag`.
Decimal parse_decimal(std::string_view flag, std::string_view text);

std::string decimal_text(uint128 number);
/// number / 10^digits.
std::string decimal_text(uint128 number, int digits);

/// 31234567 -> "3e7": absurd answers are short, too.
std::string power_text(double number);

/// "8.0 GiB" for any number of bytes.
std::string bytes_text(uint128 bytes);

/// "+3.1 %", or "x 12" beyond ten times as much.
std::string change_text(double factor);

/// "2 h 10 min", and days and years beyond what format_seconds is good for.
std::string duration_text(double seconds);

/// a * b and a + b. Throw ERR_ARGUMENT if that takes more than 128 bits.
uint128 checked_multiply(uint128 a, uint128 b);
uint128 checked_add(uint128 a, uint128 b);

}  // namespace anadrome::tool

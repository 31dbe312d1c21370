// SPDX-License-Identifier: BSD-2-Clause
#include "tool/number_text.h"

#include <algorithm>
#include <cmath>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/index.h"
#include "base/text_out.h"
#include "base/words.h"

namespace anadrome::tool {
namespace {

constexpr std::int64_t kMost = schedule::kMostSteps;

[[noreturn]] void refuse(std::string_view flag, std::string_view text, const std::string& wanted) {
  throw Error(ANADROME_ERR_ARGUMENT,
              std::string(flag) + ": expected " + wanted + ", not '" + std::string(text) + "'");
}

}  // namespace

double Decimal::as_double() const { return real(value) / std::pow(10.0, digits); }

std::int64_t Decimal::ticks(int to_digits) const {
  std::int64_t number = value;
  for (int i = digits; i < to_digits; ++i) {
    if (number > kMost / 10) {
      throw Error(ANADROME_ERR_ARGUMENT, decimal_text(wide(value), digits) +
                                             " is too large beside costs with " +
                                             std::to_string(to_digits) + " digits after the point");
    }
    number *= 10;
  }
  return number;
}

Decimal parse_decimal(std::string_view flag, std::string_view text) {
  constexpr const char* kWanted = "a number from 0 to 2^62 with at most 9 digits after the point";
  const auto point = text.find('.');
  Decimal decimal;
  if (point == std::string_view::npos) {
    if (!read_count(text, decimal.value)) refuse(flag, text, kWanted);
    return decimal;
  }
  std::string digits(text.substr(0, point));
  std::string_view after = text.substr(point + 1);
  while (!after.empty() && after.back() == '0') after.remove_suffix(1);
  digits += after;
  const bool plain =
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (text.size() == 1 || !plain || after.size() > Decimal::kMostDigits ||
      !read_count(digits.empty() ? "0" : digits, decimal.value)) {
    refuse(flag, text, kWanted);
  }
  decimal.digits = static_cast<int>(after.size());
  return decimal;
}

std::string decimal_text(uint128 number) {
  std::string text;
  do {
    text += static_cast<char>('0' + static_cast<int>(number % 10));
    number /= 10;
  } while (number > 0);
  std::reverse(text.begin(), text.end());
  return text;
}

std::string decimal_text(uint128 number, int digits) {
  std::string text = decimal_text(number);
  if (digits == 0) return text;
  const auto places = size(digits);
  if (text.size() <= places) text.insert(0, places + 1 - text.size(), '0');
  text.insert(text.size() - places, ".");
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string power_text(double number) {
  if (number < 9999.5) return format_fixed(number, 0);
  const int exponent = static_cast<int>(std::floor(std::log10(number)));
  return format_fixed(std::round(number / std::pow(10.0, exponent)), 0) + "e" +
         std::to_string(exponent);
}

std::string bytes_text(uint128 bytes) {
  constexpr uint128 kExbibyte = uint128{1} << 60;
  if (bytes < 1000 * kExbibyte / 1024) return format_bytes(static_cast<std::int64_t>(bytes));
  return power_text(std::ldexp(static_cast<double>(bytes), -60)) + " EiB";
}

std::string change_text(double factor) {
  const double percent = 100 * (factor - 1);
  constexpr double kManyTimes = 10;
  if (factor >= kManyTimes) {
    return "x " + (factor < 99.95 ? format_fixed(factor, 1) : power_text(factor));
  }
  if (std::fabs(percent) < 0.05) return "0 %";
  return (percent < 0 ? "" : "+") +
         format_number(percent, std::chars_format::fixed, std::fabs(percent) < 99.5 ? 1 : 0) + " %";
}

std::string duration_text(double seconds) {
  constexpr double kHour = 3600, kDay = 24 * kHour, kYear = 365.25 * kDay;
  if (seconds < 48 * kHour) return format_seconds(seconds);
  if (seconds >= 2 * kYear) return power_text(seconds / kYear) + " years";
  return in_two_units(std::round(seconds / kHour), 24, " d ", " h");
}

uint128 checked_multiply(uint128 a, uint128 b) {
  uint128 product;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw Error(ANADROME_ERR_ARGUMENT, "a result needs more than 128 bits");
  }
  return product;
}

uint128 checked_add(uint128 a, uint128 b) {
  uint128 sum;
  if (__builtin_add_overflow(a, b, &sum)) {
    throw Error(ANADROME_ERR_ARGUMENT, "a result needs more than 128 bits");
  }
  return sum;
}

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
#include "base/byte_size.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/index.h"
#include "base/text_out.h"

namespace anadrome {
namespace {

[[noreturn]] void refuse(std::string_view text, const char* example) {
  throw Error(ANADROME_ERR_ARGUMENT,
              "'" + std::string(text) + "' is not understood; write it like " + example +
                  (text.ends_with(',') || text.ends_with(';') ? "; blanks separate options" : ""));
}

// The factor of a unit, 0 if there is no such unit. The case of letters does not matter ("gib").
double factor_of(std::string_view unit) {
  if (unit.empty() || unit == "B" || unit == "b") return 1;
  constexpr std::string_view kPrefixes = "KMGTP";
  const char letter = static_cast<char>(unit.front() & ~0x20);
  const auto power = kPrefixes.find(letter);
  if (power == std::string_view::npos) return 0;
  const auto rest = unit.substr(1);
  const double exponent = static_cast<double>(power + 1);
  if (rest.empty() || rest == "iB" || rest == "ib" || rest == "IB")
    return std::pow(1024.0, exponent);
  if (rest == "B" || rest == "b") return std::pow(1000.0, exponent);
  return 0;
}

std::int64_t parse(std::string_view text, std::string_view number, const char* example) {
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || value < 0) refuse(text, example);
  auto unit = number.substr(static_cast<std::size_t>(end - number.data()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const double factor = factor_of(unit);
  if (factor == 0) refuse(text, example);
  const double bytes = value * factor;
  if (bytes >= 9.2e18) {
    throw Error(ANADROME_ERR_ARGUMENT, "'" + std::string(text) + "' is too large");
  }
  return static_cast<std::int64_t>(std::llround(bytes));
}

std::string with_digits(double number, int digits) {
  return format_number(number, std::chars_format::fixed, digits);
}
std::string three_digits(double number) {
  return format_number(number, std::chars_format::general, 3);
}

}  // namespace

std::string in_two_units(double number, double per_unit, const char* unit, const char* rest) {
  const double left = std::fmod(number, per_unit);
  return with_digits(std::floor(number / per_unit), 0) + unit + (left < 10 ? "0" : "") +
         with_digits(left, 0) + rest;
}

std::int64_t parse_bytes(std::string_view text) { return parse(text, text, "8GiB"); }

std::int64_t parse_rate(std::string_view text) {
  constexpr const char* kExample = "500MB/s";
  if (text.size() < 3 || text.substr(text.size() - 2) != "/s") refuse(text, kExample);
  const std::int64_t rate = parse(text, text.substr(0, text.size() - 2), kExample);
  if (rate <= 0) refuse(text, kExample);
  return rate;
}

double parse_seconds(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 8> kUnits = {{{"", 1},
                                                                                 {"ns", 1e-9},
                                                                                 {"us", 1e-6},
                                                                                 {"ms", 1e-3},
                                                                                 {"s", 1},
                                                                                 {"min", 60},
                                                                                 {"h", 3600},
                                                                                 {"d", 86400}}};
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  auto unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  for (const auto& [name, factor] : kUnits) {
    const bool read = error == std::errc{} && unit == name;
    if (read && value >= 0 && value * factor <= 1e18) return value * factor;
  }
  throw Error(
      ANADROME_ERR_ARGUMENT,
      "expected a number of seconds, e.g. 0.08, 80ms or 25min, not '" + std::string(text) + "'");
}

std::string format_bytes(std::int64_t bytes) {
  static constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = real(bytes);
  std::size_t unit = 0;
  // A value that rounds to 1024 goes to the next unit; bytes are not rounded.
  while (std::fabs(value) >= (unit == 0 ? 1024 : 1023.5) && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  const double size = std::fabs(value);
  const int digits = unit == 0 ? 0 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  return with_digits(value, digits) + " " + kUnits[unit];
}

std::string format_rate(double bytes_per_second) {
  static constexpr std::array kUnits = {"B/s", "KB/s", "MB/s", "GB/s", "TB/s"};
  double value = bytes_per_second;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return three_digits(value) + " " + kUnits[unit];
}

std::string counted(std::int64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string format_seconds(double seconds) {
  // Each limit lies where three digits would be rounded up to the next unit.
  if (seconds < 999.5e-9) return with_digits(seconds * 1e9, 0) + " ns";
  if (seconds < 999.5e-6) return three_digits(seconds * 1e6) + " us";
  if (seconds < 0.9995) return three_digits(seconds * 1e3) + " ms";
  if (seconds < 119.5) return three_digits(seconds) + " s";
  if (seconds < 3599.5) return in_two_units(std::round(seconds), 60, " min ", " s");
  return in_two_units(std::round(seconds / 60), 60, " h ", " min");
}

}  // namespace anadrome

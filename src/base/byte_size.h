// SPDX-License-Identifier: BSD-2-Clause
// Sizes, rates and times as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace anadrome {

/// "8GiB", "1.5 MB", "4096" -> bytes. Units: B, KB MB GB TB PB (powers of 1000), KiB .. PiB (of
/// 1024), K .. P (of 1024, as batch systems have them). Throws ERR_ARGUMENT on anything else, a
/// negative number or an overflow.
std::int64_t parse_bytes(std::string_view text);

/// "500MB/s" -> bytes per second, > 0.
std::int64_t parse_rate(std::string_view text);

/// 1572864 -> "1.50 MiB".
std::string format_bytes(std::int64_t bytes);

/// "80ms", "1.5s", "30d", "0.08" (seconds) -> seconds, 0 to 1e18. Units: ns us ms s min h d.
double parse_seconds(std::string_view text);

/// Bytes per second as parse_rate reads them: 15300000 -> "15.3 MB/s".
std::string format_rate(double bytes_per_second);

/// 1 slot, 2 slots.
std::string counted(std::int64_t count, const char* noun);

/// 75 of 60 a unit -> "1 min 15 s", with two digits of the smaller unit.
std::string in_two_units(double number, double per_unit, const char* unit, const char* rest);

/// 0.00312 -> "3.12 ms"; 4000 -> "1 h 07 min".
std::string format_seconds(double seconds);

}  // namespace anadrome

// SPDX-License-Identifier: BSD-2-Clause
// Long texts in pieces: what is put is collected and handed to a sink a chunk at a time, so that a
// file of any length takes little memory. Numbers do not follow the caller's locale.
#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace anadrome {

class TextOut {
 public:
  /// put, integer, fixed and flush throw what the sink throws.
  using Sink = std::function<void(std::string_view)>;
  explicit TextOut(Sink sink) : sink_(std::move(sink)) { buffer_.reserve(kChunk + 256); }

  TextOut& put(std::string_view text);
  TextOut& integer(std::int64_t number);
  /// At most `digits` digits after the point, without zeros at the end; 0 if not finite.
  TextOut& fixed(double number, int digits);
  void flush();

 private:
  static constexpr std::size_t kChunk = std::size_t{1} << 16;
  Sink sink_;
  std::string buffer_;
};

/// As TextOut::fixed puts it.
std::string format_fixed(double number, int digits);

/// As printf's %.*f, %.*e and %.*g, which follow the locale.
std::string format_number(double number, std::chars_format format, int digits);

/// The shortest text that is this number and no other.
std::string format_in_full(double number);

/// "2026-01-31 12:00:00 UTC", of seconds since 1970.
std::string format_calendar(std::int64_t seconds);

}  // namespace anadrome

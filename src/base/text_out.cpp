// SPDX-License-Identifier: BSD-2-Clause
#include "base/text_out.h"

#include <array>
#include <charconv>
#include <cmath>
#include <ctime>

#include "base/index.h"

namespace anadrome {

std::string format_number(double number, std::chars_format format, int digits) {
  std::array<char, 384> text;  // the largest double, and as many digits as anybody asks for
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), number, format, digits);
  return error == std::errc{} ? std::string(text.data(), end) : "?";
}

std::string format_fixed(double number, int digits) {
  const std::string text =
      format_number(std::isfinite(number) ? number : 0, std::chars_format::fixed, digits);
  std::string_view written = text;
  if (written.find('.') != std::string_view::npos) {
    written.remove_suffix(written.size() - 1 - written.find_last_not_of('0'));
    if (written.back() == '.') written.remove_suffix(1);
  }
  return written == "-0" ? "0" : std::string(written);
}

std::string format_calendar(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  std::array<char, 40> text;
  if (::gmtime_r(&time, &parts) == nullptr) return "?";
  const std::size_t length =
      std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts);
  return {text.data(), length};
}

TextOut& TextOut::put(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kChunk) flush();
  return *this;
}

TextOut& TextOut::integer(std::int64_t number) {
  std::array<char, 24> text;
  const auto result = std::to_chars(text.data(), text.data() + text.size(), number);
  return put({text.data(), size(result.ptr - text.data())});
}

TextOut& TextOut::fixed(double number, int digits) { return put(format_fixed(number, digits)); }

void TextOut::flush() {
  if (!buffer_.empty()) sink_(buffer_);
  buffer_.clear();
}

std::string format_in_full(double number) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end};
}

}  // namespace anadrome

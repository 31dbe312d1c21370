// SPDX-License-Identifier: BSD-2-Clause
#include "base/plain_text.h"

#include <algorithm>
#include <cstdint>

namespace anadrome {
namespace {

constexpr std::uint32_t kNoCharacter = 0;

// The character that begins here in UTF-8, and its length; kNoCharacter: none does.
std::uint32_t character_at(const char* text, std::size_t bytes, std::size_t& length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  length = 1;
  if (byte(0) < 0x80) return byte(0);
  const std::size_t more = byte(0) >= 0xf0 ? 3 : byte(0) >= 0xe0 ? 2 : 1;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || more >= bytes) return kNoCharacter;
  std::uint32_t code = byte(0) & (0x3fU >> more);
  for (std::size_t i = 1; i <= more; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return kNoCharacter;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kLeast[more] || code > 0x10ffff || surrogate) return kNoCharacter;
  length = more + 1;
  return code;
}

bool is_plain(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  // Line and paragraph separators, marks and overrides of the direction of writing.
  const bool orders = (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
                      code == 0x061c || code == 0x200e || code == 0x200f;
  return !control && !orders;
}

}  // namespace

void make_plain(char* text, std::size_t bytes) noexcept {
  for (std::size_t at = 0, length = 0; at < bytes; at += length) {
    const std::uint32_t code = character_at(text + at, bytes - at, length);
    if (!is_plain(code)) std::fill_n(text + at, length, '?');
  }
}

std::string plain(std::string_view text) {
  std::string result(text);
  make_plain(result.data(), result.size());
  return result;
}

}  // namespace anadrome

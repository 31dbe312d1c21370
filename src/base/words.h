// SPDX-License-Identifier: BSD-2-Clause
// Words as people write them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace anadrome {

/// "Revolve" -> "revolve": words are understood in any case.
inline std::string in_small_letters(std::string_view word) {
  std::string small(word);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return small;
}

/// The one of `words`, which are some, that differs from `word` in the fewest letters.
std::string_view nearest(std::span<const std::string_view> words, std::string_view word);

/// Hands over each "key=value" of a text in which blanks separate them. Throws ERR_ARGUMENT on a
/// word that is none.
void each_setting(std::string_view text,
                  const std::function<void(std::string_view key, std::string_view value)>& take);

/// "FIRST,LAST"; or one word for both. A comma in a word is written as backslash comma. Throws
/// ERR_ARGUMENT if there are more.
struct TwoWords {
  std::string first, last;
  bool are_two = false;
};
TwoWords two_words(std::string_view text);
std::string with_commas_escaped(const std::string& word);

/// Digits, with an exponent or without: false if it is anything else, or above 2^62.
bool read_count(std::string_view text, std::int64_t& number);

/// "100000" or "1e5", least <= number <= most <= 2^62. Throws ERR_ARGUMENT, naming `flag`.
std::int64_t parse_count(std::string_view flag, std::string_view text, std::int64_t least,
                         std::int64_t most);

}  // namespace anadrome

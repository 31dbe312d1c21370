// SPDX-License-Identifier: BSD-2-Clause
#include "base/words.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/index.h"

namespace anadrome {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 62;

// Levenshtein's distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replace, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest(std::span<const std::string_view> words, std::string_view word) {
  std::vector<std::size_t> distances;
  for (const std::string_view known : words) distances.push_back(distance(known, word));
  const auto least = std::min_element(distances.begin(), distances.end());
  return words[at(least - distances.begin())];
}

void each_setting(std::string_view text,
                  const std::function<void(std::string_view key, std::string_view value)>& take) {
  constexpr std::string_view kBlank = " \t\n";
  for (;;) {
    const auto begin = text.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return;
    text.remove_prefix(begin);
    const auto word = text.substr(0, text.find_first_of(kBlank));
    text.remove_prefix(word.size());
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) {
      throw Error(ANADROME_ERR_ARGUMENT, "'" + std::string(word) + "' is not key=value");
    }
    take(word.substr(0, equals), word.substr(equals + 1));
  }
}

std::string with_commas_escaped(const std::string& word) {
  std::string text;
  for (const char c : word) text += c == ',' ? std::string("\\,") : std::string(1, c);
  return text;
}

TwoWords two_words(std::string_view text) {
  TwoWords words;
  std::string word;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ',';
    if (escaped) ++i;
    if (text[i] != ',' || escaped) {
      word += text[i];
      continue;
    }
    if (words.are_two) {
      throw Error(ANADROME_ERR_ARGUMENT, "'" + std::string(text) + "' has more than two values");
    }
    words.are_two = true;
    words.first = std::exchange(word, {});
  }
  words.last = std::move(word);
  if (!words.are_two) words.first = words.last;
  return words;
}

bool read_count(std::string_view text, std::int64_t& number) {
  const char* const end = text.data() + text.size();
  const auto [mantissa_end, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || number < 0 || number > kMost || text.front() == '-') return false;
  if (mantissa_end == end) return true;
  if (*mantissa_end != 'e' && *mantissa_end != 'E') return false;
  int exponent = 0;
  const auto [last, exponent_error] = std::from_chars(mantissa_end + 1, end, exponent);
  if (exponent_error != std::errc{} || last != end || exponent < 0) return false;
  for (; exponent > 0 && number > 0; --exponent) {
    if (number > kMost / 10) return false;
    number *= 10;
  }
  return true;
}

std::int64_t parse_count(std::string_view flag, std::string_view text, std::int64_t least,
                         std::int64_t most) {
  std::int64_t number = 0;
  if (!read_count(text, number) || number < least || number > most) {
    throw Error(ANADROME_ERR_ARGUMENT, std::string(flag) + ": expected a whole number from " +
                                           std::to_string(least) + " to " +
                                           (most == kMost ? "2^62" : std::to_string(most)) +
                                           ", not '" + std::string(text) + "'");
  }
  return number;
}

}  // namespace anadrome

// SPDX-License-Identifier: BSD-2-Clause
// Words as people write them.
#pragma once

#include <algorithm>
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

}  // namespace anadrome

// SPDX-License-Identifier: BSD-2-Clause
#include "tool/exact_json.h"

#include <charconv>

namespace anadrome::tool {

nlohmann::ordered_json exact_json(uint128 number) {
  constexpr uint128 kExactInDoubles = uint128{1} << 53;
  if (number < kExactInDoubles) return static_cast<std::uint64_t>(number);
  return decimal_text(number);
}

double parse_double(std::string_view text) {
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

nlohmann::ordered_json time_json(std::int64_t ticks, int digits) {
  const std::string text = decimal_text(wide(ticks), digits);
  if (text.find('.') == std::string::npos) {
    return exact_json(wide(parse_decimal("", text).value));
  }
  return parse_double(text);
}

std::string lines_of(const nlohmann::ordered_json& json) {
  std::string text;
  for (const auto& [key, value] : json.items()) {
    constexpr std::size_t kLabel = 12;
    const std::string number = value.is_string() ? value.get<std::string>() : value.dump();
    text += key + std::string(key.size() < kLabel ? kLabel - key.size() : 1, ' ') + number + "\n";
  }
  return text;
}

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
#include "tool/exact_json.h"

#include <charconv>

namespace anadrome::tool {

nlohmann::ordered_json exact_json(uint128 number) {
  constexpr uint128 kExactInDoubles = uint128{1} << 53;
  if (number < kExactInDoubles) return static_cast<std::uint64_t>(number);
  return decimal_text(number);
}

nlohmann::ordered_json exact_json(std::int64_t number) { return exact_json(wide(number)); }

nlohmann::ordered_json decimal_json(uint128 number, int digits, std::size_t most_letters) {
  const std::string text = decimal_text(number, digits);
  if (text.find('.') == std::string::npos) {
    for (int i = 0; i < digits; ++i) number /= 10;
    return exact_json(number);
  }
  if (text.size() > most_letters) return text;
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
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

// SPDX-License-Identifier: BSD-2-Clause
// Numbers of any length as JSON, without loss.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "tool/number_text.h"

namespace anadrome::tool {

/// A JSON number below 2^53, which every reader takes exactly; a string of decimal digits beyond.
nlohmann::ordered_json exact_json(uint128 number);

/// Of a decimal number, with a point whatever the locale is.
double parse_double(std::string_view text);

/// ticks / 10^digits, where as many digits as a double has are enough.
nlohmann::ordered_json time_json(std::int64_t ticks, int digits);

/// The answer to a question as lines "key  value".
std::string lines_of(const nlohmann::ordered_json& json);

}  // namespace anadrome::tool

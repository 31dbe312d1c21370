// SPDX-License-Identifier: BSD-2-Clause
// Numbers of any length as JSON, without loss.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "tool/number_text.h"

namespace anadrome::tool {

/// A JSON number below 2^53, which every reader takes exactly; a string of decimal digits beyond.
nlohmann::ordered_json exact_json(uint128 number);
nlohmann::ordered_json exact_json(std::int64_t number);

/// number / 10^digits: as above if that is whole, else a double; a string where it would have more
/// letters than `most_letters`.
nlohmann::ordered_json decimal_json(uint128 number, int digits,
                                    std::size_t most_letters = std::string::npos);

/// The answer to a question as lines "key  value".
std::string lines_of(const nlohmann::ordered_json& json);

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
#include "tool/solve/questions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"

namespace anadrome::tool {
namespace {

Decimal decimal_of(const nlohmann::json& number) {
  if (!number.is_number()) throw Error(ANADROME_ERR_ARGUMENT, "--costs: expected a number");
  if (!number.is_number_float()) return parse_decimal("--costs", number.dump());
  std::array<char, 400> text;  // the longest is that of the smallest number
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number.get<double>(),
                                 std::chars_format::fixed);
  return parse_decimal("--costs", std::string(text.data(), end.ptr));
}

std::vector<Decimal> decimals_of(const nlohmann::json& json, const char* key) {
  if (!json.contains(key) || !json[key].is_array()) {
    throw Error(ANADROME_ERR_ARGUMENT, std::string("--costs: there is no array \"") + key + "\"");
  }
  std::vector<Decimal> values;
  for (const auto& number : json[key]) values.push_back(decimal_of(number));
  return values;
}

std::vector<std::int64_t> counts_of(const nlohmann::json& json, const char* key) {
  std::vector<std::int64_t> counts;
  for (const Decimal& size : decimals_of(json, key)) {
    if (size.digits > 0) {
      throw Error(ANADROME_ERR_ARGUMENT, std::string("--costs: \"") + key + "\" are whole numbers");
    }
    counts.push_back(size.value);
  }
  return counts;
}

ChainCosts costs_of_json(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) throw Error(ANADROME_ERR_ARGUMENT, "--costs: not a JSON object");
  ChainCosts costs;
  costs.forward = decimals_of(json, "f");
  costs.adjoint = decimals_of(json, "b");
  costs.units = counts_of(json, "a");
  if (json.contains("tape")) costs.tape_units = counts_of(json, "tape");
  if (json.contains("transfer")) costs.write = costs.read = decimals_of(json, "transfer");
  if (json.contains("write")) costs.write = decimals_of(json, "write");
  if (json.contains("read")) costs.read = decimals_of(json, "read");
  return costs;
}

// A line per step: f b a, or f b a tape.
ChainCosts costs_of_lines(const std::string& text) {
  ChainCosts costs;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string f, b, a, tape, more;
    if (!(words >> f)) continue;
    if (!(words >> b >> a) || (words >> tape && words >> more)) {
      throw Error(ANADROME_ERR_ARGUMENT,
                  "--costs: a line has f, b, a and maybe a tape, not '" + line + "'");
    }
    if (tape.empty() != costs.tape_units.empty() && !costs.units.empty()) {
      throw Error(ANADROME_ERR_ARGUMENT, "--costs: expected tapes in every line or in none");
    }
    if (!tape.empty()) {
      costs.tape_units.push_back(parse_count("--costs", tape, 0, schedule::kMostSteps));
    }
    costs.forward.push_back(parse_decimal("--costs", f));
    costs.adjoint.push_back(parse_decimal("--costs", b));
    costs.units.push_back(parse_count("--costs", a, 0, schedule::kMostSteps));
  }
  return costs;
}

}  // namespace

ChainCosts chain_costs(const std::string& file) {
  const std::string text = text_of_file("--costs", file);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string::npos && text[first] == '{';
  return json ? costs_of_json(text) : costs_of_lines(text);
}

int digits_of(const ChainCosts& costs) {
  int digits = 0;
  for (const auto* values : {&costs.forward, &costs.adjoint, &costs.write, &costs.read}) {
    for (const Decimal& value : *values) digits = std::max(digits, value.digits);
  }
  return digits;
}

std::vector<std::int64_t> ticks_of(const std::vector<Decimal>& times, int digits) {
  std::vector<std::int64_t> ticks;
  for (const Decimal& time : times) ticks.push_back(time.ticks(digits));
  return ticks;
}

}  // namespace anadrome::tool

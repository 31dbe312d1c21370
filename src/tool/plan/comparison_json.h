// The same for programs, and what --abstract prints.
#pragma once

#include <nlohmann/json.hpp>

#include "tool/plan/comparison.h"

namespace anadrome::tool {

nlohmann::ordered_json comparison_json(const Comparison& comparison);

nlohmann::ordered_json counts_json(const char* schedule, const Problem& problem,
                                   const Counts& counts);

}  // namespace anadrome::tool

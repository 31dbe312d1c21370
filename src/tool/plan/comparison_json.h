// SPDX-License-Identifier: BSD-2-Clause
// The comparison for programs.
#pragma once

#include <nlohmann/json.hpp>

#include "tool/plan/comparison.h"

namespace anadrome::tool {

nlohmann::ordered_json comparison_json(const Comparison& comparison);

}  // namespace anadrome::tool

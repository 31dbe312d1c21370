// SPDX-License-Identifier: BSD-2-Clause
// The file of --costs: what each step costs, and how large each state is.
#pragma once

#include <string>

#include "tool/schedules/problems/problem.h"

namespace anadrome::tool {

/// Fills in problem.step_costs and problem.state_bytes from problem.steps lines "cost" or
/// "cost bytes"; '#' begins a remark. Throws ERR_ARGUMENT, naming the line.
void read_step_costs(const std::string& file, Problem& problem);

}  // namespace anadrome::tool

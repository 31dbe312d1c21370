// SPDX-License-Identifier: BSD-2-Clause
// A sweep's actions as JSON, one object a line, as they come: no sweep is too long.
#pragma once

#include "base/text_out.h"
#include "tool/schedules/problems/problem.h"

namespace anadrome::tool {

/// Throws what the sink throws.
void write_actions(const ActionSource& next, TextOut& out);

}  // namespace anadrome::tool

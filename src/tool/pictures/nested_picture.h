// SPDX-License-Identifier: BSD-2-Clause
// A nested sweep of one of the questions, drawn as the schedules are: a forward step takes a second
// and an adjoint step two.
#pragma once

#include "tool/pictures/sweep_picture.h"
#include "tool/schedules/problems/problem.h"

namespace anadrome::tool {

/// `counts` of what is played. `sweep` as for nested_actions; its tapes and disk slots are drawn.
void draw_nested(const char* name, const std::string& remark, const Problem& sweep,
                 const Counts& counts, const std::function<ActionSource()>& actions, TextOut& out);

}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
// The plan of a join as actions, each branch by Revolve between the states that stay.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "planners/join/join_problem.h"

namespace anadrome::questions {

enum class JoinKind : std::uint8_t {
  kAdvance,  ///< of `branch`, from x_first to x_last; `keep`: x_first stays
  kDrop,     ///< x_first makes room
  kTurn,     ///< all ends are there; they make room
  kAdjoint,  ///< of step first, whose state x_first is there
};

struct JoinAction {
  JoinKind kind = JoinKind::kTurn;
  std::int64_t branch = 0, first = 0, last = 0;
  bool keep = false;
};

/// One after the other, in memory that does not grow with their number.
void visit_actions(const schedule::JoinProblem& problem, const schedule::JoinPlan& plan,
                   const std::function<void(const JoinAction&)>& visit);
std::vector<JoinAction> actions_of(const schedule::JoinProblem& problem,
                                   const schedule::JoinPlan& plan);

}  // namespace anadrome::questions

// SPDX-License-Identifier: BSD-2-Clause
// Joins whose exact table is too large: two ways to place the cuts, each at most a few per cent off
// on all cases that an exact plan was compared with, and nearly never both.
#pragma once

#include <vector>

#include "planners/join/join_problem.h"

namespace anadrome::schedule {

/// The better of: branch after branch, with the best cuts for that; and the shortest segment on
/// top first, its cuts moved one at a time as long as that helps. Tables take up to `most_bytes`,
/// or 128 bytes per branch if that is more. Empty: it cannot be done.
std::vector<JoinSegment> join_by_heuristics(const JoinProblem& problem, std::int64_t most_bytes);

}  // namespace anadrome::schedule

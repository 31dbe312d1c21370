// SPDX-License-Identifier: BSD-2-Clause
// The fewest advances of a join: which states the forward sweep keeps, and in which order the
// segments between them are reversed.
#pragma once

#include <cstdint>
#include <vector>

#include "planners/join/join_problem.h"

namespace anadrome::schedule {

/// Exact, by dynamic programming over what is left of each branch, where its table has at most
/// `most_entries` entries; otherwise the better of two heuristics. Throws as
/// check().
JoinPlan plan_join(const JoinProblem& problem, std::int64_t most_entries = std::int64_t{1} << 22);

/// The plan of a run: the fewest advances where no step need be run more than twice, otherwise as
/// above with tables of up to `most_bytes`, made within a second or so.
JoinPlan plan_join_within(const JoinProblem& problem, std::int64_t most_bytes);

/// An objective of small observables of the ends: one sweep through every branch stores them, and
/// each branch is reversed alone, in the whole pool.
JoinPlan plan_reducible_join(const JoinProblem& problem);

/// For joins whose exact table is too large: two ways to place the cuts, each at most a few per
/// cent off on all cases that an exact plan was compared with, and nearly never both. The better
/// of: branch after branch, with the best cuts for that; and the shortest segment on top first, its
/// cuts moved one at a time as long as that helps. Tables take up to `most_bytes`, or 128 bytes per
/// branch if that is more. Empty: it cannot be done.
std::vector<JoinSegment> join_by_heuristics(const JoinProblem& problem, std::int64_t most_bytes);

}  // namespace anadrome::schedule

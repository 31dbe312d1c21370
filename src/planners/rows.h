// SPDX-License-Identifier: BSD-2-Clause
// The parts of the streams' rows: for each planner the function that makes its sweep, and where
// states have several sizes the one that divides memory for them.
#pragma once

#include <cstdint>
#include <vector>

#include "planners/problem.h"
#include "schedule/rows.h"

namespace anadrome::schedule {

// rows_in_memory.cpp
SweepPtr make_uneven(StreamProblem& problem);
SweepPtr make_least_memory(StreamProblem& problem);
SweepPtr make_join(StreamProblem& problem);
void divide_for_uneven(const StreamProblem& problem, std::vector<std::int64_t> bytes,
                       std::int64_t memory, DividedMemory& divided);
void divide_for_least_memory(const StreamProblem& problem, std::vector<std::int64_t> bytes,
                             std::int64_t memory, DividedMemory& divided);

// rows_on_two_tiers.cpp
SweepPtr make_disk_revolve(StreamProblem& problem);
SweepPtr make_hrevolve(StreamProblem& problem);
SweepPtr make_multistage(StreamProblem& problem);
SweepPtr make_double(StreamProblem& problem);
/// Anchors of double whose interval nobody gave, at most.
inline constexpr std::int64_t kMostDoubleAnchors = std::int64_t{1} << 14;

// rows_of_lists.cpp
SweepPtr make_overlapped(StreamProblem& problem);
SweepPtr make_offload(StreamProblem& problem);
void divide_for_offload(const StreamProblem& problem, std::vector<std::int64_t> bytes,
                        std::int64_t memory, DividedMemory& divided);

}  // namespace anadrome::schedule

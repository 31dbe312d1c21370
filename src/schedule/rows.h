// SPDX-License-Identifier: BSD-2-Clause
// The parts of the catalogue's rows: for each schedule the function that makes its sweep, and where
// there are any those that forecast it, count its tables, and divide memory for states of several
// sizes. Entry says what each of them is for.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "schedule/checked_sweep.h"
#include "schedule/interval_problem.h"
#include "schedule/problem.h"
#include "schedule/sweep.h"

namespace anadrome::schedule {

using SweepPtr = std::unique_ptr<Sweep>;
/// The sweep of checkpoints that nest.
SweepPtr played(const StackOptions& options, std::unique_ptr<Planner> planner);

// rows_in_ram.cpp
SweepPtr make_store_all(Problem& problem);
SweepPtr make_revolve(Problem& problem);
SweepPtr make_mixed(Problem& problem);
double forecast_store_all(const Problem& problem);
double forecast_revolve(const Problem& problem);
double forecast_mixed(const Problem& problem);
SweepPtr make_uneven(Problem& problem);
SweepPtr make_least_memory(Problem& problem);
SweepPtr make_join(Problem& problem);
void divide_for_uneven(const Problem& problem, std::vector<std::int64_t> bytes, std::int64_t memory,
                       DividedMemory& divided);
void divide_for_least_memory(const Problem& problem, std::vector<std::int64_t> bytes,
                             std::int64_t memory, DividedMemory& divided);
std::int64_t uneven_bytes(const Sizing& sizing);
std::int64_t least_memory_bytes(const Sizing& sizing);

// rows_on_disk.cpp
SweepPtr make_async(Problem& problem);
SweepPtr make_disk_revolve(Problem& problem);
SweepPtr make_hrevolve(Problem& problem);
SweepPtr make_multistage(Problem& problem);
SweepPtr make_double(Problem& problem);
double forecast_async(const Problem& problem);
/// The question of async before its first anchor, and its answer: n and the times are known.
IntervalProblem intervals_of(const Problem& problem);
AsyncPlan plan_of_async(const Problem& problem);
std::int64_t disk_revolve_bytes(const Sizing& sizing);
std::int64_t hrevolve_bytes(const Sizing& sizing);
std::int64_t double_bytes(const Sizing& sizing);
/// Anchors that there is room for in its stack, at most.
std::int64_t most_double_anchors(const Sizing& sizing);

// rows_of_lists.cpp
SweepPtr make_overlapped(Problem& problem);
SweepPtr make_offload(Problem& problem);
void divide_for_offload(const Problem& problem, std::vector<std::int64_t> bytes,
                        std::int64_t memory, DividedMemory& divided);
std::int64_t overlapped_list_bytes(const Sizing& sizing);
std::int64_t offload_bytes(const Sizing& sizing);

/// Bytes of a step in a planner's tables.
inline constexpr std::int64_t kTableBytesPerStep = 64;
/// Bytes of the size of a step's state, where there are several.
inline std::int64_t bytes_of_a_size(const Sizing& sizing) { return sizing.sizes_vary ? 64 : 0; }

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// The parts of the catalogue's rows: for each schedule of runs the function that makes its sweep,
// and the one that forecasts it.
#pragma once

#include <memory>

#include "schedule/anchored/interval_problem.h"
#include "schedule/checked_sweep.h"
#include "schedule/problem.h"
#include "schedule/words/sweep.h"

namespace anadrome::schedule {

using SweepPtr = std::unique_ptr<Sweep>;
/// Of checkpoints that nest, in memory.
StackOptions stack_options(const Problem& problem);
/// Their sweep.
SweepPtr played(const StackOptions& options, std::unique_ptr<Planner> planner);

// rows_in_ram.cpp
/// States alike, each in a slot. `keep_every`: whatever the number of steps will be.
SweepPtr in_slots(const Problem& problem, bool keep_every);
SweepPtr make_store_all(const Problem& problem);
SweepPtr make_revolve(const Problem& problem);
SweepPtr make_mixed(const Problem& problem);
double forecast_store_all(const Problem& problem);
double forecast_revolve(const Problem& problem);
double forecast_mixed(const Problem& problem);

// rows_on_disk.cpp
SweepPtr make_async(const Problem& problem);
double forecast_async(const Problem& problem);
/// Of residuals: a state that is not there cannot be computed.
SweepPtr make_undo(const Problem& problem);
double forecast_undo(const Problem& problem);
/// The question of async before its first anchor, and its answer: n and the times are known.
IntervalProblem intervals_of(const Problem& problem);
AsyncPlan plan_of_async(const Problem& problem);

}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
#include <utility>

#include "base/index.h"
#include "schedule/rows.h"
#include "schedule/stack/mixed.h"
#include "schedule/stack/online_planner.h"
#include "schedule/stack/plain_planners.h"

namespace anadrome::schedule {

StackOptions stack_options(const Problem& problem) {
  StackOptions options;
  options.steps = problem.sizing.steps;
  options.units = problem.slots;
  options.record = problem.sizing.record;
  return options;
}

SweepPtr in_slots(const Problem& problem, bool keep_every) {
  StackOptions options = stack_options(problem);
  options.x_0 = Place::kRam;
  const bool end_known = problem.sizing.end_known();
  options.retain = end_known ? options.units >= options.steps : keep_every;
  if (problem.in_the_abstract) options.retain = false;
  options.leaves_states = problem.leaves_states;
  if (end_known) return played(options, std::make_unique<RevolvePlanner>());
  return played(options, std::make_unique<OnlinePlanner>(
                             OnlineOptions{.slots = options.units, .keep_every = keep_every}));
}

SweepPtr played(const StackOptions& options, std::unique_ptr<Planner> planner) {
  auto sweep = std::make_unique<StackSweep>(options, std::move(planner));
  const RuleOptions rules = rules_of(options, sweep->planner());
  return checked(std::move(sweep), rules);
}

// ---- states alike ----

SweepPtr make_store_all(const Problem& problem) {
  if (problem.shared.tape_units == 0) return in_slots(problem, true);
  StackOptions options = stack_options(problem);
  options.tape_units = problem.shared.tape_units;
  options.retain = !problem.in_the_abstract;
  return played(options, std::make_unique<StoreTapesPlanner>());
}

SweepPtr make_revolve(const Problem& problem) { return in_slots(problem, false); }

SweepPtr make_mixed(const Problem& problem) {
  const std::int64_t tape_units = problem.shared.tape_units;
  if (tape_units == 0) return in_slots(problem, false);
  StackOptions options = stack_options(problem);
  options.tape_units = tape_units;
  options.tape_restarts = problem.tape_restarts;
  return played(options, std::make_unique<MixedPlanner>(tape_units, problem.tape_restarts));
}

namespace {

double seconds_of(const Problem& problem, double advances) {
  return advances * problem.costs.forward + real(problem.sizing.steps) * problem.costs.adjoint;
}

}  // namespace

double forecast_store_all(const Problem& problem) {
  const bool tapes_are_not_kept = problem.sizing.record && problem.shared.tape_units == 0;
  if (tapes_are_not_kept) return forecast_revolve(problem);
  return seconds_of(problem, real(problem.sizing.steps));
}

double forecast_revolve(const Problem& problem) {
  const double recorded = problem.sizing.record ? real(problem.sizing.steps) : 0;
  return seconds_of(problem, recorded + static_cast<double>(
                                            extra_advances(problem.sizing.chain(), problem.slots)));
}

double forecast_mixed(const Problem& problem) {
  const std::int64_t tape_units = problem.shared.tape_units, steps = problem.sizing.steps;
  if (tape_units == 0) return forecast_revolve(problem);
  return seconds_of(problem, real(steps) + static_cast<double>(mixed_advances(steps, problem.slots,
                                                                              tape_units, false)));
}

}  // namespace anadrome::schedule

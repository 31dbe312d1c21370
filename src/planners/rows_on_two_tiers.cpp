// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <string>

#include "base/checked.h"
#include "base/error.h"
#include "planners/rows.h"
#include "planners/two_tier/disk_revolve.h"
#include "planners/two_tier/double_sweep.h"
#include "planners/two_tier/hrevolve.h"
#include "planners/two_tier/multistage.h"
#include "planners/two_tier/two_tier_costs.h"

namespace anadrome::schedule {
namespace {

// Where states on disk replace each other.
StackOptions replacing(const StreamProblem& problem, std::int64_t disk_slots) {
  StackOptions options = stack_options(problem);
  options.disk_slots = disk_slots;
  return options;
}

}  // namespace

// ---- two tiers ----

namespace {

std::int64_t two_tier_slots(const StreamProblem& problem) {
  return std::min(problem.blocks_on_disk, problem.sizing.steps + 1);
}

// The best planner for RAM and disk; by Disk-Revolve, if its disk is unbounded and its states fit
// all the same.
std::unique_ptr<Planner> two_tier_planner(const StreamProblem& problem, bool unbounded) {
  const std::int64_t steps = problem.sizing.steps + 1, disk_slots = two_tier_slots(problem);
  const StepCosts& costs = problem.costs;
  const TwoTierCosts ticks = costs_in_ticks(costs.forward, costs.adjoint, costs.write, costs.read);
  if (unbounded) {
    auto planner = std::make_unique<DiskRevolvePlanner>(steps, problem.slots, ticks);
    // x_0 may be on disk beside its states. Where they do not fit, the best that fits.
    if (planner->disk_slots() < disk_slots) return planner;
  }
  return std::make_unique<HRevolvePlanner>(steps, problem.slots, disk_slots, ticks);
}

SweepPtr on_two_tiers(const StreamProblem& problem, bool unbounded) {
  return played(replacing(problem, two_tier_slots(problem)), two_tier_planner(problem, unbounded));
}

}  // namespace

SweepPtr make_disk_revolve(StreamProblem& problem) { return on_two_tiers(problem, true); }
SweepPtr make_hrevolve(StreamProblem& problem) { return on_two_tiers(problem, false); }

SweepPtr make_multistage(StreamProblem& problem) {
  return played(replacing(problem, two_tier_slots(problem)), std::make_unique<MultistagePlanner>());
}

// ---- double ----

namespace {

// A stack of more is not needed where an interval was given.
std::int64_t most_anchors(const Sizing& sizing) {
  if (!sizing.end_known()) return kMostDoubleAnchors;
  if (sizing.interval > 0) return ceil_divide(sizing.steps + 1, sizing.interval);
  return std::min(kMostDoubleAnchors, sizing.steps + 1);
}

// Which intervals double checkpointing takes.
struct DoubleChoice {
  std::int64_t steps = kMostSteps;  ///< that are reversed; kMostSteps if n is unknown
  std::int64_t disk_slots = 1;      ///< states on disk at a time
  std::int64_t interval = 0;        ///< 0: the one that takes the least time
  DoubleMemory memory;
  bool record = false;       ///< the adjoint of a step needs its tape
  bool reads_ahead = false;  ///< there is memory for it

  bool end_known() const { return steps < kMostSteps; }
  // Shorter intervals would be too many for the disk.
  std::int64_t least_interval() const {
    return ceil_divide(std::max<std::int64_t>(steps, 1), disk_slots);
  }
  // The same on all ranks for the same times. May lack the memory.
  std::unique_ptr<Planner> planner(const StepCosts& costs) const {
    if (interval > 0) {
      const std::int64_t fits = std::clamp<std::int64_t>(steps, 1, interval);
      return std::make_unique<DoublePlanner>(double_sweep_within(steps, fits, memory));
    }
    const std::int64_t least = end_known() ? least_interval() : 1;
    return std::make_unique<DoublePlanner>(
        best_double_sweep(steps, least, memory, {costs, record, reads_ahead}));
  }
};

DoubleChoice double_choice(const StreamProblem& problem, std::int64_t disk_slots) {
  DoubleChoice choice;
  const Sizing& sizing = problem.sizing;
  if (sizing.end_known()) choice.steps = sizing.steps + (sizing.record ? 0 : 1);
  choice.disk_slots = disk_slots;
  choice.interval = sizing.interval;
  choice.memory = {problem.slots, problem.shared.tape_units};
  choice.record = sizing.record;
  choice.reads_ahead = problem.read_ahead > 0;
  return choice;
}

// The longest interval follows from the memory, the shortest from the disk: do they leave one?
void require_interval(const StreamProblem& problem, const DoubleChoice& choice) {
  const std::int64_t longest = longest_double_interval(choice.memory);
  const std::string reverses = "slots=" + std::to_string(problem.checkpoints) +
                               " reverses at most " + std::to_string(longest) + " steps at a time";
  if (choice.interval > longest && choice.steps > longest) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "schedule=double with interval=" + std::to_string(choice.interval) + ": " +
                    reverses + "; raise slots, or take a shorter interval");
  }
  if (!choice.end_known()) return;
  const std::int64_t least = choice.least_interval();
  if (least <= (choice.interval > 0 ? choice.interval : longest)) return;
  throw Error(ANADROME_ERR_NO_SPACE,
              "schedule=double: " + reverses + ", and " + std::to_string(problem.sizing.steps) +
                  " steps with " + std::to_string(choice.disk_slots) +
                  " states on disk need intervals of " + std::to_string(least) +
                  "; raise "
                  "slots, disk_slots or interval, or take schedule=async");
}

}  // namespace

SweepPtr make_double(StreamProblem& problem) {
  StackOptions options = replacing(
      problem,
      problem.anchors_within(std::min(problem.blocks_on_disk, most_anchors(problem.sizing))));
  options.tape_units = problem.shared.tape_units;
  const DoubleChoice choice = double_choice(problem, options.disk_slots);
  require_interval(problem, choice);
  return played(options, choice.planner(problem.costs));
}

}  // namespace anadrome::schedule

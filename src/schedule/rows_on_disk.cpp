// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/error.h"
#include "schedule/anchored_sweep.h"
#include "schedule/async_planner.h"
#include "schedule/disk_revolve.h"
#include "schedule/double_sweep.h"
#include "schedule/hrevolve.h"
#include "schedule/multistage.h"
#include "schedule/rows.h"
#include "schedule/two_tier_costs.h"

namespace anadrome::schedule {
namespace {

// Where states on disk replace each other.
StackOptions replacing(const Problem& problem, std::int64_t disk_slots) {
  StackOptions options;
  options.steps = problem.sizing.steps;
  options.units = problem.slots;
  options.record = problem.sizing.record;
  options.disk_slots = disk_slots;
  return options;
}

}  // namespace

// ---- async ----

namespace {

std::int64_t states_on_disk(const Problem& problem) {
  const std::int64_t states = problem.shared.states_per_block, blocks = problem.blocks_on_disk;
  return problem.anchors_within(blocks < kMostSteps / states ? blocks * states : kNoLimit);
}

// For passes, too, unless memory holds all states.
bool all_anchors(const Problem& problem) {
  const bool every_state = problem.sizing.end_known() && problem.slots >= problem.sizing.steps;
  return problem.all_anchors || (problem.costs.passes > 0 && !every_state);
}

}  // namespace

// Between anchors the same slots serve one interval after the other; one of them holds the anchor.
SweepPtr make_async(Problem& problem) {
  AsyncOptions async;
  async.memory = problem.shared;
  async.prefetch_depth = problem.read_ahead;
  async.may_end_in_ram = !problem.all_anchors;
  async.waits_for_write = problem.large_states;
  AnchoredOptions& between = async.anchored;
  between.steps = problem.sizing.steps;
  between.slots = problem.slots;
  between.most_slots = std::max(async.memory.slots(0), between.slots);
  between.interval = problem.sizing.interval;
  const bool every_state = problem.sizing.end_known() && between.slots >= between.steps;
  between.all_anchors = all_anchors(problem);
  between.record = problem.sizing.record;
  between.tape_units = problem.shared.tape_units;

  StackOptions options;
  options.steps = problem.sizing.steps;
  options.record = problem.sizing.record;
  options.disk_slots = states_on_disk(problem);
  if (problem.disk_is_full) options.disk_slots = 1;
  options.anchors_stay = true;
  options.x_0 = Place::kDisk;
  options.units = between.most_slots - 1;
  options.tape_units = between.tape_units;
  options.leaves_states = problem.leaves_states;
  options.retain =
      every_state && !between.all_anchors && between.tape_units == 0 && !problem.in_the_abstract;
  return played(options, std::make_unique<AsyncPlanner>(async));
}

IntervalProblem intervals_of(const Problem& problem) {
  IntervalProblem asked;
  asked.costs = problem.costs;
  asked.memory = problem.shared;
  asked.steps = problem.sizing.steps;
  asked.anchors_left = std::max<std::int64_t>(states_on_disk(problem) - 1, 0);
  asked.record = problem.sizing.record;
  asked.may_end_in_ram = !problem.all_anchors;
  asked.interval_given = problem.sizing.interval > 0;
  asked.all_anchors = all_anchors(problem);
  asked.times = problem.interval_times;
  return asked;
}

AsyncPlan plan_of_async(const Problem& problem) {
  const IntervalProblem asked = intervals_of(problem);
  const std::int64_t steps = asked.steps;
  const bool none_again =
      tail_advances(steps, problem.slots, asked.record, asked.memory.tape_units) == 0;
  if (problem.sizing.interval > 0 && !none_again) {
    return {.interval = problem.sizing.interval,
            .prefetch_depth = problem.read_ahead,
            .slots = problem.slots};
  }
  if (asked.anchors_left > 0 && !none_again) return plan_intervals(asked, known_level(asked));
  return {.interval = std::max<std::int64_t>(steps, 1),
          .prefetch_depth = problem.read_ahead,
          .slots = problem.slots,
          .ends_in_ram = true};
}

double forecast_async(const Problem& problem) {
  return anchored_sweep(intervals_of(problem), plan_of_async(problem)).seconds;
}

// ---- two tiers ----

namespace {

std::int64_t two_tier_slots(const Problem& problem) {
  return std::min(problem.blocks_on_disk, problem.sizing.steps + 1);
}

// The best planner for RAM and disk; by Disk-Revolve, if its disk is unbounded and its states fit
// all the same.
std::unique_ptr<Planner> two_tier_planner(const Problem& problem, bool unbounded) {
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

SweepPtr on_two_tiers(const Problem& problem, bool unbounded) {
  return played(replacing(problem, two_tier_slots(problem)), two_tier_planner(problem, unbounded));
}

}  // namespace

SweepPtr make_disk_revolve(Problem& problem) { return on_two_tiers(problem, true); }
SweepPtr make_hrevolve(Problem& problem) { return on_two_tiers(problem, false); }

std::int64_t disk_revolve_bytes(const Sizing& sizing) {
  return checked_multiply(sizing.steps + 2, kTableBytesPerStep);
}

std::int64_t hrevolve_bytes(const Sizing& sizing) {
  constexpr std::int64_t kPerSlotOnDisk = 16;
  const std::int64_t on_disk =
      sizing.disk / std::max<std::int64_t>(sizing.state_bytes_all_ranks, 1);
  const std::int64_t slots = sizing.disk < 0 ? 0 : std::min(on_disk, sizing.steps + 1);
  return checked_multiply(sizing.steps + 2,
                          checked_add(kTableBytesPerStep, checked_multiply(kPerSlotOnDisk, slots)));
}

SweepPtr make_multistage(Problem& problem) {
  return played(replacing(problem, two_tier_slots(problem)), std::make_unique<MultistagePlanner>());
}

// ---- double ----

// None is added where ranks could not tell
// each other that there is no memory.
std::int64_t most_double_anchors(const Sizing& sizing) {
  constexpr std::int64_t kMost = std::int64_t{1} << 14;
  if (!sizing.end_known()) return kMost;
  if (sizing.interval > 0) return ceil_divide(sizing.steps + 1, sizing.interval);
  return std::min(kMost, sizing.steps + 1);
}

namespace {

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

DoubleChoice double_choice(const Problem& problem, std::int64_t disk_slots) {
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
void require_interval(const Problem& problem, const DoubleChoice& choice) {
  const std::int64_t longest = longest_double_interval(choice.memory);
  const bool by_number = problem.slots == problem.checkpoints || problem.in_the_abstract;
  const std::string number = problem.in_the_abstract ? "slots" : "checkpoints";
  const std::string limit = by_number ? number : "memory";
  const std::string reverses =
      limit + "=" + std::to_string(by_number ? problem.checkpoints : problem.sizing.memory) +
      " reverses at most " + std::to_string(longest) + " steps at a time";
  if (choice.interval > longest && choice.steps > longest) {
    throw Error(by_number ? ANADROME_ERR_ARGUMENT : ANADROME_ERR_MEMORY,
                "schedule=double with interval=" + std::to_string(choice.interval) + ": " +
                    reverses + "; raise " + limit + ", or take a shorter interval");
  }
  if (!choice.end_known()) return;
  const std::int64_t least = choice.least_interval();
  if (least <= (choice.interval > 0 ? choice.interval : longest)) return;
  throw Error(ANADROME_ERR_NO_SPACE,
              "schedule=double: " + reverses + ", and " + std::to_string(problem.sizing.steps) +
                  " steps with " + std::to_string(choice.disk_slots) +
                  " states on disk need intervals of " + std::to_string(least) + "; raise " +
                  limit + ", disk or interval, or take schedule=async");
}

}  // namespace

SweepPtr make_double(Problem& problem) {
  StackOptions options =
      replacing(problem, problem.anchors_within(std::min(problem.blocks_on_disk,
                                                         most_double_anchors(problem.sizing))));
  options.tape_units = problem.shared.tape_units;
  const DoubleChoice choice = double_choice(problem, options.disk_slots);
  require_interval(problem, choice);
  return played(options, choice.planner(problem.costs));
}

std::int64_t double_bytes(const Sizing& sizing) {
  return checked_multiply(most_double_anchors(sizing), kTableBytesPerStep);
}

}  // namespace anadrome::schedule

// Planning, the part that says what is played: the schedule, with the slots and the planner it has.
#include <algorithm>
#include <string>
#include <utility>

#include "base/checked.h"
#include "engine/planning.h"
#include "schedule/disk_revolve.h"
#include "schedule/hrevolve.h"
#include "schedule/late_planner.h"
#include "schedule/least_memory.h"
#include "schedule/mixed.h"
#include "schedule/multistage.h"
#include "schedule/plain_planners.h"

namespace anadrome::engine {
namespace {

// Steps that are run before transfers and steps count as measured.
constexpr std::int64_t kFirstSteps = 4;

}  // namespace

void Planning::write_script(SweepPlan& plan, SweepState& sweep) {
  const std::int64_t steps = plan.steps;
  if (plan.has_branches()) {
    if (!join_planned_ || !(join_planned_->options == join_options(plan))) {
      join_planned_ = {join_options(plan), schedule::JoinSweep::plan(join_options(plan))};
    }
    plan.script.emplace(join_options(plan), join_planned_->plan);
    return;
  }
  schedule::NestedOptions options;
  options.steps = steps;
  options.units = plan.memory.checkpoint_slots;
  options.record = plan.record;
  if (plan.keeps_tapes && plan.disk_use() == DiskUse::kNone) {
    options.tape_units = plan.tape_slots;
    options.retain = plan.schedule->keeps_every_state();
    std::unique_ptr<schedule::Planner> planner;
    if (options.retain) {
      planner = std::make_unique<schedule::StoreTapesPlanner>();
    } else {
      planner = std::make_unique<schedule::MixedPlanner>(plan.tape_slots, false);
    }
    plan.script.emplace(options, std::move(planner));
    return;
  }
  if (plan.stack && !plan.plays_list()) {
    options.units = plan.stack->units;
    plan.script.emplace(options, std::move(plan.stack->planner));
    return;
  }
  if (plan.schedule->needs.each_step.costs && !plan.plays_list() &&
      measured_.step_costs().known()) {
    auto planner = std::make_unique<schedule::UnevenPlanner>(uneven_steps(plan, options.units));
    options.units = planner->units();
    plan.script.emplace(options, std::move(planner));
    return;
  }
  if (states_held(plan) > 0) {
    plan.script.emplace(options, schedule::least_memory_of_equal_states(sizing(plan).chain()));
    return;
  }
  if (plan.disk_use() != DiskUse::kStates) {
    plan.script.emplace(sequence_options(plan, sweep.no_more_anchors));
    return;
  }
  if (plan.plays_list()) {
    plan.script.emplace(overlapped_options(plan));
    if (measured_.of_earlier_sweep() && !plan.script->overlapped()->planned()) plan_list(plan);
    return;
  }
  if (plan.schedule->is("double")) {
    plan.nested = options;
    return write_double_script(plan, sweep);
  }
  options = two_tier_options(plan);
  if (options.disk_slots == 0) storage_.throw_too_small();
  if (plan.schedule->is("multistage")) {
    plan.script.emplace(options, std::make_unique<schedule::MultistagePlanner>());
  } else if (measured_.of_earlier_sweep()) {
    plan.script.emplace(options, two_tier_planner(plan, options));
  } else {
    plan.script.emplace(options, std::make_unique<schedule::LatePlanner>(kFirstSteps));
  }
  plan.nested = options;
}

schedule::NestedOptions Planning::two_tier_options(const SweepPlan& plan) const {
  const std::int64_t steps = plan.steps;
  schedule::NestedOptions options;
  options.steps = steps;
  options.units = plan.memory.checkpoint_slots;
  options.record = plan.record;
  options.disk_slots = std::min(storage_.most_blocks(plan.memory), steps + 1);
  options.disk_is_buffered = true;
  return options;
}

std::unique_ptr<schedule::Planner> Planning::two_tier_planner(
    const SweepPlan& plan, const schedule::NestedOptions& options) const {
  const schedule::StepCosts costs = this->costs(plan);
  const schedule::TwoTierCosts ticks =
      schedule::costs_in_ticks(costs.forward, costs.adjoint, costs.write, costs.read);
  const std::int64_t steps = options.steps + 1;
  if (plan.schedule->is("disk_revolve")) {
    auto planner = std::make_unique<schedule::DiskRevolvePlanner>(steps, options.units, ticks);
    // x_0 may be on disk beside its states. Where they do not fit, the best that fits.
    if (planner->disk_slots() < options.disk_slots) return planner;
  }
  return std::make_unique<schedule::HRevolvePlanner>(steps, options.units, options.disk_slots,
                                                     ticks);
}

schedule::SequenceOptions Planning::sequence_options(const SweepPlan& plan,
                                                     bool no_more_anchors) const {
  const std::int64_t steps = plan.steps;
  schedule::SequenceOptions options;
  options.steps = steps;
  options.slots = plan.memory.checkpoint_slots;
  options.record = plan.record;
  options.keep_every = plan.schedule->keeps_every_state();
  if (plan.disk_use() == DiskUse::kBlocks) {
    options.tape_units = plan.kept_tape_slots();
    options.anchored = true;
    options.interval = options_.interval;
    options.all_anchors = options_.writes_all_anchors();
    options.most_slots = shared_memory(plan).slots(0);
    const std::int64_t blocks = storage_.most_blocks(plan.memory);
    if (blocks == 0) storage_.throw_too_small();
    if (blocks < schedule::kMostSteps / plan.memory.layout.states()) {
      options.most_anchors = blocks * plan.memory.layout.states();
    }
    if (options_.anchors > 0) {
      options.most_anchors = std::min(options.most_anchors, options_.anchors);
    }
    if (no_more_anchors) options.most_anchors = 1;
  }
  return options;
}

// Without a tape to be recorded TURN is one more.
std::int64_t Planning::double_steps(const SweepPlan& plan) const {
  const std::int64_t steps = plan.nested.steps;
  if (steps == schedule::kUnknown) return schedule::kMostSteps;
  return plan.nested.record ? steps : steps + 1;
}

schedule::DoubleMemory Planning::double_memory(const SweepPlan& plan) const {
  return {plan.memory.checkpoint_slots, plan.kept_tape_slots()};
}

// Steps that are run before transfers and steps count as measured.
std::int64_t Planning::double_lead(const SweepPlan& plan) const {
  const bool at_once =
      options_.interval > 0 || measured_.of_earlier_sweep() || plan.nested.disk_slots == 1;
  return at_once ? 0
                 : std::min(kFirstSteps, schedule::longest_double_interval(double_memory(plan)));
}

// With `lead` steps before them all, of intervals for which the disk has room those that take the
// least time.
std::unique_ptr<schedule::Planner> Planning::double_planner(const SweepPlan& plan,
                                                            std::int64_t lead,
                                                            std::int64_t& found) const {
  const std::int64_t steps = double_steps(plan);
  const schedule::DoubleMemory memory = double_memory(plan);
  schedule::DoubleSweep sweep;
  if (options_.interval > 0) {
    const std::int64_t interval = std::clamp<std::int64_t>(steps, 1, options_.interval);
    sweep = schedule::double_sweep_within(steps, lead, interval, memory);
  } else {
    const schedule::DoubleCosts costs = {this->costs(plan), plan.nested.record,
                                         plan.memory.prefetch_depth > 0};
    const std::int64_t least = steps < schedule::kMostSteps ? least_double_interval(plan, lead) : 1;
    sweep = schedule::best_double_sweep(steps, lead, least, memory, costs);
  }
  found = sweep.interval;
  return std::make_unique<schedule::DoublePlanner>(sweep);
}

// Shorter ones would be too many for the disk.
std::int64_t Planning::least_double_interval(const SweepPlan& plan, std::int64_t lead) const {
  const std::int64_t others = plan.nested.disk_slots - (lead > 0 ? 1 : 0);
  const std::int64_t rest = std::max<std::int64_t>(double_steps(plan) - lead, 1);
  return others > 0 ? ceil_divide(rest, others) : rest;
}

// The longest interval follows from the memory, the shortest from the disk: do they leave one?
void Planning::require_double_interval(const SweepPlan& plan, std::int64_t lead) const {
  const std::int64_t longest = schedule::longest_double_interval(double_memory(plan));
  const std::int64_t steps = double_steps(plan);
  const bool by_number = plan.memory.checkpoint_slots == options_.checkpoints;
  const std::string limit = by_number ? "checkpoints" : "memory";
  const std::string reverses = limit + "=" +
                               std::to_string(by_number ? options_.checkpoints : plan.budget) +
                               " reverses at most " + std::to_string(longest) + " steps at a time";
  if (options_.interval > longest && steps > longest) {
    throw Error(by_number ? ANADROME_ERR_ARGUMENT : ANADROME_ERR_MEMORY,
                "schedule=double with interval=" + std::to_string(options_.interval) + ": " +
                    reverses + "; raise " + limit + ", or take a shorter interval");
  }
  if (steps == schedule::kMostSteps) return;
  const std::int64_t least = least_double_interval(plan, lead);
  if (least <= (options_.interval > 0 ? options_.interval : longest)) return;
  throw Error(ANADROME_ERR_NO_SPACE,
              "schedule=double: " + reverses + ", and " + std::to_string(plan.nested.steps) +
                  " steps with " + std::to_string(plan.nested.disk_slots) +
                  " states on disk need intervals of " + std::to_string(least) + "; raise " +
                  limit + ", disk or interval, or take schedule=async");
}

void Planning::write_double_script(SweepPlan& plan, SweepState& sweep) {
  schedule::NestedOptions& options = plan.nested;
  options.tape_units = plan.kept_tape_slots();
  options.disk_slots = std::min(storage_.most_blocks(plan.memory),
                                schedule::most_double_anchors(options.steps, options_.interval));
  if (options_.anchors > 0) options.disk_slots = std::min(options.disk_slots, options_.anchors);
  if (options.disk_slots == 0) storage_.throw_too_small();
  options.disk_is_buffered = true;
  const std::int64_t lead = double_lead(plan);
  require_double_interval(plan, lead);
  if (lead == 0) {
    plan.script.emplace(options, double_planner(plan, 0, sweep.double_interval));
  } else {
    plan.script.emplace(options, std::make_unique<schedule::LatePlanner>(lead));
  }
}

std::unique_ptr<schedule::Planner> Planning::late_planner(SweepPlan& plan,
                                                          SweepState& sweep) const {
  if (!plan.schedule->is("double")) return two_tier_planner(plan, plan.nested);
  return double_planner(plan, double_lead(plan), sweep.double_interval);
}

schedule::SharedMemory Planning::shared_memory(const SweepPlan& plan) const {
  schedule::SharedMemory memory = {plan.memory.blocks - plan.memory.live_blocks,
                                   plan.memory.layout.states(), storage_.transport()->overlaps(),
                                   plan.kept_tape_slots()};
  memory.most_slots = options_.most_slots(memory.most_slots);
  return memory;
}

}  // namespace anadrome::engine

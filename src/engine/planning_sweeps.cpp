// Planning, the part that says what is played: the schedule, with the slots and the planner it has.
#include <algorithm>
#include <string>
#include <utility>

#include "engine/planning.h"
#include "schedule/async_planner.h"
#include "schedule/late_planner.h"
#include "schedule/least_memory.h"
#include "schedule/mixed.h"
#include "schedule/multistage.h"
#include "schedule/online_planner.h"
#include "schedule/plain_planners.h"

namespace anadrome::engine {
namespace {

// Steps that are run before transfers and steps count as measured.
constexpr std::int64_t kFirstSteps = 4;

}  // namespace

void Planning::make_sweep(SweepPlan& plan, bool no_more_anchors) {
  if (plan.has_branches()) {
    if (!join_planned_ || !(join_planned_->options == join_options(plan))) {
      join_planned_ = {join_options(plan), schedule::BranchSweep::plan(join_options(plan))};
    }
    plan.sweep = std::make_unique<schedule::BranchSweep>(join_options(plan), join_planned_->plan);
    return;
  }
  if (plan.plays_list()) {
    auto list = std::make_unique<schedule::ListSweep>(list_options(plan));
    plan.list = list.get();
    plan.sweep = std::move(list);
    if (measured_.of_earlier_sweep() && !plan.list->planned()) plan_list(plan);
    return;
  }
  schedule::StackOptions options = stack_options(plan);
  Planner planner;
  if (plan.disk_use() == DiskUse::kNone) {
    planner = kept_in_ram(plan, options);
  } else if (plan.disk_use() == DiskUse::kBlocks) {
    planner = anchored(plan, no_more_anchors, options);
  } else if (plan.schedule->is("double")) {
    planner = in_double_intervals(plan, options);
  } else {
    planner = on_two_tiers(plan, options);
  }
  plan.sweep = std::make_unique<schedule::StackSweep>(options, std::move(planner));
}

schedule::StackOptions Planning::stack_options(const SweepPlan& plan) const {
  schedule::StackOptions options;
  options.steps = plan.steps;
  options.units = plan.memory.checkpoint_slots;
  options.record = plan.record;
  return options;
}

Planning::Planner Planning::kept_in_ram(SweepPlan& plan, schedule::StackOptions& options) const {
  const bool all = plan.schedule->keeps_every_state();
  if (plan.keeps_tapes) {
    options.tape_units = plan.tape_slots;
    options.retain = all;
    if (all) return std::make_unique<schedule::StoreTapesPlanner>();
    return std::make_unique<schedule::MixedPlanner>(plan.tape_slots, false);
  }
  if (plan.stack) {
    options.units = plan.stack->units;
    return std::move(plan.stack->planner);
  }
  if (plan.schedule->needs.each_step.costs && measured_.step_costs().known()) {
    auto planner = std::make_unique<schedule::UnevenPlanner>(uneven_steps(plan, options.units));
    options.units = planner->units();
    return planner;
  }
  if (states_held(plan) > 0) return schedule::least_memory_of_equal_states(sizing(plan).chain());
  options.x_0 = schedule::Place::kRam;
  options.retain = plan.steps == schedule::kUnknown ? all : options.units >= plan.steps;
  if (plan.steps != schedule::kUnknown) return std::make_unique<schedule::RevolvePlanner>();
  return std::make_unique<schedule::OnlinePlanner>(
      schedule::OnlineOptions{.slots = options.units, .keep_every = all});
}

// Between anchors the same slots serve one interval after the other; one of them holds the anchor.
Planning::Planner Planning::anchored(const SweepPlan& plan, bool no_more_anchors,
                                     schedule::StackOptions& options) const {
  schedule::AsyncOptions async;
  async.memory = shared_memory(plan);
  async.prefetch_depth = plan.memory.prefetch_depth;
  async.greedy = options_.greedy;
  async.may_end_in_ram = !options_.keep;
  async.waits_for_write = plan.memory.shape.paged;
  schedule::AnchoredOptions& between = async.anchored;
  between.steps = plan.steps;
  between.slots = plan.memory.checkpoint_slots;
  between.most_slots = std::max(async.memory.slots(0), between.slots);
  between.interval = options_.interval;
  between.all_anchors = options_.writes_all_anchors();
  between.record = plan.record;
  between.tape_units = plan.kept_tape_slots();

  const std::int64_t blocks = storage_.most_blocks(plan.memory);
  if (blocks == 0) storage_.throw_too_small();
  const std::int64_t states = plan.memory.layout.states();
  options.disk_slots =
      blocks < schedule::kMostSteps / states ? blocks * states : schedule::kNoLimit;
  if (options_.anchors > 0) options.disk_slots = std::min(options.disk_slots, options_.anchors);
  if (no_more_anchors) options.disk_slots = 1;
  options.anchors_stay = true;
  options.x_0 = schedule::Place::kDisk;
  options.units = between.most_slots - 1;
  options.tape_units = between.tape_units;
  const bool every_state = plan.steps != schedule::kUnknown && between.slots >= plan.steps;
  options.retain = every_state && !between.all_anchors && between.tape_units == 0;
  return std::make_unique<schedule::AsyncPlanner>(async);
}

schedule::StackOptions Planning::two_tier_options(const SweepPlan& plan) const {
  schedule::StackOptions options = stack_options(plan);
  options.disk_slots = std::min(storage_.most_blocks(plan.memory), plan.steps + 1);
  options.disk_is_buffered = true;
  return options;
}

schedule::TwoTierChoice Planning::two_tier_choice(const SweepPlan& plan,
                                                  const schedule::StackOptions& options) const {
  return {.steps = options.steps + 1,
          .units = options.units,
          .disk_slots = options.disk_slots,
          .unbounded = plan.schedule->is("disk_revolve")};
}

// Steps are run first, until transfers and steps count as measured.
schedule::DoubleChoice Planning::double_choice(const SweepPlan& plan,
                                               const schedule::StackOptions& options) const {
  schedule::DoubleChoice choice;
  if (plan.steps != schedule::kUnknown) choice.steps = plan.steps + (plan.record ? 0 : 1);
  choice.disk_slots = options.disk_slots;
  choice.interval = options_.interval;
  choice.memory = {plan.memory.checkpoint_slots, plan.kept_tape_slots()};
  choice.record = plan.record;
  choice.reads_ahead = plan.memory.prefetch_depth > 0;
  const bool at_once =
      choice.interval > 0 || measured_.of_earlier_sweep() || choice.disk_slots == 1;
  const std::int64_t longest = schedule::longest_double_interval(choice.memory);
  if (!at_once) choice.lead = std::min(kFirstSteps, longest);
  return choice;
}

// The longest interval follows from the memory, the shortest from the disk: do they leave one?
void Planning::require_interval(const SweepPlan& plan, const schedule::DoubleChoice& choice) const {
  const std::int64_t longest = schedule::longest_double_interval(choice.memory);
  const bool by_number = plan.memory.checkpoint_slots == options_.checkpoints;
  const std::string limit = by_number ? "checkpoints" : "memory";
  const std::string reverses = limit + "=" +
                               std::to_string(by_number ? options_.checkpoints : plan.budget) +
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
              "schedule=double: " + reverses + ", and " + std::to_string(plan.steps) +
                  " steps with " + std::to_string(choice.disk_slots) +
                  " states on disk need intervals of " + std::to_string(least) + "; raise " +
                  limit + ", disk or interval, or take schedule=async");
}

Planning::Planner Planning::in_double_intervals(const SweepPlan& plan,
                                                schedule::StackOptions& options) const {
  options.tape_units = plan.kept_tape_slots();
  options.disk_slots = std::min(storage_.most_blocks(plan.memory),
                                schedule::most_double_anchors(plan.steps, options_.interval));
  if (options_.anchors > 0) options.disk_slots = std::min(options.disk_slots, options_.anchors);
  if (options.disk_slots == 0) storage_.throw_too_small();
  options.disk_is_buffered = true;
  const schedule::DoubleChoice choice = double_choice(plan, options);
  require_interval(plan, choice);
  if (choice.lead == 0) return choice.planner(costs(plan));
  return std::make_unique<schedule::LatePlanner>(
      choice.lead, [choice](const schedule::StepCosts& costs) { return choice.planner(costs); });
}

Planning::Planner Planning::on_two_tiers(const SweepPlan& plan,
                                         schedule::StackOptions& options) const {
  options = two_tier_options(plan);
  if (options.disk_slots == 0) storage_.throw_too_small();
  if (plan.schedule->is("multistage")) return std::make_unique<schedule::MultistagePlanner>();
  const schedule::TwoTierChoice choice = two_tier_choice(plan, options);
  if (measured_.of_earlier_sweep()) return choice.planner(costs(plan));
  return std::make_unique<schedule::LatePlanner>(
      kFirstSteps, [choice](const schedule::StepCosts& costs) { return choice.planner(costs); });
}

schedule::SharedMemory Planning::shared_memory(const SweepPlan& plan) const {
  schedule::SharedMemory memory = {plan.memory.blocks - plan.memory.live_blocks,
                                   plan.memory.layout.states(), storage_.transport()->overlaps(),
                                   plan.kept_tape_slots()};
  memory.most_slots = options_.most_slots(memory.most_slots);
  return memory;
}

}  // namespace anadrome::engine

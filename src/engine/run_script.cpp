// Run, the part that says what is played: slots and tapes, and the schedule that uses them.
#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/byte_size.h"
#include "base/checked.h"
#include "engine/run.h"
#include "schedule/disk_revolve.h"
#include "schedule/hrevolve.h"
#include "schedule/late_planner.h"
#include "schedule/least_memory.h"
#include "schedule/mixed.h"
#include "schedule/multistage.h"
#include "schedule/offloaded_plan.h"
#include "schedule/plain_planners.h"
#include "schedule/uneven.h"

namespace anadrome::engine {
namespace {

// Steps that are run before transfers and steps count as measured.
constexpr std::int64_t kFirstSteps = 4;

bool replaces_states_on_disk(ScheduleName schedule) {
  return schedule == ScheduleName::kDiskRevolve || schedule == ScheduleName::kHRevolve ||
         schedule == ScheduleName::kMultistage || schedule == ScheduleName::kOverlapped ||
         schedule == ScheduleName::kDouble || schedule == ScheduleName::kOffload;
}

}  // namespace

DiskUse Run::disk_use() const {
  if (schedule_ == ScheduleName::kAsync) return DiskUse::kBlocks;
  return replaces_states_on_disk(schedule_) ? DiskUse::kStates : DiskUse::kNone;
}

// Can this schedule do what is asked? The answer is the same on all ranks.
void Run::require_fit(std::int64_t steps) const {
  const std::string name = std::string("schedule=") + to_string(schedule_);
  if ((schedule_ == ScheduleName::kJoin) != has_branches()) {
    throw Error(ANADROME_ERR_UNSUPPORTED,
                has_branches() ? name + " is for one branch; branches take auto or join"
                               : name + " is for anadrome_begin_branches; take auto");
  }
  if (schedule_ == ScheduleName::kJoin && (options_.resume || options_.keep)) {
    throw Error(ANADROME_ERR_UNSUPPORTED,
                "branches have no files: resume=on and keep=on are for one branch");
  }
  const bool plans_to_the_end =
      schedule_ == ScheduleName::kMixed || plans_by_step() ||
      (replaces_states_on_disk(schedule_) && schedule_ != ScheduleName::kDouble);
  if (plans_to_the_end && steps == schedule::kUnknown) {
    throw Error(ANADROME_ERR_UNSUPPORTED,
                name + " has to know the number of steps; take async, revolve or store_all");
  }
  if (options_.resume && disk_use() != DiskUse::kBlocks) {
    throw Error(ANADROME_ERR_UNSUPPORTED,
                name + " cannot go on after it was killed; resume=on takes schedule=async");
  }
  if (options_.resume && (!options_.checksum || options_.keep)) {
    throw Error(ANADROME_ERR_UNSUPPORTED, "resume=on takes checksum=on and keep=off");
  }
  const std::int64_t most_steps = schedule_ == ScheduleName::kUneven
                                      ? schedule::kMostUnevenSteps
                                      : schedule::kMostLeastMemorySteps;
  if (plans_by_step() && steps > most_steps) {
    throw Error(ANADROME_ERR_UNSUPPORTED, name + " plans up to 2^20 steps; take revolve or async");
  }
  if (schedule_ == ScheduleName::kMixed && !has_tape()) {
    throw Error(ANADROME_ERR_UNSUPPORTED,
                name +
                    " keeps tapes, and no tape fields are registered; "
                    "register what an adjoint step reads, or take revolve");
  }
  if (schedule_ == ScheduleName::kOverlapped && steps >= schedule::kMostOverlappedSteps) {
    throw Error(ANADROME_ERR_UNSUPPORTED, name + " plans less than " +
                                              std::to_string(schedule::kMostOverlappedSteps) +
                                              " steps; take async");
  }
  if (schedule_ == ScheduleName::kOffload && steps >= schedule::kMostOffloadedSteps) {
    throw Error(ANADROME_ERR_UNSUPPORTED, name + " plans less than " +
                                              std::to_string(schedule::kMostOffloadedSteps) +
                                              " steps; take overlapped or async");
  }
  if (replaces_states_on_disk(schedule_) && options_.keep) {
    throw Error(ANADROME_ERR_UNSUPPORTED,
                name + " replaces its states on disk; keep=on takes schedule=async");
  }
}

// Slots that a kept tape takes, on the rank where it takes the most. Collective.
void Run::plan_tapes() {
  tape_slots_ = 0;
  std::array<std::int64_t, 3> most = {0, 0, 0};  // slots; can some rank not keep one; buffers
  if (has_tape()) {
    most[0] = store::RamSlots::slots_for_tape(store::total_bytes(tape_fields_),
                                              store::total_bytes(state_fields_));
    most[1] = most[0] < 0 ? 1 : 0;
    most[2] = store::LiveTape::buffer_bytes(tape_fields_);
  }
  MPI_Allreduce(MPI_IN_PLACE, most.data(), 3, MPI_INT64_T, MPI_MAX, agreement_.comm());
  if (most[1] == 0) tape_slots_ = most[0];
  tape_buffer_bytes_ = most[2];
}

// Enough to keep every tape and x_n, for another adjoint sweep.
std::int64_t Run::slots_for_all_tapes(std::int64_t steps) const {
  if (steps == schedule::kUnknown) return steps;
  return steps < schedule::kMostSteps / tape_slots_ ? steps * tape_slots_ + 1
                                                    : schedule::kMostSteps;
}

// No rank has more slots than the one with the largest state, which is no smaller than the mean.
std::int64_t Run::uneven_table_bytes(std::int64_t steps, std::int64_t memory) const {
  constexpr std::int64_t kMost = std::int64_t{64} << 20;
  const std::int64_t mean_state =
      std::max<std::int64_t>(state_bytes_all_ranks_ / agreement_.size(), 1);
  std::optional<std::int64_t> most_slots;
  if (!states_vary()) most_slots = memory / mean_state;
  return std::min(
      {kMost, memory / 8, schedule::most_uneven_table_bytes(chain_steps(steps), most_slots)});
}

// What a planner's table takes of so much memory, at most.
std::int64_t Run::table_bytes(std::int64_t steps, std::int64_t memory) const {
  constexpr std::int64_t kPerStep = 64, kPerEntry = 16, kSizes = 64;
  if (plans_by_step()) {
    // Costs, sums of them and the plan, and what planning takes; sizes.
    constexpr std::int64_t kUneven = 256;
    const bool uneven = schedule_ == ScheduleName::kUneven;
    const std::int64_t per_step =
        (uneven ? kUneven : schedule::kLeastMemoryBytesPerStep) + (states_vary() ? kSizes : 0);
    return checked_add(checked_multiply(steps + 2, per_step),
                       uneven ? uneven_table_bytes(steps, memory) : 0);
  }
  if (plays_list()) {
    const bool offload = schedule_ == ScheduleName::kOffload;
    return schedule::overlapped_bytes(steps) +
           (searches_plans() ? schedule::kOverlapSearchBytes : 0) +
           (offload ? (steps + 2) * schedule::kOffloadBytesPerStep : 0) +
           (offload && states_vary() ? (steps + 2) * kSizes : 0);
  }
  if (schedule_ == ScheduleName::kDouble) {
    return checked_multiply(most_double_anchors(steps), kPerStep);
  }
  if (schedule_ != ScheduleName::kDiskRevolve && schedule_ != ScheduleName::kHRevolve) return 0;
  std::int64_t slots = 0;
  if (schedule_ == ScheduleName::kHRevolve && options_.disk >= 0) {
    slots = std::min(options_.disk / std::max<std::int64_t>(state_bytes_all_ranks_, 1), steps + 1);
  }
  const std::int64_t per_step = checked_add(kPerStep, checked_multiply(kPerEntry, slots));
  return checked_multiply(steps + 2, per_step);
}

// The least memory that leaves so many bytes beside the tables, of which some are a part of it.
std::int64_t Run::memory_beside_tables(std::int64_t bytes, std::int64_t steps) const {
  std::int64_t memory = 0, needed = bytes;
  while (needed > memory) {
    memory = needed;
    needed = checked_add(bytes, table_bytes(steps, memory));
  }
  return memory;
}

// A copy of the adjoint fields while they are being written.
std::int64_t Run::commit_bytes() const {
  if (!options_.resume) return 0;
  std::int64_t bytes = 0;
  for (const store::Field& field : fields_) {
    if (field.role == ANADROME_ROLE_ADJOINT) bytes = checked_add(bytes, field.bytes());
  }
  return bytes;
}

void Run::plan_blocks(std::int64_t steps) {
  const store::BlockShape* shape = recovery_ ? &recovery_->journal.header.shape : nullptr;
  const auto plan = [&](std::int64_t beside, std::int64_t states) {
    beside += commit_bytes();
    const std::int64_t memory = std::max<std::int64_t>(options_.memory - beside, 0);
    memory_plan_ = plan_memory(agreement_, state_fields_, memory, disk_use(), states, shape);
    memory_plan_.buffer_bytes += beside;
    if (plays_list() && memory_plan_.blocks > 0) {
      // Which block is for reading ahead, and when, is part of the plan.
      memory_plan_.prefetch_depth = 0;
      memory_plan_.checkpoint_slots = memory_plan_.blocks - memory_plan_.live_blocks;
    }
    if (schedule_ == ScheduleName::kDouble && memory_plan_.blocks > 0) {
      memory_plan_.prefetch_depth = std::min<std::int64_t>(memory_plan_.prefetch_depth, 1);
      memory_plan_.checkpoint_slots =
          memory_plan_.blocks - memory_plan_.live_blocks - memory_plan_.prefetch_depth;
    }
    if (schedule_ == ScheduleName::kStoreAll || schedule_ == ScheduleName::kLeastMemory) return;
    // Not for one schedule only, so that another can follow.
    const bool changeable = options_.schedule == ScheduleName::kAuto && !recovery_ &&
                            schedule_ == ScheduleName::kAsync &&
                            memory_plan_.largest_state_bytes >= store::kHandedOverBytes;
    if (changeable && !alone_in_block()) {
      memory_plan_ = plan_memory(agreement_, state_fields_, memory, DiskUse::kStates, states);
      memory_plan_.buffer_bytes += beside;
    }
    memory_plan_.checkpoint_slots = options_.most_slots(memory_plan_.checkpoint_slots);
  };
  const bool all = schedule_ == ScheduleName::kStoreAll;
  const bool async = schedule_ == ScheduleName::kAsync;
  const bool twice = schedule_ == ScheduleName::kDouble;
  keeps_tapes_ = tape_slots_ > 0 && (all || async || twice || schedule_ == ScheduleName::kMixed);
  if (keeps_tapes_ && (async || twice)) {
    plan(tape_buffer_bytes_ + table_bytes(steps, options_.memory), slots_for_all_tapes(steps));
    if (memory_plan_.blocks > 0) return;
    keeps_tapes_ = false;  // what is packed on the way to a tape leaves no room for a state
  }
  if (keeps_tapes_) {
    const std::int64_t slots = slots_for_all_tapes(steps);
    plan(tape_buffer_bytes_, slots);
    const bool fit = steps == schedule::kUnknown || memory_plan_.checkpoint_slots >= slots;
    if (memory_plan_.blocks > 0 && (fit || !all)) return;
    keeps_tapes_ = false;
  }
  if (schedule_ == ScheduleName::kJoin) {
    // As many slots as have room with what is remembered of each.
    const auto fit = [&](std::int64_t slots) {
      plan(join_bytes(slots), slots);
      return memory_plan_.checkpoint_slots >= slots;
    };
    std::int64_t least = 0, most = schedule::JoinSweep::most_slots(join_options());
    plan(join_bytes(0), most);
    most = std::min(memory_plan_.checkpoint_slots, most);
    while (least < most) {
      const std::int64_t middle = least + (most - least + 1) / 2;
      if (fit(middle)) {
        least = middle;
      } else {
        most = middle - 1;
      }
    }
    fit(least);
    memory_plan_.checkpoint_slots = least;
    return;
  }
  const std::int64_t table = table_bytes(steps, options_.memory);
  const bool one_more = disk_use() == DiskUse::kStates && steps != schedule::kUnknown;
  std::int64_t states = one_more ? steps + 1 : steps;
  // No more memory than the slots that may be used; staging needs more than these.
  const bool fewer = steps == schedule::kUnknown || options_.checkpoints < steps;
  if (schedule_ == ScheduleName::kRevolve && options_.checkpoints > 0 && fewer) {
    states = options_.checkpoints;
  }
  if (plays_least_memory()) states = least_memory_slots(steps);
  plan(table, states);
  if (plays_least_memory() && memory_plan_.checkpoint_slots < states) {
    const std::int64_t needed = memory_for_states(agreement_, state_fields_, states);
    throw_too_little(checked_add(needed, table), std::to_string(states) + " states");
  }
}

// ---- the schedule ----

void Run::write_script(std::int64_t steps) {
  if (schedule_ == ScheduleName::kJoin) {
    if (!join_planned_ || !(join_planned_->options == join_options())) {
      join_planned_ = {join_options(), schedule::JoinSweep::plan(join_options())};
    }
    script_.emplace(join_options(), join_planned_->plan);
    return;
  }
  schedule::NestedOptions options;
  options.steps = steps;
  options.units = memory_plan_.checkpoint_slots;
  options.record = has_tape();
  if (keeps_tapes_ && disk_use() == DiskUse::kNone) {
    options.tape_units = tape_slots_;
    options.retain = schedule_ == ScheduleName::kStoreAll;
    std::unique_ptr<schedule::Planner> planner;
    if (options.retain) {
      planner = std::make_unique<schedule::StoreTapesPlanner>();
    } else {
      planner = std::make_unique<schedule::MixedPlanner>(tape_slots_, false);
    }
    script_.emplace(options, std::move(planner));
    return;
  }
  if (stack_plan_ && !plays_list()) {
    options.units = stack_plan_->units;
    script_.emplace(options, std::move(stack_plan_->planner));
    return;
  }
  if (schedule_ == ScheduleName::kUneven && step_costs_.known()) {
    auto planner = std::make_unique<schedule::UnevenPlanner>(uneven_steps(options.units));
    options.units = planner->units();
    script_.emplace(options, std::move(planner));
    return;
  }
  if (plays_least_memory()) {
    script_.emplace(options, schedule::least_memory_of_equal_states(chain_steps(steps)));
    return;
  }
  if (disk_use() != DiskUse::kStates) {
    script_.emplace(sequence_options(steps));
    return;
  }
  if (plays_list()) {
    script_.emplace(overlapped_options(steps));
    schedule::OverlappedSweep& sweep = *script_->overlapped();
    if (!measured_before_ || sweep.planned()) return;
    planned_times_ = overlap_times();
    if (!plan_offload()) sweep.plan(planned_times_);
    return;
  }
  if (schedule_ == ScheduleName::kDouble) return write_double_script(options);
  options = two_tier_options(steps);
  if (options.disk_slots == 0) throw_disk_too_small();
  if (schedule_ == ScheduleName::kMultistage) {
    script_.emplace(options, std::make_unique<schedule::MultistagePlanner>());
  } else if (measured_before_) {
    script_.emplace(options, two_tier_planner(options));
  } else {
    script_.emplace(options, std::make_unique<schedule::LatePlanner>(kFirstSteps));
  }
  nested_options_ = options;
}

schedule::NestedOptions Run::two_tier_options(std::int64_t steps) const {
  schedule::NestedOptions options;
  options.steps = steps;
  options.units = memory_plan_.checkpoint_slots;
  options.record = has_tape();
  options.disk_slots = std::min(most_blocks(), steps + 1);
  options.disk_is_buffered = true;
  return options;
}

std::unique_ptr<schedule::Planner> Run::two_tier_planner(
    const schedule::NestedOptions& options) const {
  const schedule::StepCosts costs = agreed_costs();
  const schedule::TwoTierCosts ticks =
      schedule::costs_in_ticks(costs.forward, costs.adjoint, costs.write, costs.read);
  const std::int64_t steps = options.steps + 1;
  if (schedule_ == ScheduleName::kDiskRevolve) {
    auto planner = std::make_unique<schedule::DiskRevolvePlanner>(steps, options.units, ticks);
    // x_0 may be on disk beside its states. Where they do not fit, the best that fits.
    if (planner->disk_slots() < options.disk_slots) return planner;
  }
  return std::make_unique<schedule::HRevolvePlanner>(steps, options.units, options.disk_slots,
                                                     ticks);
}

// x_0 is on its way to disk, and some steps were run: now both times are known.
void Run::decide_two_tier() {
  hold(failure_from([&] { tier_->flush(); }));
  agree(Call::kAnchor);
  auto& late = static_cast<schedule::LatePlanner&>(script_->nested()->planner());
  hold(failure_from([&] {
    late.choose(schedule_ == ScheduleName::kDouble ? double_planner(double_lead())
                                                   : two_tier_planner(nested_options_));
  }));
  agree(Call::kAnchor);  // one rank may lack the memory for the plan
}

void Run::throw_disk_too_small() const {
  throw Error(ANADROME_ERR_NO_SPACE,
              "disk=" + std::to_string(options_.disk) + " does not hold " +
                  format_bytes(disk_->block_bytes_all_ranks()) +
                  ", the least that is written at once; raise disk, or take schedule=revolve");
}

schedule::SequenceOptions Run::sequence_options(std::int64_t steps) const {
  schedule::SequenceOptions options;
  options.steps = steps;
  options.slots = memory_plan_.checkpoint_slots;
  options.record = has_tape();
  options.keep_every = schedule_ == ScheduleName::kStoreAll;
  if (schedule_ == ScheduleName::kAsync) {
    options.tape_units = keeps_tapes_ ? tape_slots_ : 0;
    options.anchored = true;
    options.interval = options_.interval;
    options.all_anchors = writes_all_anchors();
    options.most_slots = shared_memory().slots(0);
    const std::int64_t blocks = most_blocks();
    if (blocks == 0) throw_disk_too_small();
    if (blocks < schedule::kMostSteps / memory_plan_.layout.states()) {
      options.most_anchors = blocks * memory_plan_.layout.states();
    }
    if (options_.anchors > 0) {
      options.most_anchors = std::min(options.most_anchors, options_.anchors);
    }
    if (no_more_anchors_) options.most_anchors = 1;
  }
  return options;
}

}  // namespace anadrome::engine

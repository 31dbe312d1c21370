// SPDX-License-Identifier: BSD-2-Clause
#include "engine/planning.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/byte_size.h"
#include "base/checked.h"
#include "engine/encoding.h"
#include "engine/live_tape.h"
#include "engine/probe.h"
#include "schedule/full_disk.h"
#include "schedule/revolve.h"
#include "store/ram_tier.h"

namespace anadrome::engine {
namespace {

// The fewest slots with which Revolve runs at most 3 n steps.
std::int64_t slots_for_three_runs(std::int64_t steps) {
  std::int64_t low = 0, high = std::max<std::int64_t>(steps, 1);
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    const auto most = static_cast<schedule::uint128>(3) * static_cast<schedule::uint128>(steps);
    (schedule::extra_advances(steps + 1, middle) <= most ? high : low) = middle;
  }
  return high;
}

// Enough to keep every tape and x_n, for another adjoint sweep.
std::int64_t slots_for_all_tapes(const SweepPlan& plan) {
  if (plan.steps == schedule::kUnknown) return plan.steps;
  return plan.steps < schedule::kMostSteps / plan.tape_slots ? plan.steps * plan.tape_slots + 1
                                                             : schedule::kMostSteps;
}

}  // namespace

DiskUse SweepPlan::disk_use() const {
  switch (schedule->needs.on_disk) {
    case schedule::OnDisk::kAnchors:
      return DiskUse::kBlocks;
    case schedule::OnDisk::kReplaced:
      return DiskUse::kStates;
    case schedule::OnDisk::kNothing:
      break;
  }
  return DiskUse::kNone;
}

schedule::Sizing Planning::sizing(const SweepPlan& plan) const {
  schedule::Sizing sizing;
  sizing.steps = plan.steps;
  sizing.record = plan.record;
  sizing.memory = plan.budget;
  sizing.state_bytes = plan.state_bytes_all_ranks / agreement_.size();
  sizing.state_bytes_all_ranks = plan.state_bytes_all_ranks;
  sizing.disk = options_.disk;
  sizing.interval = options_.interval;
  return sizing;
}

void Planning::plan_memory(SweepPlan& plan, const store::BlockShape* shape) {
  plan.state_bytes_all_ranks = store::total_bytes(fields_.state());
  agreement_.ranks().sum(std::span(&plan.state_bytes_all_ranks, 1));
  plan_tapes(plan);
  plan_blocks(plan, shape);
  if (plan.memory.blocks == 0) throw_no_block(plan, shape);
  if (plan.schedule->keeps_every_state() && plan.steps > plan.memory.checkpoint_slots) {
    const std::int64_t needed =
        memory_for_states(agreement_, fields_.state(), plan.steps,
                          plan.memory.single ? Precision::kSingle : Precision::kAsItIs);
    throw TooLittleMemory(needed, "store_all needs " + std::to_string(plan.steps) +
                                      " slots and memory=" + format_bytes(plan.budget) + " has " +
                                      std::to_string(plan.memory.checkpoint_slots) +
                                      "; set memory to " + std::to_string(needed) + "B (" +
                                      format_bytes(needed) + "), or schedule=async");
  }
}

void Planning::throw_no_block(const SweepPlan& plan, const store::BlockShape* shape) {
  std::int64_t least = 0;
  held_.attempt([&] {
    least = least_memory(fields_.state(), plan.memory.largest_state_bytes, plan.disk_use(),
                         encoding_of(options_, fields_.state()), shape);
    least = checked_add(least, commit_bytes() + Probe::memory_bytes(options_, fields_));
  });
  agreement_.ranks().largest(std::span(&least, 1));
  least = memory_beside_tables(plan, least);
  const std::string tables = table_bytes(plan, plan.budget) > 0
                                 ? " and the plan of " +
                                       (plan.steps < 0 ? std::string("an unknown number of")
                                                       : std::to_string(plan.steps)) +
                                       " steps that schedule=" + plan.schedule->name +
                                       " has in memory (schedule=async has none there)"
                                 : "";
  const std::string left = shape != nullptr && shape->states > 1
                               ? ", which the run that was left has on disk in blocks of " +
                                     std::to_string(shape->states)
                               : "";
  std::string sensible;
  if (plan.steps > 0 && plan.steps < schedule::kMostSteps && shape == nullptr) {
    const std::int64_t slots = slots_for_three_runs(plan.steps);
    const std::int64_t bytes = memory_for_states(agreement_, fields_.state(), slots);
    if (bytes > least)
      sensible = "; with " + format_bytes(bytes) + ", " + std::to_string(slots) +
                 " states, schedule=revolve runs no step more than three times on average";
  }
  throw TooLittleMemory(least, "memory=" + format_bytes(plan.budget) +
                                   " is too small for one state" + left + tables + ": at least " +
                                   std::to_string(least) + " bytes (" + format_bytes(least) +
                                   ") per rank are needed" + sensible);
}

void Planning::require_fit(const SweepPlan& plan) const {
  const schedule::Needs& needs = plan.schedule->needs;
  const std::string name = std::string("schedule=") + plan.schedule->name;
  options_.require_fit();
  const auto refuse = [](const std::string& why) { throw Error(ANADROME_ERR_UNSUPPORTED, why); };
  if (needs.steps && plan.steps == schedule::kUnknown) {
    refuse(name + " has to know the number of steps; take async, revolve or store_all");
  }
  if (options_.resume && needs.on_disk != schedule::OnDisk::kAnchors) {
    refuse(name + " cannot be resumed after a kill; resume=on requires schedule=async");
  }
  if (options_.resume && (!options_.checksum || options_.keep)) {
    refuse("resume=on requires checksum=on and keep=off");
  }
  const bool compresses = !options_.compress.empty() && needs.on_disk != schedule::OnDisk::kNothing;
  if (compresses && options_.transport == TransportName::kMpio) {
    refuse("HDF5 moves elements as they are: transport=mpio requires compress=off");
  }
  if (options_.probes() && name != "schedule=async") {
    refuse("probe and gradient_error reverse intervals of schedule=async twice; " + name +
           " requires probe=off and gradient_error=off");
  }
  if (options_.probes() && !fields_.has(ANADROME_ROLE_ADJOINT)) {
    refuse(
        "with probe or gradient_error adjoint steps are taken twice: register all that they "
        "change as adjoint fields, or set both off");
  }
  if (options_.gradient_error > 0 && options_.resume) {
    refuse(
        "gradient_error changes the tolerance from sweep to sweep: resume=on requires "
        "gradient_error=off");
  }
  if (plan.steps > needs.most_steps) refuse(name + " " + needs.limit);
  if (needs.tape && !plan.record) {
    refuse(name +
           " keeps tapes, and no tape fields are registered; "
           "register what an adjoint step reads, or take revolve");
  }
}

// The most that the schedule's tables take of so much memory.
std::int64_t Planning::table_bytes(const SweepPlan& plan, std::int64_t memory) const {
  if (plan.schedule->table_bytes == nullptr) return 0;
  schedule::Sizing sizing = this->sizing(plan);
  sizing.memory = memory;
  return plan.schedule->table_bytes(sizing);
}

// The least memory that leaves so many bytes beside the tables, of which some are a part of it.
std::int64_t Planning::memory_beside_tables(const SweepPlan& plan, std::int64_t bytes) const {
  std::int64_t memory = 0, needed = bytes;
  while (needed > memory) {
    memory = needed;
    needed = checked_add(bytes, table_bytes(plan, memory));
  }
  return memory;
}

// A copy of the adjoint fields while they are being written.
std::int64_t Planning::commit_bytes() const {
  return options_.resume ? fields_.bytes_with_role(ANADROME_ROLE_ADJOINT) : 0;
}

// Slots that a kept tape takes, on the rank where it takes the most. Collective.
void Planning::plan_tapes(SweepPlan& plan) {
  plan.tape_slots = 0;
  std::array<std::int64_t, 3> most = {0, 0, 0};  // slots; can some rank not keep one; buffers
  if (plan.record) {
    most[0] = store::RamTier::slots_for(store::total_bytes(fields_.tape()),
                                        store::total_bytes(fields_.state()));
    most[1] = most[0] < 0 ? 1 : 0;
    most[2] = LiveTape::buffer_bytes(fields_.tape());
  }
  agreement_.ranks().largest(most);
  if (most[1] == 0) plan.tape_slots = most[0];
  plan.tape_buffer_bytes = most[2];
}

// A rank that lacks the memory for it goes on to where all hear of that.
std::optional<store::Encoding> Planning::encoding() const {
  std::optional<store::Encoding> encoding;
  held_.attempt([&] { encoding = encoding_of(options_, fields_.state()); });
  return encoding;
}

// Slots in single precision, if not every state is known to have room as it is: more of them fit,
// and a state is converted as fast as memory is read. Tapes are kept as they are. A run that goes
// on after a kill, a probe and passes meet the same states however they come to them: from disk
// alone. So does a sweep with a given interval, in which measured times say only what is in memory.
bool Planning::may_halve_slots(const SweepPlan& plan) const {
  const schedule::Entry& entry = *plan.schedule;
  const schedule::OnDisk disk = entry.needs.on_disk;
  const bool meets_the_same = options_.resume || options_.probes() || options_.passes > 0 ||
                              (disk != schedule::OnDisk::kNothing && options_.interval > 0);
  const bool counts_slots = entry.states_held == nullptr && entry.table_bytes == nullptr;
  return options_.asks_for_single() && !meets_the_same && counts_slots &&
         disk != schedule::OnDisk::kReplaced && !plan.keeps_tapes &&
         !store::any_exchanged(fields_.state());
}

// The pool of `plan`, beside so many bytes for tables, for at most so many states.
void Planning::cut_into_blocks(SweepPlan& plan, std::int64_t beside, std::int64_t states,
                               const store::BlockShape* shape) {
  beside += commit_bytes() + Probe::memory_bytes(options_, fields_);
  const std::int64_t memory = std::max<std::int64_t>(plan.budget - beside, 0);
  MemoryPlan& cut = plan.memory;
  const schedule::Entry& entry = *plan.schedule;
  const auto cut_for = [&](DiskUse use, const store::BlockShape* given) {
    const std::optional<store::Encoding> how = encoding();
    PoolDemand demand = {.state_fields = fields_.state(),
                         .memory = memory,
                         .disk = use,
                         .states = states,
                         .encoding = how ? &*how : nullptr,
                         .given_shape = given,
                         .two_volumes = options_.has_fast()};
    cut = engine::plan_memory(agreement_, demand);
    const bool all_fit = states != schedule::kUnknown && cut.checkpoint_slots >= states;
    if (!all_fit && may_halve_slots(plan)) {
      demand.slots = Precision::kSingle;
      MemoryPlan halved = engine::plan_memory(agreement_, demand);
      const auto usable = [&](const MemoryPlan& some) {
        return options_.most_slots(some.checkpoint_slots);
      };
      if (usable(halved) > usable(cut)) cut = std::move(halved);
    }
    cut.buffer_bytes += beside;
  };
  cut_for(plan.disk_use(), shape);
  cut.prefetch_depth = std::min(cut.prefetch_depth, entry.most_read_ahead);
  if (!entry.anchor_apart && cut.blocks > 0) {
    cut.checkpoint_slots = cut.blocks - cut.set_aside - cut.prefetch_depth;
  }
  if (entry.keeps_every_state() || entry.states_held != nullptr) return;
  // Not for one schedule only, so that another can follow.
  const bool changeable = options_.schedule == nullptr && shape == nullptr &&
                          entry.needs.on_disk == schedule::OnDisk::kAnchors &&
                          cut.largest_state_bytes >= store::kHandedOverBytes;
  if (changeable && !plan.alone_in_block()) {
    cut_for(DiskUse::kStates, nullptr);
  }
  cut.checkpoint_slots = options_.most_slots(cut.checkpoint_slots);
}

void Planning::plan_blocks(SweepPlan& plan, const store::BlockShape* shape) {
  const std::int64_t steps = plan.steps, table = table_bytes(plan, plan.budget);
  const schedule::KeptTapes tapes = plan.schedule->tapes;
  plan.keeps_tapes = plan.tape_slots > 0 && tapes != schedule::KeptTapes::kNone;
  if (plan.keeps_tapes) {
    const std::int64_t slots = slots_for_all_tapes(plan);
    cut_into_blocks(plan, plan.tape_buffer_bytes + table, slots, shape);
    const bool fit = steps == schedule::kUnknown || plan.memory.checkpoint_slots >= slots;
    if (plan.memory.blocks > 0 && (fit || tapes == schedule::KeptTapes::kSome)) return;
    plan.keeps_tapes = false;  // what is packed on the way to a tape leaves no room for a state
  }
  const bool one_more = plan.disk_use() == DiskUse::kStates && steps != schedule::kUnknown;
  std::int64_t states = one_more ? steps + 1 : steps;
  // No more memory than the slots that may be used; staging needs more than these.
  const bool fewer = steps == schedule::kUnknown || options_.checkpoints < steps;
  if (plan.schedule->capped_by_checkpoints && options_.checkpoints > 0 && fewer) {
    states = options_.checkpoints;
  }
  const auto held_by = plan.schedule->states_held;
  const std::int64_t held = held_by == nullptr ? 0 : held_by(sizing(plan).chain());
  if (held > 0) states = held;
  cut_into_blocks(plan, table, states, shape);
  if (held > 0 && plan.memory.checkpoint_slots < states) {
    const std::int64_t needed = memory_for_states(agreement_, fields_.state(), states);
    throw TooLittleMemory(checked_add(needed, table),
                          "memory=" + format_bytes(plan.budget) + " is too small for the " +
                              std::to_string(states) + " states of " + plan.schedule->name);
  }
}

SweepPlan Planning::another(const SweepPlan& plan, const schedule::Entry& entry) {
  SweepPlan other;
  other.steps = plan.steps;
  other.schedule = &entry;
  other.record = plan.record;
  other.budget = plan.budget;
  other.state_bytes_all_ranks = plan.state_bytes_all_ranks;
  other.tape_slots = plan.tape_slots;
  other.tape_buffer_bytes = plan.tape_buffer_bytes;
  return other;
}

std::int64_t Planning::slots_with(const SweepPlan& plan, const schedule::Entry& entry) {
  SweepPlan other = another(plan, entry);
  plan_blocks(other);
  if (other.memory.blocks == 0) return 0;
  return other.disk_use() == DiskUse::kNone ? other.memory.checkpoint_slots
                                            : shared_memory(other).slots(0);
}

bool Planning::disk_leaves_too_few(const SweepPlan& plan) {
  constexpr double kLittle = 1.05;
  if (store::total_bytes(fields_.state()) >= store::kHandedOverBytes) return false;
  SweepPlan bare;  // before anything is planned
  bare.steps = plan.steps;
  bare.record = plan.record;
  bare.budget = plan.budget;
  const std::int64_t chain = plan.steps + (plan.record ? 0 : 1);
  const auto steps = [&](const schedule::Entry& entry) {
    const std::int64_t slots = slots_with(bare, entry);
    return static_cast<double>(schedule::extra_advances(chain, std::max<std::int64_t>(slots, 1)));
  };
  return steps(*plan.schedule) > kLittle * steps(schedule::schedule_for(schedule::InAuto::kNoDisk));
}

double Planning::forecast(const SweepPlan& plan, const Supposed& supposed) {
  if (plan.schedule->forecast == nullptr) return 0;
  SweepPlan changed = another(plan, *plan.schedule);
  changed.budget = static_cast<std::int64_t>(static_cast<double>(plan.budget) * supposed.memory);
  plan_blocks(changed);
  if (changed.memory.blocks == 0) return 0;
  changed.steps = supposed.steps;
  double seconds = 0;
  (void)failure_from([&] {  // this rank's alone: the others go on
    seconds = supposed.anchors_that_fit >= 0 ? forecast_on_full_disk(changed, supposed)
                                             : forecast_supposed(changed, supposed);
  });
  return seconds;
}

double Planning::forecast_supposed(SweepPlan& plan, const Supposed& supposed) const {
  schedule::Problem problem = this->problem(plan);
  problem.costs.passes = 0;
  problem.costs.forward = supposed.forward;
  problem.costs.adjoint = supposed.adjoint;
  problem.costs.write /= supposed.disk_rate;
  problem.costs.read /= supposed.disk_rate;
  problem.costs.write_taken = problem.costs.read_taken = 0;  // the steps have it
  problem.blocks_on_disk = static_cast<std::int64_t>(
      std::min(static_cast<double>(problem.blocks_on_disk) * supposed.disk_room, 0x1p62));
  if (supposed.overlaps) problem.shared.overlaps = true;
  return plan.schedule->forecast(problem);
}

// The sweep is played until the disk is full, since what follows depends on the anchors that there
// are by then.
double Planning::forecast_on_full_disk(SweepPlan& plan, const Supposed& supposed) {
  make_sweep(plan, supposed.anchors_that_fit <= 1);
  schedule::Measured measured{
      .costs = costs(plan), .write_times_known = true, .of_earlier_sweep = true};
  measured.costs.forward = supposed.forward;
  measured.costs.adjoint = supposed.adjoint;
  const schedule::DiskLeft left = {.slots = options_.most_slots(plan.memory.all_slots())};
  const std::int64_t advances =
      schedule::advances_on_full_disk(*plan.sweep, measured, supposed.anchors_that_fit, left);
  if (advances == schedule::kUnknown) return 0;
  return static_cast<double>(advances) * supposed.forward +
         static_cast<double>(plan.steps) * supposed.adjoint;
}

void Planning::make_sweep(SweepPlan& plan, bool disk_is_full) {
  if (disk_is_full) {  // nothing is read ahead, and nothing staged
    plan.memory.prefetch_depth = 0;
    plan.memory.checkpoint_slots = shared_memory(plan).slots(0);
  }
  schedule::Problem problem = this->problem(plan);
  problem.disk_is_full = disk_is_full;
  if (plan.disk_use() != DiskUse::kNone && problem.blocks_on_disk == 0)
    storage_.throw_too_small(plan.memory);
  plan.sweep = plan.schedule->make(problem);
}

schedule::SharedMemory Planning::shared_memory(const SweepPlan& plan) const {
  schedule::SharedMemory memory = {
      plan.memory.blocks - plan.memory.set_aside, plan.memory.layout.states(),
      options_.transport == TransportName::kDirect, plan.kept_tape_slots()};
  memory.most_slots = options_.most_slots(memory.most_slots);
  memory.slots_per_state = plan.memory.slots.states() / plan.memory.layout.states();
  return memory;
}

schedule::Problem Planning::problem(SweepPlan& plan) const {
  schedule::Problem problem;
  problem.sizing = sizing(plan);
  const MemoryPlan& memory = plan.memory;
  problem.slots = memory.checkpoint_slots;
  problem.read_ahead = memory.prefetch_depth;
  problem.shared = shared_memory(plan);
  problem.large_states = memory.shape.paged;
  problem.largest_state_bytes = memory.largest_state_bytes;
  if (plan.disk_use() != DiskUse::kNone) problem.blocks_on_disk = storage_.expected_blocks(plan);
  problem.most_anchors = options_.anchors;
  problem.all_anchors = options_.files_are_read();
  problem.leaves_states = options_.passes > 0 && !options_.probes();
  problem.checkpoints = options_.checkpoints;
  problem.costs = costs(plan);
  problem.costs.passes = static_cast<double>(options_.passes);
  problem.costs_known = measured_.of_earlier_sweep();
  problem.interval_times = &measured_.interval_times();
  return problem;
}

}  // namespace anadrome::engine

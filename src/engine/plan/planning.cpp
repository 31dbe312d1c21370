// SPDX-License-Identifier: BSD-2-Clause
#include "engine/plan/planning.h"

#include <algorithm>
#include <string>

#include "base/byte_size.h"
#include "base/checked.h"
#include "engine/asked/encoding.h"
#include "engine/keep/live_tape.h"
#include "engine/verify/probe.h"
#include "schedule/anchored/full_disk.h"
#include "schedule/passes/pass_times.h"
#include "schedule/words/revolve.h"
#include "store/tiers/ram_tier.h"

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
    case schedule::OnDisk::kNothing:
      break;
  }
  return DiskUse::kNone;
}

schedule::Sizing Planning::sizing(const SweepPlan& plan) const {
  schedule::Sizing sizing;
  sizing.steps = plan.steps;
  sizing.record = plan.record;
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
    if (plan.memory.device.slots > 0) {
      throw Error(ANADROME_ERR_MEMORY,
                  "store_all needs " + std::to_string(plan.steps) +
                      " slots and device_memory=" + format_bytes(options_.device_memory) + " has " +
                      std::to_string(plan.memory.checkpoint_slots) +
                      "; set more, or 0, or schedule=async");
    }
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
    least = checked_add(least, bytes_beside());
    if (plan.memory.device.slots > 0) least = checked_multiply(least, 2);  // half is for slots
  });
  agreement_.ranks().largest(std::span(&least, 1));
  const std::int64_t state = plan.memory.largest_state_bytes;
  const std::string left = shape != nullptr && shape->states > 1
                               ? ", which the run that was left has on disk in blocks of " +
                                     std::to_string(shape->states)
                               : "";
  std::string sensible;
  if (plan.steps > 0 && plan.steps < schedule::kMostSteps && shape == nullptr && !options_.resume) {
    const std::int64_t slots = slots_for_three_runs(plan.steps);
    const std::int64_t bytes = memory_for_states(agreement_, fields_.state(), slots);
    if (bytes > least)
      sensible = "; with " + format_bytes(bytes) + ", " + std::to_string(slots) +
                 " states, schedule=revolve runs a step three times or less in the mean";
  }
  const std::int64_t held = fields_.bytes_beside();
  const std::string for_undo =
      held > 0 ? format_bytes(held) + " for the states that undo works on, " : "";
  throw TooLittleMemory(least, "memory=" + format_bytes(plan.budget) + " is too small for " +
                                   (held > 0 ? "the states that are held" : "one state") + left +
                                   ": at least " + std::to_string(least) + " bytes (" +
                                   format_bytes(least) + ") per rank are needed, " + for_undo +
                                   format_bytes(state) + " for the state and " +
                                   format_bytes(least - held - state) +
                                   " for whole pages, bookkeeping and buffers" + sensible);
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
  if (options_.resume && options_.keep) refuse("resume=on requires keep=off");
  const bool compresses = !options_.compress.empty() && needs.on_disk != schedule::OnDisk::kNothing;
  if (compresses && options_.mpio()) {
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
  if (plan.record && any_on_device(fields_.state()) &&
      (options_.device_memory > 0 || store::any_exchanged(fields_.state()))) {
    refuse(
        "device_memory, and exchanged fields on a device, are for states, and tapes have their "
        "slots on the host; set device_memory=0 and register the fields by "
        "anadrome_add_device_field");
  }
  if (needs.tape && !plan.record) {
    refuse(name +
           " keeps tapes, and no tape fields are registered; "
           "register what an adjoint step reads, or take revolve");
  }
}

// A copy of the adjoint fields while they are being written.
std::int64_t Planning::commit_bytes() const {
  return options_.resume ? fields_.committed_bytes() : 0;
}

std::int64_t Planning::bytes_beside() const {
  return commit_bytes() + Probe::memory_bytes(options_, fields_) + fields_.bytes_beside();
}

// Slots that a kept tape takes, on the rank where it takes the most. Collective.
void Planning::plan_tapes(SweepPlan& plan) {
  plan.tape_slots = 0;
  struct Tape {
    std::int64_t slots = 0, cannot_be_kept = 0, buffer_bytes = 0;
  } tape;
  if (plan.record) {
    tape.slots = store::RamTier::slots_for(store::total_bytes(fields_.tape()),
                                           store::total_bytes(fields_.state()));
    tape.cannot_be_kept = tape.slots < 0 ? 1 : 0;
    tape.buffer_bytes = LiveTape::buffer_bytes(fields_.tape());
  }
  tape = largest_of<std::int64_t>(agreement_.ranks(), tape);
  if (tape.cannot_be_kept == 0) plan.tape_slots = tape.slots;
  plan.tape_buffer_bytes = tape.buffer_bytes;
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
  return options_.asks_for_single() && !meets_the_same && !plan.keeps_tapes &&
         !store::any_exchanged(fields_.state()) && !any_on_device(fields_.state());
}

// The pool of `plan`, beside so many bytes for buffers, for at most so many states.
void Planning::cut_into_blocks(SweepPlan& plan, std::int64_t beside, std::int64_t states,
                               const store::BlockShape* shape) {
  const DevicePlan device = plan_device(agreement_, {.state_fields = fields_.state(),
                                                     .memory = options_.device_memory,
                                                     .on_host = options_.memory,
                                                     .states = states,
                                                     .anchors = plan.disk_use() != DiskUse::kNone});
  beside += bytes_beside() + device.host_bytes();
  const std::optional<store::Encoding> how = encoding();
  PoolDemand demand = {.state_fields = fields_.state(),
                       .memory = std::max<std::int64_t>(plan.budget - beside, 0),
                       .disk = plan.disk_use(),
                       .states = states,
                       .encoding = how ? &*how : nullptr,
                       .given_shape = shape,
                       .two_volumes = options_.has_fast()};
  MemoryPlan& cut = plan.memory;
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
  cut.device = device;
  if (device.slots > 0) {
    cut.checkpoint_slots = device.slots;
    if (plan.disk_use() == DiskUse::kNone) cut.blocks = std::min<std::int64_t>(cut.blocks, 1);
  }
  if (!plan.schedule->keeps_every_state())
    cut.checkpoint_slots = options_.most_slots(cut.checkpoint_slots);
}

void Planning::plan_blocks(SweepPlan& plan, const store::BlockShape* shape) {
  const std::int64_t steps = plan.steps;
  const schedule::KeptTapes tapes = plan.schedule->tapes;
  plan.keeps_tapes = plan.tape_slots > 0 && tapes != schedule::KeptTapes::kNone;
  if (plan.keeps_tapes) {
    const std::int64_t slots = slots_for_all_tapes(plan);
    cut_into_blocks(plan, plan.tape_buffer_bytes, slots, shape);
    const bool fit = steps == schedule::kUnknown || plan.memory.checkpoint_slots >= slots;
    if (plan.memory.blocks > 0 && (fit || tapes == schedule::KeptTapes::kSome)) return;
    plan.keeps_tapes = false;  // what is packed on the way to a tape leaves no room for a state
  }
  // No more memory than the slots that may be used; staging needs more than these.
  const bool fewer = steps == schedule::kUnknown || options_.checkpoints < steps;
  const bool capped = plan.schedule->capped_by_checkpoints && options_.checkpoints > 0 && fewer;
  cut_into_blocks(plan, 0, capped ? options_.checkpoints : steps, shape);
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

std::int64_t Planning::slots_without_disk(const SweepPlan& plan) {
  const DevicePlan device = plan_device(agreement_, {.state_fields = fields_.state(),
                                                     .memory = options_.device_memory,
                                                     .on_host = options_.memory,
                                                     .states = plan.steps});
  if (device.slots > 0) return device.slots;
  return engine::plan_memory(
             agreement_,
             {.state_fields = fields_.state(), .memory = options_.memory, .states = plan.steps})
      .checkpoint_slots;
}

std::int64_t Planning::slots_with(const SweepPlan& plan, const schedule::Entry& entry) {
  SweepPlan other = another(plan, entry);
  plan_blocks(other);
  return slots_in_all(other);
}

std::int64_t Planning::slots_in_all(const SweepPlan& plan) const {
  if (plan.memory.blocks == 0) return 0;
  return plan.disk_use() == DiskUse::kNone ? plan.memory.checkpoint_slots
                                           : shared_memory(plan).slots(0);
}

bool Planning::disk_leaves_too_few(const SweepPlan& plan) {
  SweepPlan bare;  // before anything is planned
  bare.steps = plan.steps;
  bare.record = plan.record;
  bare.budget = plan.budget;
  SweepPlan with_disk = another(bare, *plan.schedule);
  plan_blocks(with_disk);
  const std::int64_t beside_a_disk = slots_in_all(with_disk);
  if (beside_a_disk == 0) return true;
  if (with_disk.memory.largest_state_bytes > store::kHandedOverBytes) return false;
  const std::int64_t in_memory =
      slots_with(bare, schedule::schedule_for(schedule::InAuto::kNoDisk));
  if (in_memory == 0) return false;
  constexpr std::int64_t kPerhaps = 10'000;  // n that nobody knows
  const bool known = plan.steps != schedule::kUnknown;
  const std::int64_t chain = (known ? plan.steps : kPerhaps) + (plan.record ? 0 : 1);
  const auto steps = [&](std::int64_t slots) {
    return static_cast<double>(schedule::extra_advances(chain, slots));
  };
  constexpr std::int64_t kMany = 256;
  constexpr double kLittle = 1.05;
  return steps(beside_a_disk) > (known && in_memory < kMany ? 1 : kLittle) * steps(in_memory);
}

double Planning::forecast(const SweepPlan& plan, const Supposed& supposed) {
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
  schedule::SharedMemory memory = {plan.memory.blocks - plan.memory.set_aside,
                                   plan.memory.layout.states(), !options_.mpio(),
                                   plan.kept_tape_slots()};
  memory.most_slots = options_.most_slots(memory.most_slots);
  memory.slots_elsewhere = plan.memory.device.slots;
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
  if (plan.disk_use() != DiskUse::kNone) problem.blocks_on_disk = storage_.expected_blocks(plan);
  problem.all_anchors = options_.files_are_read();
  problem.leaves_states = options_.passes > 0 && !options_.probes();
  problem.checkpoints = options_.checkpoints;
  problem.costs = costs(plan);
  problem.costs.passes = static_cast<double>(options_.passes);
  problem.interval_times = &measured_.interval_times();
  return problem;
}

// Who gives the interval wants anchors to be read. A state that a codec has changed is never
// computed from another one in place of being read, and with tapes each step is run in any case.
std::int64_t Planning::stride_forward(const SweepPlan& plan) const {
  if (options_.interval > 0 || options_.is_lossy() || plan.record) return 1;
  schedule::StepCosts costs = this->costs(plan);
  costs.visit = measured_.visit();
  const bool reads_ahead = shared_memory(plan).overlaps && plan.memory.prefetch_depth > 0;
  return schedule::best_stride(costs, plan.sweep->course().steps, plan.sweep->anchors().count(),
                               reads_ahead);
}

}  // namespace anadrome::engine

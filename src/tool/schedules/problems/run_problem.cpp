// SPDX-License-Identifier: BSD-2-Clause
#include "tool/schedules/problems/run_problem.h"

#include <algorithm>

#include "base/checked.h"
#include "base/error.h"
#include "base/index.h"
#include "engine/disk/storage.h"
#include "engine/plan/planning.h"
#include "engine/sweep/context.h"
#include "engine/sweep/memory_plan.h"
#include "schedule/anchored/full_disk.h"

namespace anadrome::tool {

StateBytes state_bytes(const WhatIf& question) {
  constexpr std::int64_t kPage = 4096;
  store::Field state;
  state.count = question.state_bytes;
  return {engine::least_memory({&state, 1}, question.state_bytes, store::DiskUse::kBlocks, {}),
          anadrome::checked_multiply(round_up(question.state_bytes, kPage), question.ranks)};
}

std::int64_t states_on(std::int64_t disk, std::int64_t state) {
  return disk == kNoLimit ? kNoLimit : disk / state;
}

StreamRoom::StreamRoom(const WhatIf& question)
    : state_bytes(question.state_bytes), slots(question.memory / question.state_bytes) {
  if (question.checkpoints > 0) slots = std::min(slots, question.checkpoints);
  costs.forward = question.forward;
  costs.adjoint = question.adjoint;
  if (!question.has_disk()) return;
  costs.write = question.write_seconds();
  costs.read = question.read_seconds();
  if (question.cores_busy) {
    costs.write_taken = costs.write;
    costs.read_taken = costs.read;
  }
  const std::int64_t state =
      std::max<std::int64_t>(question.compression.of(tool::state_bytes(question).disk), 1);
  disk_states = states_on(question.disk, state);
  if (question.has_fast() && disk_states < kNoLimit) {
    const std::int64_t more = states_on(question.fast.disk, state);
    disk_states = more < kNoLimit ? disk_states + more : kNoLimit;
  }
}

void check(const WhatIf& question) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 60;
  if (question.state_bytes > kLargest / question.ranks) {
    throw Error(ANADROME_ERR_ARGUMENT, "--state times --ranks is more than 2^60 bytes");
  }
  if (question.tape_bytes > kLargest / question.ranks) {
    throw Error(ANADROME_ERR_ARGUMENT, "--tape-size times --ranks is more than 2^60 bytes");
  }
  const bool half = 2 * question.slot_bytes >= question.state_bytes;
  if (question.slot_bytes > 0 && (!half || question.slot_bytes > question.state_bytes)) {
    throw Error(ANADROME_ERR_ARGUMENT,
                "--slot: a state in single precision takes half of --state at least, and no more "
                "than it");
  }
}

namespace {

// Each has what this one has.
class RanksAlike final : public engine::Ranks {
 public:
  explicit RanksAlike(std::int64_t size) : size_(size) {}
  int rank() const override { return 0; }
  int size() const override { return static_cast<int>(size_); }
  void largest(std::span<std::int64_t>) override {}
  void largest(std::span<double>) override {}
  void sum(std::span<std::int64_t> values) override {
    for (std::int64_t& value : values) value = anadrome::checked_multiply(value, size_);
  }
  void sum(std::span<double> values) override {
    for (double& value : values) value *= real(size_);
  }
  void broadcast(std::span<std::byte>, int) override {}

 private:
  std::int64_t size_;
};

store::Field field(const char* name, anadrome_role role, std::int64_t bytes) {
  store::Field field;
  field.name = name;
  field.role = role;
  field.count = bytes;
  return field;
}

// The part of a state that single precision halves.
store::Field doubles(const WhatIf& question) {
  store::Field doubles = field("doubles", ANADROME_ROLE_STATE, 0);
  if (question.slot_bytes == 0) return doubles;
  doubles.type = ANADROME_FLOAT64;
  doubles.count = 2 * (question.state_bytes - question.slot_bytes) / 8;
  return doubles;
}

}  // namespace

struct RunProblem::Run {
  Run(const WhatIf& question, const schedule::Entry& entry, Asked asked) : ranks(question.ranks) {
    const store::Field halved = doubles(question);
    if (halved.count > 0) context.asked.fields.add(halved);
    context.asked.fields.add(
        field("state", ANADROME_ROLE_STATE, question.state_bytes - halved.bytes()));
    if (question.has_tape()) {
      context.asked.fields.add(field("tape", ANADROME_ROLE_TAPE, question.tape_bytes));
    }
    context.asked.fields.begin_sweep();
    context.asked.options.memory = question.memory;
    context.asked.options.disk = question.disk == kNoLimit ? -1 : question.disk;
    context.asked.options.passes = question.passes;
    if (question.checkpoints > 0) context.asked.options.checkpoints = question.checkpoints;
    if (question.slot_bytes > 0) context.asked.options.compress = {store::CodecName::kFloat32};
    if (asked == Asked::kByName) context.asked.options.schedule = &entry;
    engine::AgreedNumbers times = {.forward = question.forward, .adjoint = question.adjoint};
    if (question.has_disk()) {
      times.write = question.at_home().write;
      times.read = question.at_home().read;
      if (question.has_fast()) {
        times.fast_write = question.at_fast().write;
        times.fast_read = question.at_fast().read;
        context.asked.options.fast.directory = "fast";
        context.asked.options.fast.disk = question.fast.disk == kNoLimit ? -1 : question.fast.disk;
        context.asked.options.fast.has_disk = true;
        context.notes.measured.use_volumes(true, true);
      }
      times.write_taken = question.cores_busy ? question.write_seconds() : 0;
      times.read_taken = question.cores_busy ? question.read_seconds() : 0;
      if (question.compression.on()) {
        if (context.asked.options.compress.empty())
          context.asked.options.compress = {store::CodecName::kLz4};
        times.filled.share = 1 / question.compression.ratio;
      }
    }
    engine::Agreement::Output agreed;
    agreed.largest = times.in_order();
    agreed.smallest = 1;
    context.notes.measured.take(agreed);
    context.notes.measured.sweep_is_done(true);
    plan.steps = question.steps;
    plan.schedule = &entry;
    plan.budget = question.memory;
    plan.record = question.has_tape();
    planning.require_fit(plan);
    planning.plan_memory(plan, nullptr);
    problem = planning.problem(plan);
  }

  RanksAlike ranks;
  engine::Context context{ranks};
  engine::Storage storage{context.peers, context.asked, context.notes.measured,
                          context.notes.warnings};
  engine::Planning planning{context.peers, context.asked, context.notes.measured, storage};
  engine::SweepPlan plan;
  schedule::Problem problem;
};

RunProblem::RunProblem(const WhatIf& question, const schedule::Entry& entry, Asked asked)
    : run_(std::make_unique<Run>(question, entry, asked)) {}

RunProblem::~RunProblem() = default;

const schedule::Problem& RunProblem::problem() const { return run_->problem; }

const engine::MemoryPlan& RunProblem::memory() const { return run_->plan.memory; }

bool RunProblem::disk_leaves_too_few() const {
  return run_->planning.disk_leaves_too_few(run_->plan);
}

std::optional<schedule::Remains> RunProblem::remains() const {
  engine::SweepPlan& plan = run_->plan;
  run_->planning.make_sweep(plan, false);
  schedule::Measured measured{
      .costs = problem().costs, .write_times_known = true, .of_earlier_sweep = true};
  // A run plans anew at every anchor: here that is to take no longer than a moment.
  constexpr std::int64_t kMostPlans = 1000;
  const std::int64_t decisions_per_plan = ceil_divide(plan.steps, kMostPlans);
  std::int64_t decisions = 0;
  for (schedule::Action action; !std::holds_alternative<schedule::Done>(action);) {
    action = plan.sweep->next();
    if (!std::holds_alternative<schedule::Decide>(action)) continue;
    if (decisions++ % decisions_per_plan == 0) ++measured.agreement;
    schedule::decide_at_once(*plan.sweep, measured);
  }
  return plan.sweep->remains();
}

std::int64_t RunProblem::disk_states() const {
  const std::int64_t states = memory().layout.states(), blocks = problem().blocks_on_disk;
  return blocks < kNoLimit / states ? blocks * states : kNoLimit;
}

std::int64_t RunProblem::bytes_of_slots(std::int64_t slots) const {
  return bytes_of(ceil_divide(slots, memory().slots.states()));
}

}  // namespace anadrome::tool

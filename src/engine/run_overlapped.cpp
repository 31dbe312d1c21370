// Run, the part of schedule=overlapped: a plan in which each transfer has its place.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "engine/run.h"
#include "schedule/offloaded_plan.h"

namespace anadrome::engine {
namespace {

// A plan rests on what a transfer takes, in steps.
std::array<double, 2> in_steps(const schedule::OverlapTimes& times) {
  return {times.write / times.forward, times.read / times.forward};
}

bool times_hold(const schedule::OverlapTimes& planned, const schedule::OverlapTimes& measured) {
  constexpr double kHolds = 1.25;
  const auto before = in_steps(planned), now = in_steps(measured);
  const auto holds = [&](std::size_t i) {
    return std::max(before[i], now[i]) <= kHolds * std::min(before[i], now[i]) ||
           std::max(before[i], now[i]) < 1;  // hidden behind any step
  };
  return holds(0) && holds(1);
}

}  // namespace

// What searching takes is part of the memory: where it is a small part.
bool Run::searches_plans() const { return options_.memory >= 16 * schedule::kOverlapSearchBytes; }

schedule::OverlappedOptions Run::overlapped_options(std::int64_t steps) const {
  schedule::OverlappedOptions options;
  options.steps = steps;
  options.slots = memory_plan_.checkpoint_slots;
  options.record = has_tape();
  options.may_search = searches_plans();
  if (stack_plan_) {
    options.slots = stack_plan_->units;
    options.units = stack_plan_->state_units;
  }
  options.most_on_disk = most_blocks();
  if (options.most_on_disk == 0) throw_disk_too_small();
  return options;
}

schedule::OverlapTimes Run::overlap_times() const {
  const schedule::StepCosts costs = agreed_costs();
  const double record = has_tape() ? costs.forward : 0;  // the step that records a tape
  return {costs.forward, costs.adjoint + record, costs.write, costs.read};
}

// Every rank makes the plan by itself, from times that are the same on all. Should they differ in
// arithmetic, or should one lack the memory, all hear of it here.
void Run::agree_on_plan(const Failure& failure) {
  hold(failure);
  const bool offload = schedule_ == ScheduleName::kOffload;
  try {
    agree(Call::kAnchor, script_->overlapped()->fingerprint(),
          offload ? "the plan of schedule=offload" : "the plan of schedule=overlapped");
  } catch (...) {
    offload_planned_.reset();  // some rank may not have made it
    throw;
  }
}

// x_0 is on its way to disk. More steps are run meanwhile, until its write is done everywhere.
void Run::decide_overlapped() {
  schedule::OverlappedSweep& sweep = *script_->overlapped();
  if (sweep.at_forward_end()) hold(failure_from([&] { tier_->flush(); }));
  agree(Call::kAnchor);
  if (!write_times_known_ && !sweep.at_forward_end()) {
    sweep.probe(probe_steps_);
    probe_steps_ = std::min<std::int64_t>(2 * probe_steps_, std::int64_t{1} << 20);
    return;
  }
  planned_times_ = overlap_times();
  agree_on_plan(failure_from([&] { sweep.plan(planned_times_); }));
}

// ---- schedule=offload ----

// In whole ticks, so that all ranks reckon alike; what was given may be in any unit.
schedule::OffloadChain Run::offload_chain() const {
  const schedule::StepCosts agreed = agreed_costs();
  const std::vector<double>&forward = step_costs_.values(), &adjoint = adjoint_costs_.values();
  const auto steps = static_cast<std::int64_t>(forward.size());
  double sum = 0, largest = std::max({agreed.write, agreed.read, agreed.forward});
  for (const double cost : forward) sum += cost;
  const double scale = sum > 0 ? agreed.forward * static_cast<double>(steps) / sum : 0;
  for (const double cost : forward) largest = std::max(largest, cost * scale);
  for (const double cost : adjoint) largest = std::max(largest, cost);
  const auto ticks = [largest](double seconds) {
    return std::max<std::int64_t>(std::llround(seconds / largest * 0x1p20), 1);
  };
  schedule::OffloadChain chain;
  for (std::size_t k = 0; k < forward.size(); ++k) {
    const double record = has_tape() ? forward[k] * scale : 0;
    chain.forward.push_back(ticks(forward[k] * scale));
    chain.adjoint.push_back(ticks(adjoint[k] + record));
  }
  if (has_tape()) {
    chain.forward.pop_back();
  } else {
    chain.adjoint.push_back(0);  // TURN
  }
  const std::size_t states = chain.adjoint.size();
  chain.state_units.assign(states, 1);
  chain.write.assign(states, ticks(agreed.write));
  chain.read.assign(states, ticks(agreed.read));
  if (!stack_plan_) return chain;
  chain.state_units = stack_plan_->state_units;
  const auto full =
      static_cast<double>(std::max<std::int64_t>(memory_plan_.largest_state_bytes, 1));
  for (std::size_t k = 0; k < states; ++k) {
    const auto bytes = static_cast<double>(chain.state_units[k] * stack_plan_->unit_bytes);
    const double part = std::min(bytes / full, 1.0);
    chain.write[k] = ticks(agreed.write * part);
    chain.read[k] = ticks(agreed.read * part);
  }
  return chain;
}

// Planning is to take a few percent of the sweep.
std::int64_t Run::most_offload_ops() const {
  constexpr double kShare = 0.03, kSecondsPerOp = 15e-9;
  constexpr std::int64_t kFewest = 200'000, kMost = 6'000'000;
  const double forward = agreed_costs().forward * static_cast<double>(script_->steps());
  const std::vector<double>& adjoint = adjoint_costs_.values();
  const double sweep = std::accumulate(adjoint.begin(), adjoint.end(), forward);
  const double ops = std::min(sweep * kShare / kSecondsPerOp, static_cast<double>(kMost));
  return std::max(static_cast<std::int64_t>(ops), kFewest);
}

bool Run::still_holds(const OffloadPlanned& planned, std::int64_t memory) const {
  return planned.memory == memory && planned.tape == has_tape() &&
         planned.forward == step_costs_.values() && planned.adjoint == adjoint_costs_.values() &&
         (!stack_plan_ || planned.units == stack_plan_->state_units) &&
         planned.units.empty() == !stack_plan_ && times_hold(planned.times, overlap_times());
}

// False: costs are not known yet, or the disk does not hold the plan's states. Ranks agree on the
// times, and on what was measured of the steps: all of them make a new plan, or none.
bool Run::plan_offload() {
  if (schedule_ != ScheduleName::kOffload || !step_costs_.known() || !adjoint_costs_.known()) {
    return false;
  }
  const std::int64_t memory = stack_plan_ ? stack_plan_->units : memory_plan_.checkpoint_slots;
  if (!offload_planned_ || !still_holds(*offload_planned_, memory)) {
    OffloadPlanned made;
    made.forward = step_costs_.values();
    made.adjoint = adjoint_costs_.values();
    if (stack_plan_) made.units = stack_plan_->state_units;
    made.memory = memory;
    made.tape = has_tape();
    made.times = overlap_times();
    made.plan = schedule::plan_offloaded(offload_chain(), memory, most_offload_ops());
    offload_planned_ = std::move(made);
  }
  if (!script_->overlapped()->adopt(offload_planned_->plan)) return false;
  planned_times_ = offload_planned_->times;
  return true;
}

void Run::rewind_overlapped() {
  planned_times_ = overlap_times();
  const Failure failure = failure_from([&] {
    script_->overlapped()->rewind();
    if (!plan_offload()) script_->overlapped()->plan(planned_times_);
  });
  newest_anchor_ = 0;
  agree_on_plan(failure);
}

// Nothing if the times held that the plan rests on.
std::string Run::outdated_plan() const {
  if (script_->overlapped() == nullptr || script_->overlapped()->states_on_disk() == 0) return "";
  if (times_hold(planned_times_, overlap_times())) return "";
  const auto planned = in_steps(planned_times_), measured = in_steps(overlap_times());
  char text[240];
  std::snprintf(text, sizeof text,
                "made for writes of %.3g and reads of %.3g steps, and they took %.3g and %.3g; the "
                "next sweep of this run is planned with these",
                planned[0], planned[1], measured[0], measured[1]);
  return text;
}

void Run::write_anchor(const schedule::Action& action) {
  agree(Call::kAnchor);
  const bool room = tier_->block_of(action.slot) < disk_->capacity() ||
                    grow_disk(Call::kAnchor, segment_blocks(script_->steps()));
  attempt([&] {
    if (room) {
      tier_->write(action.slot, action.first);
    } else {
      tier_->give_up(action.slot, action.first, disk_refused_);
    }
  });
}

void Run::read_anchor(const schedule::Action& action) {
  agreed_block_ = -1;  // what is restored from it is agreed on
  attempt([&] {
    if (!stack_plan_) return tier_->read(action.slot);
    tier_->read_to(action.slot, {action.place, stack_units(action.first)});
  });
}

}  // namespace anadrome::engine

// Run, the part of schedule=overlapped: a plan in which each transfer has its place.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "engine/run.h"
#include "schedule/offload_actions.h"

namespace anadrome::engine {

// What searching takes is part of the memory: where it is a small part.
bool Run::searches_plans() const { return options_.memory >= 16 * schedule::kOverlapSearchBytes; }

schedule::OverlappedOptions Run::overlapped_options(std::int64_t steps) const {
  schedule::OverlappedOptions options;
  options.steps = steps;
  options.slots = memory_plan_.checkpoint_slots;
  options.record = has_tape();
  options.may_search = searches_plans();
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
  agree(Call::kAnchor, script_->overlapped()->fingerprint(), "the plan of schedule=overlapped");
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
  return chain;
}

// False: costs are not known yet, or the disk does not hold the plan's states.
bool Run::plan_offload() {
  if (schedule_ != ScheduleName::kOffload || !step_costs_.known() || !adjoint_costs_.known()) {
    return false;
  }
  return script_->overlapped()->adopt(
      schedule::plan_offloaded(offload_chain(), memory_plan_.checkpoint_slots));
}

void Run::rewind_overlapped() {
  planned_times_ = overlap_times();
  const Failure failure = failure_from([&] { script_->overlapped()->rewind(planned_times_); });
  newest_anchor_ = 0;
  agree_on_plan(failure);
}

// A plan rests on what a transfer takes, in steps. Nothing if that held.
std::string Run::outdated_plan() const {
  if (script_->overlapped() == nullptr || script_->overlapped()->states_on_disk() == 0) return "";
  constexpr double kHolds = 1.25;
  const auto in_steps = [](const schedule::OverlapTimes& times) {
    return std::array{times.write / times.forward, times.read / times.forward};
  };
  const auto planned = in_steps(planned_times_), measured = in_steps(overlap_times());
  const auto held = [&](std::size_t i) {
    return std::max(planned[i], measured[i]) <= kHolds * std::min(planned[i], measured[i]) ||
           std::max(planned[i], measured[i]) < 1;  // hidden behind any step
  };
  if (held(0) && held(1)) return "";
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
  attempt([&] { tier_->read(action.slot); });
}

}  // namespace anadrome::engine

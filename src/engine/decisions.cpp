#include "engine/decisions.h"

#include <algorithm>
#include <cstdio>

#include "base/checked.h"
#include "schedule/late_planner.h"

namespace anadrome::engine {
namespace {

constexpr std::int64_t kLongestProbe = std::int64_t{1} << 20;

}  // namespace

// Until the interval is known: probe for a few steps, and until the first write is done everywhere.
// A later sweep of the same run knows the times of the one before.
void Decisions::decide() {
  if (plan_.script->nested() != nullptr) return decide_late();
  if (plan_.script->overlapped() != nullptr) return decide_list();
  const bool first = sequence().interval() == 0;
  const bool known = measured_.of_earlier_sweep();
  if (!known && (first || waits_for_first_write())) {
    constexpr std::int64_t kProbes = 2;
    if (sweep_.probes > 0) meeting_.agree(Call::kAnchor);
    if (sweep_.probes < kProbes || waits_for_first_write()) {
      // However long the write takes: that the rest is cheaper from memory may be certain already.
      if (sweep_.probes >= kProbes) {
        const schedule::AsyncPlan plan = plan_intervals();
        if (plan.ends_in_ram) return use_interval(plan);
      }
      ++sweep_.probes;
      sequence().probe(sweep_.probe_steps);
      sweep_.probe_steps = std::min(2 * sweep_.probe_steps, kLongestProbe);
      return;
    }
  }
  if (options_.greedy) return decide_greedily();
  if (!first && sweep_.decided_at == agreement_.count()) {  // nothing was measured since
    sequence().set_interval(sequence().interval(), sequence().slots());
    return;
  }
  sweep_.decided_at = agreement_.count();
  use_interval(plan_intervals());
}

// A block is on its way to disk, and it is not known yet how long that takes. Where a block holds
// many small states it says little of one.
bool Decisions::waits_for_first_write() const {
  const bool written = sweep_.newest_anchor + 1 >= plan_.memory.layout.states();
  return written && plan_.memory.shape.paged && !measured_.write_times_known();
}

// What the times of the last agreement ask for.
schedule::AsyncPlan Decisions::plan_intervals() const {
  const schedule::Sequence& sequence = *plan_.script->sequence();
  schedule::StepCosts costs = planning_.costs(plan_);
  if (plan_.record) costs.adjoint += costs.forward;  // the step that records its tape
  const schedule::SharedMemory memory = planning_.shared_memory(plan_);
  const std::int64_t steps = plan_.script->steps();
  std::int64_t least = 1, most = std::int64_t{1} << 40;
  if (steps != schedule::kUnknown) {
    most = std::max<std::int64_t>(steps, 1);
    const std::int64_t anchors_left = sequence.most_anchors() - sweep_.newest_anchor - 1;
    if (anchors_left > 0) least = steps / anchors_left + (anchors_left < steps ? 1 : 0);
  }
  schedule::AsyncPlan plan = schedule::best_plan(costs, memory, least, most);
  const schedule::AsyncPlan now = {sequence.interval(), plan_.memory.prefetch_depth,
                                   sequence.slots(), 0};
  // Not every tremor of a measurement is worth a change.
  constexpr double kWorthwhile = 0.97;
  const bool keeps_interval = now.interval >= std::max<std::int64_t>(least, 1) && !options_.greedy;
  if (keeps_interval &&
      plan.seconds_per_step > kWorthwhile * schedule::seconds_per_step(costs, memory, now)) {
    plan = now;
  }
  if (steps != schedule::kUnknown && !options_.keep) {
    const std::int64_t rest = steps - sequence.anchors().newest_step();
    const schedule::AsyncPlan in_ram = schedule::plan_in_ram(costs, memory, rest, plan_.record);
    if (in_ram.seconds_per_step < plan.seconds_per_step) return in_ram;
  }
  return plan;
}

void Decisions::use_interval(const schedule::AsyncPlan& plan) {
  plan_.memory.prefetch_depth = plan.prefetch_depth;
  plan_.memory.checkpoint_slots = plan.slots;
  keeper_.disk_tier()->set_prefetch_depth(plan.prefetch_depth);
  if (plan.ends_in_ram) return sequence().end_in_ram(plan.slots);
  sequence().set_interval(plan.interval, plan.slots);
}

// An anchor where the last one is on disk on every rank, though not before the planned interval has
// passed, and not much later. All ranks decide on the same agreement, on the state that is live
// then.
void Decisions::decide_greedily() {
  const std::int64_t gap = sequence().steps_since_anchor();
  if (gap > 0) meeting_.agree(Call::kAnchor);
  schedule::AsyncPlan plan = plan_intervals();
  if (plan.ends_in_ram) return use_interval(plan);
  const std::int64_t largest =
      schedule::largest_gap(plan.interval, plan.slots, plan_.kept_tape_slots());
  if (gap >= largest || (gap >= plan.interval && measured_.nobody_writes())) {
    plan.interval = gap;
    return use_interval(plan);
  }
  constexpr std::int64_t kDecisionsPerInterval = 8;
  const std::int64_t pause =
      gap < plan.interval ? plan.interval - gap : ceil_divide(plan.interval, kDecisionsPerInterval);
  sequence().probe(std::min(pause, largest - gap));
}

// x_0 is on its way to disk, and some steps were run: now both times are known.
void Decisions::decide_late() {
  held_.hold(failure_from([&] { keeper_.disk_tier()->flush(); }));
  meeting_.agree(Call::kAnchor);
  auto& late = static_cast<schedule::LatePlanner&>(plan_.script->nested()->planner());
  held_.hold(failure_from([&] { late.choose(planning_.late_planner(plan_, sweep_)); }));
  meeting_.agree(Call::kAnchor);  // one rank may lack the memory for the plan
}

// ---- lists of transfers ----

// Every rank makes the plan by itself, from times that are the same on all. Should they differ in
// arithmetic, or should one lack the memory, all hear of it here.
void Decisions::agree_on_list(const Failure& failure) {
  held_.hold(failure);
  try {
    meeting_.agree(Call::kAnchor, plan_.script->overlapped()->fingerprint(), plan_.list_name(), {});
  } catch (...) {
    planning_.forget_list();  // some rank may not have made it
    throw;
  }
}

// x_0 is on its way to disk. More steps are run meanwhile, until its write is done everywhere.
void Decisions::decide_list() {
  schedule::OverlappedSweep& sweep = *plan_.script->overlapped();
  if (sweep.at_forward_end()) held_.hold(failure_from([&] { keeper_.disk_tier()->flush(); }));
  meeting_.agree(Call::kAnchor);
  if (!measured_.write_times_known() && !sweep.at_forward_end()) {
    sweep.probe(sweep_.probe_steps);
    sweep_.probe_steps = std::min(2 * sweep_.probe_steps, kLongestProbe);
    return;
  }
  plan_.planned_times = planning_.overlap_times(plan_);
  agree_on_list(failure_from([&] { sweep.plan(plan_.planned_times); }));
}

void Decisions::rewind_list() {
  const Failure failure = failure_from([&] {
    plan_.script->overlapped()->rewind();
    planning_.plan_list(plan_);
  });
  sweep_.newest_anchor = 0;
  agree_on_list(failure);
}

std::string Decisions::outdated_plan() const {
  if (!plan_.plays_list() || plan_.script->overlapped()->states_on_disk() == 0) return "";
  const schedule::OverlapTimes& planned = plan_.planned_times;
  const schedule::OverlapTimes measured = planning_.overlap_times(plan_);
  if (times_hold(planned, measured)) return "";
  char text[240];
  std::snprintf(text, sizeof text,
                "made for writes of %.3g and reads of %.3g steps, and they took %.3g and %.3g; the "
                "next sweep of this run is planned with these",
                planned.write / planned.forward, planned.read / planned.forward,
                measured.write / measured.forward, measured.read / measured.forward);
  return text;
}

}  // namespace anadrome::engine

// Run, the part that plans from measured times: the interval between anchors, and when it will end.
#include <algorithm>

#include "base/checked.h"
#include "base/clock.h"
#include "engine/run.h"

namespace anadrome::engine {

schedule::StepCosts Run::agreed_costs() const {
  schedule::StepCosts costs;
  costs.forward = std::max(agreed_[0], 1e-9);
  constexpr double kAdjointPerForward = 2;  // until an adjoint step was measured
  costs.adjoint = agreed_[1] > 0 ? agreed_[1] : kAdjointPerForward * costs.forward;
  costs.write = agreed_[2];
  if (!write_times_known_) {  // no write is done yet
    constexpr double kGuessedBytesPerSecond = 1e9;
    const double guess =
        static_cast<double>(memory_plan_.largest_state_bytes) / kGuessedBytesPerSecond;
    costs.write = std::max(guess, agreed_[2]);  // what it has taken so far
  }
  costs.read = agreed_[3] > 0 ? agreed_[3] : costs.write;
  costs.write_taken = agreed_[4];
  costs.read_taken = agreed_[5] > 0 ? agreed_[5] : agreed_[4];
  return costs;
}

// Until the interval is known: probe for a few steps, and until the first write is done everywhere.
// A later sweep of the same run knows the times of the one before.
void Run::decide() {
  if (script_->nested() != nullptr) return decide_two_tier();
  if (script_->overlapped() != nullptr) return decide_overlapped();
  const bool first = sequence().interval() == 0;
  const bool waits = !measured_before_ && waits_for_first_write();
  if (waits || (first && !measured_before_)) {
    constexpr std::int64_t kProbes = 2;
    if (probes_ > 0) agree(Call::kAnchor);
    if (probes_ < kProbes || waits_for_first_write()) {
      // However long the write takes: that the rest is cheaper from memory may be certain already.
      if (probes_ >= kProbes) {
        const schedule::AsyncPlan plan = plan_intervals();
        if (plan.ends_in_ram) return use_interval(plan);
      }
      ++probes_;
      sequence().probe(probe_steps_);
      probe_steps_ = std::min<std::int64_t>(2 * probe_steps_, std::int64_t{1} << 20);
      return;
    }
  }
  if (options_.greedy) return decide_greedily();
  if (!first && decided_at_ == agreement_.count()) {  // nothing was measured since
    sequence().set_interval(sequence().interval(), sequence().slots());
    return;
  }
  decided_at_ = agreement_.count();
  use_interval(plan_intervals());
}

// A block is on its way to disk, and it is not known yet how long that takes. Where a block holds
// many small states it says little of one.
bool Run::waits_for_first_write() const {
  const bool written = newest_anchor_ + 1 >= memory_plan_.layout.states();
  return written && memory_plan_.shape.paged && !write_times_known_;
}

// What the times of the last agreement ask for.
schedule::AsyncPlan Run::plan_intervals() const {
  const schedule::Sequence& sequence = *script_->sequence();
  schedule::StepCosts costs = agreed_costs();
  if (has_tape()) costs.adjoint += costs.forward;  // the step that records its tape
  const schedule::SharedMemory memory = shared_memory();
  const std::int64_t steps = script_->steps();
  std::int64_t least = 1, most = std::int64_t{1} << 40;
  if (steps != schedule::kUnknown) {
    most = std::max<std::int64_t>(steps, 1);
    const std::int64_t anchors_left = sequence.most_anchors() - newest_anchor_ - 1;
    if (anchors_left > 0) least = steps / anchors_left + (anchors_left < steps ? 1 : 0);
  }
  schedule::AsyncPlan plan = schedule::best_plan(costs, memory, least, most);
  const schedule::AsyncPlan now = {sequence.interval(), memory_plan_.prefetch_depth,
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
    const schedule::AsyncPlan in_ram = schedule::plan_in_ram(costs, memory, rest, has_tape());
    if (in_ram.seconds_per_step < plan.seconds_per_step) return in_ram;
  }
  return plan;
}

void Run::use_interval(const schedule::AsyncPlan& plan) {
  memory_plan_.prefetch_depth = plan.prefetch_depth;
  memory_plan_.checkpoint_slots = plan.slots;
  tier_->set_prefetch_depth(plan.prefetch_depth);
  if (plan.ends_in_ram) return sequence().end_in_ram(plan.slots);
  sequence().set_interval(plan.interval, plan.slots);
}

// An anchor where the last one is on disk on every rank, though not before the planned interval has
// passed, and not much later. All ranks decide on the same agreement, on the state that is live
// then.
void Run::decide_greedily() {
  const std::int64_t gap = sequence().steps_since_anchor();
  if (gap > 0) agree(Call::kAnchor);
  schedule::AsyncPlan plan = plan_intervals();
  if (plan.ends_in_ram) return use_interval(plan);
  const std::int64_t tape_units = keeps_tapes_ ? tape_slots_ : 0;
  const std::int64_t largest = schedule::largest_gap(plan.interval, plan.slots, tape_units);
  if (gap >= largest || (gap >= plan.interval && nobody_writes_)) {
    plan.interval = gap;
    return use_interval(plan);
  }
  constexpr std::int64_t kDecisionsPerInterval = 8;
  const std::int64_t pause =
      gap < plan.interval ? plan.interval - gap : ceil_divide(plan.interval, kDecisionsPerInterval);
  sequence().probe(std::min(pause, largest - gap));
}

schedule::SharedMemory Run::shared_memory() const {
  schedule::SharedMemory memory = {memory_plan_.blocks - memory_plan_.live_blocks,
                                   memory_plan_.layout.states(), transport_->overlaps(),
                                   keeps_tapes_ ? tape_slots_ : 0};
  memory.most_slots = options_.most_slots(memory.most_slots);
  return memory;
}

SweepCosts Run::sweep_costs() const {
  SweepCosts costs;
  costs.step = agreed_costs();
  costs.step.forward = std::max(agreed_[0], forward_.seconds());
  costs.copy = copy_.seconds();
  const auto agreements = static_cast<double>(agreement_.count() - agreements_before_);
  if (agreements > 0) {
    costs.agreement = (agreement_.seconds() - seconds_agreeing_before_) / agreements;
  }
  costs.steps = script_->steps();
  costs.modelled =
      disk_use() != DiskUse::kStates && !stack_plan_ && !plays_least_memory() && join() == nullptr;
  costs.disk = uses_disk() && costs.modelled;
  costs.plan.slots = memory_plan_.checkpoint_slots;
  costs.memory.states_per_block = memory_plan_.layout.states();
  costs.memory.tape_units = keeps_tapes_ ? tape_slots_ : 0;
  if (!costs.disk) return costs;
  costs.memory = shared_memory();
  const schedule::Sequence& sequence = *script_->sequence();
  const bool no_more = sequence.ends_in_ram() && costs.steps != schedule::kUnknown;
  costs.plan.interval = std::max<std::int64_t>(no_more ? costs.steps : sequence.interval(), 1);
  costs.plan.prefetch_depth = memory_plan_.prefetch_depth;
  return costs;
}

// With those of an advance that the caller has in pieces.
std::int64_t Run::advances_to_come() const {
  const std::int64_t left = script_->advances_remaining(), rest = rest_.last - rest_.first;
  if (left == schedule::kUnknown) return left;
  return left > schedule::kNoLimit - rest ? schedule::kNoLimit : left + rest;
}

void Run::predict() {
  const std::int64_t to_come = advances_to_come();
  if (to_come == schedule::kUnknown) {  // the interval is not known yet
    predict_at_ += ceil_divide(predict_at_, 4);
    return;
  }
  SweepCosts costs = sweep_costs();
  adjoint_guessed_ = agreed_[1] <= 0 && adjoint_.seconds() <= 0;
  if (!adjoint_guessed_) costs.step.adjoint = std::max(agreed_[1], adjoint_.seconds());
  predicted_at_ = advances_;
  predicted_seconds_ = predict_seconds(costs, {now_seconds() - begin_time_, advances_, to_come});
  predict_at_ = 0;
}

}  // namespace anadrome::engine

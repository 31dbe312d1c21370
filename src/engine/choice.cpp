// SPDX-License-Identifier: BSD-2-Clause
#include "engine/choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/byte_size.h"

namespace anadrome::engine {
namespace {

using schedule::InAuto;

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

// Without times to go by it follows from options and slots, which all ranks share.
void Choice::choose(SweepPlan& plan, SweepState& sweep, const SweepPlan& before, bool same_disk) {
  plan.schedule = options_.schedule;
  if (plan.schedule != nullptr) return;
  if (plan.has_branches()) {
    held_.attempt([&] { sweep.chosen = std::to_string(plan.join.steps.size()) + " branches"; });
    plan.schedule = &schedule::schedule_for(InAuto::kBranches);
    return;
  }
  plan.schedule = &schedule::schedule_for(InAuto::kByDefault);
  const bool probes = options_.probes();
  if (plan.steps == schedule::kUnknown || options_.files_are_read() || probes) {
    held_.attempt([&] {
      sweep.chosen = options_.keep     ? "keep=on wants files"
                     : options_.resume ? "resume=on wants files"
                     : probes          ? "probe wants intervals"
                                       : "the number of steps is not known";
    });
    return;
  }
  const MemoryPlan memory = plan_memory(
      agreement_,
      {.state_fields = fields_.state(), .memory = options_.memory, .states = plan.steps});
  const bool fit = memory.checkpoint_slots >= plan.steps;
  held_.attempt([&] {
    sweep.chosen = std::to_string(memory.checkpoint_slots) + " of " + std::to_string(plan.steps) +
                   (fit ? " states fit: all of them" : " states fit");
  });
  if (fit) {
    plan.schedule = &schedule::schedule_for(InAuto::kEveryStateFits);
  } else if (may_weigh(plan, before, same_disk)) {
    plan.state_bytes_all_ranks = before.state_bytes_all_ranks;
    weigh(plan, sweep, planning_.costs(before));
  } else if (disk_leaves_too_few(plan, sweep)) {
    plan.schedule = &schedule::schedule_for(InAuto::kNoDisk);
  }
}

bool Choice::disk_leaves_too_few(const SweepPlan& plan, SweepState& sweep) {
  if (!planning_.disk_leaves_too_few(plan)) return false;
  held_.attempt([&] {
    sweep.chosen += "; beside a disk there would be memory for " +
                    std::to_string(planning_.slots_with(plan, *plan.schedule));
  });
  return true;
}

// Is there a choice, and is the sweep worth a thought? What several states in a block are good for,
// the other schedules cannot use.
bool Choice::may_weigh(const SweepPlan& plan, const SweepPlan& before, bool same_disk) const {
  const bool free = options_.interval == 0 && options_.anchors < 0;
  const AgreedNumbers& agreed = measured_.agreed();
  return measured_.of_earlier_sweep() && same_disk && free && !plan.record &&
         options_.passes == 0 && !options_.has_fast() && !fields_.states_vary() &&
         before.alone_in_block() &&
         schedule::worth_weighing(
             plan.steps, static_cast<double>(plan.steps) * (agreed.forward + agreed.adjoint));
}

// Are these the times that were reckoned with? Planning takes the pool's memory, which is slow to
// touch again.
bool Choice::weighed_with(std::int64_t steps, const schedule::StepCosts& costs) const {
  constexpr double kSame = 0.1;
  const auto same = [](double a, double b) { return std::abs(a - b) <= kSame * b; };
  return steps_ == steps && same(costs.forward, costs_.forward) &&
         same(costs.adjoint, costs_.adjoint) && same(costs.write, costs_.write) &&
         same(costs.read, costs_.read);
}

// Every rank reckons by itself; where one cannot, nobody takes the schedule. The time that a
// schedule took before corrects the expectation.
void Choice::weigh(SweepPlan& plan, SweepState& sweep, const schedule::StepCosts& costs) {
  const auto candidates = schedule::weighed_rows(options_.disk < 0);
  if (!weighed_with(plan.steps, costs)) {
    keeper_.give_up_pool();  // tables in its place
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      plan.schedule = candidates[i];
      planning_.plan_blocks(plan);
      seconds_[i] = kNever;
      const bool fits = plan.memory.blocks > 0;
      if (fits) (void)failure_from([&] { seconds_[i] = planning_.forecast(plan); });
    }
    agreement_.ranks().largest(seconds_);
    if (steps_ != plan.steps) {
      taken_over_expected_.fill(1);
      taken_ = 0;
    }
    steps_ = plan.steps;
    costs_ = costs;
  }
  Seconds corrected = seconds_;
  for (std::size_t i = 0; i < corrected.size(); ++i) corrected[i] *= taken_over_expected_[i];
  taken_ = schedule::cheapest_of(corrected, taken_);
  plan.schedule = candidates[taken_];
  sweep.expected_seconds = seconds_[taken_];
  held_.attempt([&] {
    sweep.chosen += "; measured times promise ";
    const char* between = "";
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (seconds_[i] == kNever) continue;
      sweep.chosen += between;
      sweep.chosen += format_seconds(corrected[i]);
      sweep.chosen += std::string(" with ") + to_string(candidates[i]);
      between = ", ";
    }
  });
}

void Choice::note(SweepState& sweep) {
  if (sweep.expected_seconds <= 0) return;
  double seconds = sweep.times.done - sweep.times.begin;
  agreement_.ranks().largest(std::span(&seconds, 1));
  constexpr double kNewest = 0.5;
  double& factor = taken_over_expected_[taken_];
  factor += kNewest * (seconds / sweep.expected_seconds - factor);
  sweep.expected_seconds = 0;  // a sweep after a rewind is another matter
}

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
#include "engine/verify/spot_check.h"

#include <array>
#include <utility>

namespace anadrome::engine {
namespace {

constexpr std::int64_t kSeldom = 4;

}  // namespace

void SpotChecks::begin() {
  const SweepPlan& plan = play_.plan;
  const bool passed = compared_fields_ == fields_.all().size();
  on_ = comparison_.sees_states_again() && !plan.record && !passed;
  due_ = compared_ = 0;
  step_ = -1;
  repeats_ = false;
  if (on_) peers_.held.attempt([&] { prints_.resize(2 * comparison_.fields()); });
}

bool SpotChecks::is_chosen(std::int64_t step) {
  const SweepState& sweep = play_.sweep;
  if (step_ == step) return start(step);
  step_ = -1;
  const bool due = sweep.adjoints >= due_ && step > 0;
  if (!due) return false;
  on_ = !sweep.rewound && !sweep.passes.on;
  if (!on_) return false;
  comparison_.take(*keeper_.live(), first());
  step_ = step - 1;
  return false;
}

bool SpotChecks::start(std::int64_t step) {
  step_ = -1;
  std::array<double, 2> numbers = {keeper_.holds(step) ? 0.0 : 1.0, measured_.forward()};
  peers_.agreement.agree({.call = Call::kAudit, .failure = peers_.held.failure()});
  peers_.agreement.ranks().largest(numbers);
  const auto [not_held, step_seconds] = numbers;
  if (not_held > 0 || step_seconds > kLongStep) return false;
  step_ = step;
  due_ = kSeldom * play_.sweep.adjoints;
  return repeats_ = true;
}

void SpotChecks::compare() {
  const LiveState& live = *keeper_.live();
  const std::int64_t step = std::exchange(step_, -1) + 1;
  repeats_ = false;
  comparison_.take(live, now(), {}, first());
  const auto difference = comparison_.compare(Call::kAudit, {live, first(), now()}, 1);
  keeper_.restore_held();
  ++compared_;
  compared_fields_ = fields_.all().size();
  ++play_.sweep.checks.audited_states;
  if (difference) comparison_.judge(*difference, not_the_same(step), kUsualCauses);
}

}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// schedule=auto: every state if they fit, else the schedule that the times of the sweep before
// promise to be fastest.
#pragma once

#include <array>
#include <cstdint>

#include "engine/context.h"
#include "engine/keeper.h"
#include "engine/planning.h"

namespace anadrome::engine {

class Choice {
 public:
  Choice(Context& context, Planning& planning, Keeper& keeper)
      : agreement_(context.agreement),
        held_(context.held),
        options_(context.options),
        fields_(context.fields),
        measured_(context.measured),
        planning_(planning),
        keeper_(keeper) {}

  /// The schedule of `plan`, and why (SweepState::chosen). `before`: the memory of the last sweep;
  /// `same_disk`: its disk, too. Collective.
  void choose(SweepPlan& plan, SweepState& sweep, const SweepPlan& before, bool same_disk);
  /// After DONE: how good the expectation was. The slowest rank counts. Collective.
  void note(SweepState& sweep);
  /// The last weighing was for another disk.
  void forget() { steps_ = -1; }

 private:
  using Seconds = std::array<double, schedule::kWeighedRows>;

  bool disk_leaves_too_few(const SweepPlan& plan, SweepState& sweep);
  bool may_weigh(const SweepPlan& plan, const SweepPlan& before, bool same_disk) const;
  bool weighed_with(std::int64_t steps, const schedule::StepCosts& costs) const;
  void weigh(SweepPlan& plan, SweepState& sweep, const schedule::StepCosts& costs);

  Agreement& agreement_;
  Held& held_;
  const Options& options_;
  const Fields& fields_;
  const Measurements& measured_;
  Planning& planning_;
  Keeper& keeper_;
  // The last weighing: for sweeps of so many steps, with these costs.
  std::int64_t steps_ = -1;
  schedule::StepCosts costs_;
  Seconds seconds_ = {}, taken_over_expected_ = {};
  std::size_t taken_ = 0;  ///< index of the row that was taken
};

}  // namespace anadrome::engine

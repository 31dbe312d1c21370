// SPDX-License-Identifier: BSD-2-Clause
// A planner that is chosen when the first steps have shown what a step and a transfer cost: x_0
// goes to disk, a few steps are run, and then the rest is planned.
#pragma once

#include <functional>
#include <memory>

#include "schedule/placement.h"

namespace anadrome::schedule {

class LatePlanner final : public Planner {
 public:
  /// The planner to go on with, from measured times. Making it may lack the memory.
  using Choose = std::function<std::unique_ptr<Planner>(const StepCosts&)>;

  /// `first_steps` >= 1 are run before it is asked for.
  LatePlanner(std::int64_t first_steps, Choose choose);

  bool ready() const override { return planner_ != nullptr; }
  Placement place(const Segment& segment) override;
  uint128 advances(const Segment& segment) override;
  std::int64_t interval() const override { return ready() ? planner_->interval() : 0; }

  /// x_0 has to be on disk, so that both times are known.
  Next decide(const Segment& here, std::int64_t anchors, const Measured& measured) override;
  void plan(const Measured& measured) override { planner_ = choose_(measured.costs); }

 private:
  std::int64_t first_steps_;
  Choose choose_;
  bool flushed_ = false;
  std::unique_ptr<Planner> planner_;
};

}  // namespace anadrome::schedule

// A planner that is chosen when the first steps have shown what a step and a transfer cost: x_0
// goes to disk, a few steps are run, and then the rest is planned.
#pragma once

#include <memory>

#include "schedule/placement.h"

namespace anadrome::schedule {

class LatePlanner final : public Planner {
 public:
  /// `first_steps` >= 1 are run before the planner is asked for.
  explicit LatePlanner(std::int64_t first_steps) : first_steps_(first_steps) {}

  void choose(std::unique_ptr<Planner> planner) { planner_ = std::move(planner); }

  bool ready() const override { return planner_ != nullptr; }
  Placement place(const Segment& segment) override;
  uint128 advances(const Segment& segment) override;

 private:
  std::int64_t first_steps_;
  std::unique_ptr<Planner> planner_;
};

}  // namespace anadrome::schedule

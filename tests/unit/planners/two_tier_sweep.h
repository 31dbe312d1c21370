// SPDX-License-Identifier: BSD-2-Clause
// A sweep of a planner for RAM and disk on the model machine, and what it cost.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "planners/two_tier/two_tier_costs.h"
#include "replay.h"

namespace anadrome::schedule {

struct TwoTierCase {
  std::int64_t steps, ram_slots, disk_slots;
};

inline StackOptions options_of(const TwoTierCase& given) {
  StackOptions options;
  options.steps = given.steps;
  options.units = given.ram_slots;
  options.disk_slots = given.disk_slots;
  options.turn = false;
  return options;
}

inline TwoTierUse use_of(const Taken& totals) {
  return {static_cast<uint128>(totals.advances), static_cast<uint128>(totals.anchors),
          static_cast<uint128>(totals.anchor_restores)};
}

/// The paper's problem, states only. Throws if a rule is broken or a slot is used that is not
/// there.
template <class Planner>
TwoTierUse replayed(const TwoTierCase& given, Planner planner) {
  return use_of(replay(options_of(given), std::make_unique<Planner>(std::move(planner))));
}

/// Puts x_0 on disk and runs `first_steps` before it asks another planner: a plan that is made when
/// a write was measured.
template <class Planner_after>
class FirstOnDisk final : public Planner {
 public:
  FirstOnDisk(std::int64_t first_steps, Planner_after planner)
      : first_steps_(first_steps), planner_(std::move(planner)) {}

  Placement place(const Segment& segment) override {
    if (segment.first > 0 || segment.last <= first_steps_) return planner_.place(segment);
    if (segment.held == Place::kNowhere) return {Place::kDisk, 0};
    return {Place::kNowhere, first_steps_};
  }
  uint128 advances(const Segment& segment) override {
    if (segment.first > 0 || segment.last <= first_steps_) return planner_.advances(segment);
    Segment right = segment, left = segment;
    left.last = right.first = first_steps_;
    right.held = Place::kNowhere;
    left.held = Place::kDisk;
    if (segment.held == Place::kNowhere) --left.disk_slots, --right.disk_slots;
    uint128 sum = static_cast<uint128>(first_steps_);
    if (right.last - right.first > 1) sum += planner_.advances(right);
    if (left.last > 1) sum += planner_.advances(left);
    return sum;
  }

 private:
  std::int64_t first_steps_;
  Planner_after planner_;
};

}  // namespace anadrome::schedule

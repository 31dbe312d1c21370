// SPDX-License-Identifier: BSD-2-Clause
// A sweep of a planner for RAM and disk on the model machine, and what it cost.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "planners/two_tier/two_tier_costs.h"
#include "replay.h"

namespace anadrome::schedule {

/// Prices of all kinds: free, equal, dear to write, dear to read.
inline const std::vector<TwoTierCosts> kTwoTierCosts = {
    {1, 0, 0, 0}, {1, 1, 2, 2}, {1, 0, 1, 1},   {2, 5, 7, 3},   {3, 1, 0, 10}, {3, 2, 10, 0},
    {0, 1, 2, 3}, {0, 0, 0, 0}, {1, 0, 20, 20}, {5, 0, 1, 100}, {1, 3, 40, 1}, {7, 11, 13, 17},
};

struct TwoTierCase {
  std::int64_t steps, ram_slots, disk_slots;
};

inline StackOptions options_of(const TwoTierCase& given) {
  return {.steps = given.steps,
          .units = given.ram_slots,
          .disk_slots = given.disk_slots,
          .turn = false};
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

/// With the turn at its end a sweep of n steps costs what n + 1 steps do; with tapes, what n do.
template <class Planner>
void expect_turn_is_a_step(const TwoTierCase& given, const TwoTierCosts& costs, Planner turning,
                           Planner taping) {
  StackOptions options = options_of(given);
  options.turn = true;
  const uint128 promised = turning.cost();
  const Taken run = replay(options, std::make_unique<Planner>(std::move(turning)));
  // At the end x_0 is live again; that may take a read.
  const uint128 cost = two_tier_cost(given.steps + 1, use_of(run), costs);
  const bool read_again = run.anchors > 0 && cost == promised + static_cast<uint128>(costs.read);
  EXPECT_TRUE(cost == promised || read_again);
  options.record = true;
  const uint128 promised_taped = taping.cost();
  const Taken taped = replay(options, std::make_unique<Planner>(std::move(taping)));
  EXPECT_EQ(two_tier_cost(given.steps, use_of(taped), costs), promised_taped);
  EXPECT_EQ(taped.recorded, given.steps);
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

// SPDX-License-Identifier: BSD-2-Clause
// Plans for a disk that holds few states, carried out on the machine of the tests.
#include "planners/lists/overlapped.h"

#include <gtest/gtest.h>

#include "overlapped_machine.h"
#include "planners/lists/state_places.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
namespace {

constexpr double kRounding = 1e-9;
const OverlapTimes kTimes[] = {{1, 2, 3, 3}, {1, 1, 0, 0}, {0.5, 2, 7, 1}, {1, 0, 40, 60}};

std::int64_t on_disk(const OverlappedPlan& plan) {
  std::vector<OverlapAction> actions = plan.actions;
  return number_disk_states(actions);
}

TEST(SmallDisk, HasNoMoreStatesThanItHolds) {
  for (std::int64_t steps = 2; steps <= 40; steps += 3) {
    for (std::int64_t slots = 1; slots <= 4; ++slots) {
      for (const std::int64_t most : {1, 2, 3, 7}) {
        const OverlapTimes& times = kTimes[most % 3];
        const OverlappedPlan plan = plan_on_small_disk(steps, slots, times, most);
        const double time = execute(steps, slots, times, plan);
        ASSERT_NEAR(time, plan.makespan, kRounding * time);
        ASSERT_LE(on_disk(plan), most) << steps << " steps";
      }
    }
  }
}

TEST(SmallDisk, WithoutRoomLeavesRevolve) {
  const auto advances = static_cast<double>(extra_advances(31, 2));
  EXPECT_EQ(plan_on_small_disk(31, 2, {1, 0, 0, 0}, 0).makespan, advances);
}

}  // namespace
}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// Plans for sweeps that began without one, carried out on the machine of the tests.
#include "schedule/overlapped_start.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "overlapped_machine.h"
#include "schedule/overlap_places.h"
#include "schedule/revolve.h"

namespace anadrome::schedule {
namespace {

constexpr double kRounding = 1e-9;
const OverlapTimes kTimes[] = {{1, 2, 3, 3}, {1, 1, 0, 0}, {0.5, 2, 7, 1}, {1, 0, 40, 60}};

std::int64_t on_disk(const OverlappedPlan& plan) {
  std::vector<OverlapAction> actions = plan.actions;
  return number_disk_states(actions);
}

TEST(OverlappedStart, BreaksNoRuleForAnyBeginning) {
  for (std::int64_t steps = 2; steps <= 40; ++steps) {
    for (std::int64_t begun = 1; begun < steps; begun += 1 + begun / 4) {
      for (std::int64_t slots = 1; slots <= 5; ++slots) {
        for (const OverlapTimes& times : kTimes) {
          const bool thorough = steps <= 4;
          const OverlappedPlan plan =
              plan_begun(steps, begun, slots, times,
                         thorough ? OverlapSearch::kThorough : OverlapSearch::kQuick);
          const double time = execute(steps, slots, times, plan);
          ASSERT_NEAR(time, plan.makespan, kRounding * time)
              << steps << " steps, begun " << begun << ", slots " << slots;
        }
      }
    }
  }
}

TEST(OverlappedStart, BeginsWithWhatWasDone) {
  const OverlappedPlan plan = plan_begun(30, 7, 3, kTimes[0], OverlapSearch::kQuick);
  const OverlapKind begun[] = {OverlapKind::kKeep, OverlapKind::kWrite, OverlapKind::kAdvance};
  static_assert(std::size(begun) == kActionsBegun);
  for (std::size_t i = 0; i < std::size(begun); ++i) EXPECT_EQ(plan.actions[i].kind, begun[i]);
  EXPECT_EQ(plan.actions[2].last, 7);
  EXPECT_EQ(plan.actions[3].kind, OverlapKind::kDrop);
}

TEST(OverlappedStart, CostsLittleMoreThanAPlanFromTheBeginning) {
  const OverlapTimes times{1, 2, 8, 8};
  const OverlapSearch quick = OverlapSearch::kQuick;
  const double whole = plan_overlapped(400, 4, times, quick).makespan;
  EXPECT_LE(plan_begun(400, 8, 4, times, quick).makespan, 1.03 * whole);
}

TEST(OverlappedStart, ASmallDiskHasNoMoreStatesThanItHolds) {
  for (std::int64_t steps = 2; steps <= 40; steps += 3) {
    for (std::int64_t begun = 0; begun < std::min<std::int64_t>(steps, 5); begun += 2) {
      for (std::int64_t slots = 1; slots <= 4; ++slots) {
        for (const std::int64_t most : {1, 2, 3, 7}) {
          const OverlapTimes& times = kTimes[most % 3];
          const OverlappedPlan plan = plan_on_small_disk(steps, begun, slots, times, most);
          const double time = execute(steps, slots, times, plan);
          ASSERT_NEAR(time, plan.makespan, kRounding * time);
          ASSERT_LE(on_disk(plan), most) << steps << " steps, begun " << begun;
        }
      }
    }
  }
}

TEST(OverlappedStart, OneStateOnDiskLeavesRevolve) {
  const double advances = 9 + static_cast<double>(extra_advances(31, 2) + extra_advances(9, 2));
  EXPECT_EQ(plan_on_small_disk(40, 9, 2, {1, 0, 0, 0}, 1).makespan, advances);
}

TEST(OverlappedStart, RefusesABeginningThatIsNone) {
  EXPECT_THROW(plan_begun(10, 0, 2, kTimes[0]), Error);
  EXPECT_THROW(plan_begun(10, 10, 2, kTimes[0]), Error);
}

}  // namespace
}  // namespace anadrome::schedule

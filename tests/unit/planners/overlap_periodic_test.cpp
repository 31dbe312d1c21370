// SPDX-License-Identifier: BSD-2-Clause
#include "planners/lists/overlapped.h"

#include <gtest/gtest.h>

#include "overlapped_machine.h"
#include "schedule/anchored/interval.h"

namespace anadrome::schedule {
namespace {

TEST(PeriodicPlan, TakesPerStepWhatIntervalsAreChosenBy) {
  constexpr std::int64_t kSteps = 20'000, kSlots = 5;
  for (const std::int64_t interval : {8, 16, 23}) {
    for (const bool read_ahead : {false, true}) {
      const OverlapTimes times{1, 2, 16, 12};
      const OverlappedPlan plan = periodic_plan(kSteps, kSlots, times, interval, read_ahead);
      const double time = execute(kSteps, kSlots, times, plan);
      EXPECT_EQ(time, plan.makespan);
      const StepCosts costs{1, 2, 16, 12, 0, 0};
      const double predicted =
          seconds_per_step(costs, interval, read_ahead ? kSlots - 1 : kSlots, {true, read_ahead});
      EXPECT_NEAR(time / kSteps, predicted, 0.005 * predicted) << interval << " " << read_ahead;
    }
  }
}

TEST(PeriodicPlan, OfAShortChainHasNoAnchors) {
  const OverlapTimes times{1, 2, 16, 16};
  const OverlappedPlan plan = periodic_plan(6, 8, times, 16, true);
  EXPECT_EQ(execute(6, 8, times, plan), 5 + 6 * 2);
}

}  // namespace
}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// Plans with overlapped transfers, carried out on a machine of their own: no better than the
// optimum and than the bound, no worse than the others, for a disk of any size.
#include "planners/lists/overlapped.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>

#include "base/error.h"
#include "overlap_bound.h"
#include "overlapped_machine.h"
#include "planners/lists/state_places.h"
#include "reference_table.h"
#include "schedule/anchored/interval.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
namespace {

struct OverlapCase {
  std::int64_t steps, slots;
  OverlapTimes times;
};

std::ostream& operator<<(std::ostream& out, const OverlapCase& p) {
  return out << "n " << p.steps << ", c " << p.slots << ", forward " << p.times.forward
             << ", adjoint " << p.times.adjoint << ", write " << p.times.write << ", read "
             << p.times.read;
}

struct Row {
  OverlapCase problem;
  int optimum, revolve;
};

// async_optimum.csv: n, c, write, read, adjoint, optimum, Revolve.
std::vector<Row> table() {
  std::vector<Row> rows;
  for (const auto& cells : reference_rows("async_optimum.csv", 7)) {
    const OverlapTimes times{1, static_cast<double>(cells[4]), static_cast<double>(cells[2]),
                             static_cast<double>(cells[3])};
    rows.push_back(
        {{cells[0], cells[1], times}, static_cast<int>(cells[5]), static_cast<int>(cells[6])});
  }
  return rows;
}

double revolve(const OverlapCase& p) {
  return static_cast<double>(extra_advances(p.steps, p.slots)) * p.times.forward +
         static_cast<double>(p.steps) * p.times.adjoint;
}

// The best of all intervals that can be: a shorter one than half the published one waits for the
// disk, a longer one than that and a few saves no waiting.
double best_periodic(const OverlapCase& p) {
  double best = std::numeric_limits<double>::infinity();
  const auto published = static_cast<std::int64_t>(p.times.write);
  const std::int64_t by = published / 40 + 1;
  for (std::int64_t interval = published / 2; interval <= published + 5; interval += by) {
    for (const bool read_ahead : {false, true}) {
      if (interval < 1 || (read_ahead && p.slots == 1)) continue;
      best =
          std::min(best, periodic_plan(p.steps, p.slots, p.times, interval, read_ahead).makespan);
    }
  }
  return best;
}

/// The time of a plan, which says so itself.
double carried_out(const OverlapCase& p, const OverlappedPlan& plan) {
  const double time = execute(p.steps, p.slots, p.times, plan);
  EXPECT_NEAR(time, plan.makespan, 1e-9 * time) << p;
  return time;
}

double planned(const OverlapCase& p) {
  return carried_out(p, plan_overlapped(p.steps, p.slots, p.times));
}

// And the lower bound is none above the optimum, for any shares and blocks.
TEST(Overlapped, PlansAreOptimalWhereTheOptimumIsKnown) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> share(0, 0.9);
  int overlapped = 0;
  for (const Row& row : table()) {
    const OverlapCase& p = row.problem;
    ASSERT_EQ(planned(p), row.optimum) << p;
    ASSERT_LE(row.optimum, row.revolve) << p;
    if (row.optimum < row.revolve) ++overlapped;
    for (const std::int64_t block : {2, 4, 400}) {
      const bench::DiskShares shares = {share(random), share(random)};
      ASSERT_LE(bench::overlapped_lower_bound(p.steps, p.slots, p.times, shares, block),
                row.optimum + 1e-9)
          << p << ", shares " << shares.before << " " << shares.after << ", block " << block;
    }
  }
  EXPECT_EQ(overlapped, 108);
}

TEST(Overlapped, LongChainsAreFasterThanThePeriodicPlanAndRevolve) {
  for (const OverlapCase& p :
       {OverlapCase{100, 2, {1, 2, 8, 8}}, OverlapCase{100, 8, {1, 1, 30, 30}},
        OverlapCase{300, 3, {1, 1, 4, 4}}, OverlapCase{700, 1, {1, 2, 16, 16}},
        OverlapCase{1000, 3, {1, 1.5, 2.5, 5}}}) {
    const double time = planned(p);
    EXPECT_LT(time, best_periodic(p)) << p;
    EXPECT_LT(time, revolve(p)) << p;
  }
}

TEST(Overlapped, IsNeverSlowerThanTheOthersAndBreaksNoRule) {
  std::mt19937 random(20240131);
  std::uniform_real_distribution<double> seconds(0, 12);
  for (int i = 0; i < 30; ++i) {
    const bool is_long = i % 10 == 0;
    const OverlapCase p{std::int64_t{1} + static_cast<std::int64_t>(random() % (is_long ? 60 : 16)),
                        std::int64_t{1} + static_cast<std::int64_t>(random() % 6),
                        {0.1 + seconds(random), seconds(random), seconds(random),
                         (is_long ? 10 : 1) * seconds(random)}};
    const double time = planned(p);
    ASSERT_LE(time, revolve(p) * (1 + 1e-9)) << p;
    for (const bool read_ahead : {false, true}) {
      if (read_ahead && p.slots == 1) continue;
      for (const std::int64_t interval :
           periodic_intervals(p.steps, p.slots, p.times, read_ahead)) {
        const OverlappedPlan other = periodic_plan(p.steps, p.slots, p.times, interval, read_ahead);
        ASSERT_LE(time, carried_out(p, other) * (1 + 1e-9)) << p;
      }
    }
  }
}

TEST(Overlapped, PlansOfExtremeTimesAndSlotsAreWhatTheyMustBe) {
  EXPECT_EQ(planned({30, 2, {2, 3, 0, 0}}), 29 * 2 + 30 * 3) << "transfers take no time";
  EXPECT_EQ(planned({20, 3, {1, 0, 1e9, 1e9}}), static_cast<double>(extra_advances(20, 3)));
  EXPECT_TRUE(plan_overlapped(0, 1, {}).actions.empty());
  EXPECT_EQ(planned({1000, std::numeric_limits<std::int64_t>::max(), {1, 1, 5, 5}}), 1999);
}

TEST(Overlapped, ListsActionsInProportionToTheSteps) {
  const auto shorter = plan_overlapped(1'000, 4, {1, 2, 16, 16}).actions.size();
  const auto longer = plan_overlapped(10'000, 4, {1, 2, 16, 16}).actions.size();
  EXPECT_LE(shorter, 1'000 * 8);
  EXPECT_LE(longer, 11 * shorter);
}

TEST(Overlapped, RefusesWhatMakesNoSense) {
  const double infinite = std::numeric_limits<double>::infinity();
  EXPECT_THROW(plan_overlapped(-1, 1, {}), Error);
  EXPECT_THROW(plan_overlapped(kMostOverlappedSteps + 1, 1, {}), Error);
  EXPECT_THROW(plan_overlapped(10, 0, {}), Error);
  for (const OverlapTimes& times :
       {OverlapTimes{0, 1, 1, 1}, OverlapTimes{-1, 1, 1, 1}, OverlapTimes{1, infinite, 1, 1},
        OverlapTimes{1, 1, -1, 1}, OverlapTimes{1, 1, 1, std::nan("")},
        OverlapTimes{1e-300, 1, 1e300, 1}}) {
    EXPECT_THROW(plan_overlapped(10, 2, times), Error);
  }
}

TEST(PeriodicPlan, TakesPerStepWhatIntervalsAreChosenBy) {
  for (const std::int64_t interval : {8, 16, 23}) {
    for (const bool read_ahead : {false, true}) {
      const OverlapCase p{10'000, 5, {1, 2, 16, 12}};
      const double time =
          carried_out(p, periodic_plan(p.steps, p.slots, p.times, interval, read_ahead));
      const double predicted =
          seconds_per_step({1, 2, 16, 12, 0, 0}, interval, read_ahead ? 4 : 5, {true, read_ahead});
      EXPECT_NEAR(time / 10'000, predicted, 0.01 * predicted) << interval << " " << read_ahead;
    }
  }
  const OverlapCase brief{6, 8, {1, 2, 16, 16}};
  EXPECT_EQ(carried_out(brief, periodic_plan(6, 8, brief.times, 16, true)), 5 + 6 * 2);
}

TEST(SmallDisk, HasNoMoreStatesThanItHolds) {
  const OverlapTimes times[] = {{1, 2, 3, 3}, {1, 1, 0, 0}, {0.5, 2, 7, 1}};
  for (std::int64_t steps = 2; steps <= 40; steps += 3) {
    for (std::int64_t slots = 1; slots <= 4; ++slots) {
      for (const std::int64_t most : {1, 2, 3, 7}) {
        const OverlapCase p{steps, slots, times[most % 3]};
        const OverlappedPlan plan = plan_on_small_disk(steps, slots, p.times, most);
        carried_out(p, plan);
        std::vector<OverlapAction> actions = plan.actions;
        ASSERT_LE(number_disk_states(actions), most) << p;
      }
    }
  }
  EXPECT_EQ(plan_on_small_disk(31, 2, {1, 0, 0, 0}, 0).makespan,
            static_cast<double>(extra_advances(31, 2)));
}

TEST(OverlapBound, IsNearThePlanOrWhatMustBeComputed) {
  using bench::overlapped_lower_bound;
  EXPECT_DOUBLE_EQ(overlapped_lower_bound(50, 50, {2, 3, 1e6, 1e6}, {0, 0}, 400), 49 * 2 + 50 * 3);
  EXPECT_NEAR(overlapped_lower_bound(100, 3, {1, 2, 1, 1}), 299, 0.5) << "all is hidden";
  const OverlapCase p{1500, 4, {1, 2, 16, 16}};
  const double whole = overlapped_lower_bound(600, 4, p.times, {0.34, 0.04}, 600);
  const double blocks = overlapped_lower_bound(600, 4, p.times, {0.34, 0.04}, 200);
  EXPECT_LE(blocks, whole);
  EXPECT_GE(blocks, 0.96 * whole);
  const double bound = overlapped_lower_bound(p.steps, p.slots, p.times, {0.34, 0.04}, 200);
  const double time = planned(p);
  EXPECT_GE(time, bound);
  EXPECT_LE(time, 1.03 * bound);
}

}  // namespace
}  // namespace anadrome::schedule

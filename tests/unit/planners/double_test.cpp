// SPDX-License-Identifier: BSD-2-Clause
// Two levels of equal parts, as published and as a run plays them.
#include "planners/two_tier/double_sweep.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <vector>

#include "base/error.h"
#include "reference_table.h"
#include "replay.h"

namespace anadrome::schedule {
namespace {

TEST(DoubleInterval, IsTheBestOfAllLengthsOfAPart) {
  for (const std::int64_t tape : {1, 2, 7, 50}) {
    for (std::int64_t steps = 1; steps <= 700; steps += steps < 60 ? 1 : 80) {
      std::int64_t least = std::int64_t{1} << 40, longest = 0;
      for (std::int64_t part = 1; part <= steps; ++part) {
        const std::int64_t units = (steps + part - 1) / part + tape * part;
        if (units <= least) longest = part;
        least = std::min(least, units);
      }
      const DoubleInterval interval = best_double_interval(steps, tape);
      ASSERT_EQ(interval.local_units, least);
      ASSERT_EQ(interval.part, longest);
      for (const std::int64_t more : {0, 1, 5, 60, 5000}) {
        std::int64_t within = 0;
        for (std::int64_t part = 1; part <= steps; ++part) {
          if ((steps + part - 1) / part + tape * part <= least + more) within = part;
        }
        ASSERT_EQ(double_interval_within(steps, tape, least + more).part, within)
            << steps << " " << tape << " " << more;
      }
    }
  }
}

TEST(DoubleInterval, IsFoundAtOnceHoweverLong) {
  const DoubleInterval interval = best_double_interval(std::int64_t{1} << 60, 1);
  EXPECT_EQ(interval.local_units, std::int64_t{1} << 31);
  EXPECT_THROW(best_double_interval(std::int64_t{1} << 60, 2), Error);
  EXPECT_THROW(best_double_interval(0, 1), Error);
  EXPECT_THROW(best_double_interval(5, 0), Error);
  EXPECT_THROW(double_interval_within(9, 1, 5), Error);
}

// ---- as published ----

TEST(DoublePublished, AgreesWithTheTable) {
  const auto rows = reference_cells("planners/double_small.csv");
  ASSERT_GT(rows.size(), 40u);
  for (const auto& row : rows) {
    const std::int64_t n = std::stoll(row[0]);
    const DoubleSweep sweep = double_sweep(n, std::stoll(row[1]), std::stoll(row[2]));
    EXPECT_EQ(sweep.full.local_units, std::stoll(row[3])) << n << " " << row[1];
    EXPECT_EQ(static_cast<std::int64_t>(forwards_of(sweep)), std::stoll(row[4]))
        << n << " " << row[1];
  }
}

TEST(DoublePublished, IsFoundAtOnceHoweverLong) {
  EXPECT_EQ(double_sweep(1000000007, 99991, 3).intervals, 10001);
  EXPECT_THROW(double_sweep(5, 0, 1), Error);
  EXPECT_THROW(double_sweep(0, 5, 1), Error);
  EXPECT_THROW(double_sweep(std::int64_t{1} << 60, std::int64_t{1} << 60, 2), Error);
}

RC_GTEST_PROP(DoublePublished, TakesWhatItPromises, ()) {
  const auto n = *rc::gen::inRange<std::int64_t>(1, 400);
  const auto length = *rc::gen::inRange<std::int64_t>(1, 90);
  const auto tape = *rc::gen::inRange<std::int64_t>(1, 6);
  const DoubleSweep sweep = double_sweep(n, length, tape);
  StackOptions options = {.steps = n,
                          .units = sweep.full.local_units,
                          .disk_slots = sweep.intervals,
                          .tape_units = tape};
  options.tape_restarts = *rc::gen::arbitrary<bool>();
  options.record = true;
  const Taken totals = replay(options, std::make_unique<DoublePlanner>(sweep));
  // The last interval is entered on the way forward.
  RC_ASSERT(totals.recorded + totals.advances ==
            static_cast<std::int64_t>(forwards_of(sweep)) - sweep.last.steps);
  RC_ASSERT(totals.recorded + totals.advances <= 3 * n);
  // A last interval of one step is nothing to come back to.
  RC_ASSERT(totals.anchors == sweep.intervals - (sweep.last.steps == 1 ? 1 : 0));
  RC_ASSERT(totals.anchor_restores <= totals.anchors);
}

// ---- in a run ----

RC_GTEST_PROP(DoublePlanner, StaysWithinTheMemoryOfARunThatKnowsTheEndOrNot, ()) {
  DoubleMemory memory;
  memory.units = *rc::gen::inRange<std::int64_t>(1, 40);
  memory.tape_units = *rc::gen::inRange<std::int64_t>(0, 6);
  const bool known = *rc::gen::arbitrary<bool>();
  const auto n = *rc::gen::inRange<std::int64_t>(known ? 1 : 0, 400);
  const auto interval = *rc::gen::inRange<std::int64_t>(1, longest_double_interval(memory) + 1);
  StackOptions options = {.steps = known ? n : kUnknown,
                          .units = memory.units,
                          .disk_slots = n + 2,
                          .tape_units = memory.tape_units};
  options.record = memory.tape_units > 0 || *rc::gen::arbitrary<bool>();
  const DoubleSweep planned = double_sweep_within(!known           ? kMostSteps
                                                  : options.record ? n
                                                                   : n + 1,
                                                  interval, memory);
  StackSweep sweep(options, std::make_unique<DoublePlanner>(planned));
  const Taken taken = Driver(sweep, rules_of(options, sweep.planner()), {.steps = n}).sweep();
  RC_ASSERT(!known || taken.anchors <= planned.intervals);
  RC_ASSERT(taken.most_units <= memory.units);
}

// Steps from the start of an interval, anchors from its own.
Action relative(Action action, std::int64_t start, std::int64_t number) {
  std::visit(
      [&]([[maybe_unused]] auto& one) {
        if constexpr (requires { one.first; }) one.first -= start, one.last -= start;
        if constexpr (requires { one.step; }) one.step -= start;
        if constexpr (requires { one.tier; }) one.place -= one.tier == kDiskTier ? number : 0;
      },
      action);
  return action;
}

TEST(DoublePlanner, PlaysTheSameLoopsInEveryInterval) {
  for (const std::int64_t tape : {0, 1, 3}) {
    const StackOptions options = {
        .steps = 103, .units = 8, .disk_slots = 200, .tape_units = tape, .record = tape > 0};
    const DoubleSweep planned = double_sweep_within(tape > 0 ? 103 : 104, 10, {8, tape});
    StackSweep sweep(options, std::make_unique<DoublePlanner>(planned));
    std::map<std::int64_t, std::vector<Action>> loops;  // by interval, the last one first
    std::int64_t number = planned.intervals - 1;
    bool turned = false;
    for (Action action = sweep.next(); !std::holds_alternative<Done>(action);
         action = sweep.next()) {
      const auto* drop = std::get_if<Drop>(&action);
      if (turned && drop != nullptr && drop->tier == kDiskTier) {
        --number;
      } else if (turned) {
        loops[number].push_back(relative(action, number * planned.interval, number));
      }
      turned = turned || std::holds_alternative<Turn>(action);
    }
    for (number = 1; number < 10; ++number) {
      EXPECT_GT(loops.at(number).size(), 20u);
      EXPECT_TRUE(loops.at(number) == loops.at(1)) << number << " " << tape;
    }
  }
}

// One interval alone, from its start on disk, against all parts of one length.
TEST(DoubleSweep, OfARunTakesTheFewestStepsThatFit) {
  for (const std::int64_t tape : {1, 2, 5}) {
    for (std::int64_t units = 1; units <= 25; ++units) {
      const DoubleMemory memory{units, tape};
      for (std::int64_t steps = 1; steps <= 60; ++steps) {
        std::int64_t fewest = -1;
        for (std::int64_t part = 1; part <= steps; ++part) {
          const std::int64_t parts = (steps + part - 1) / part;
          const std::int64_t held = std::max<std::int64_t>(parts - 1, 1) + tape * (part - 1);
          if (held <= units) fewest = 2 * steps - part;
        }
        if (steps > longest_double_interval(memory)) {
          ASSERT_EQ(fewest, -1) << steps << " " << units << " " << tape;
          ASSERT_THROW(double_sweep_within(steps, steps, memory), Error);
          continue;
        }
        ASSERT_EQ(double_sweep_within(steps, steps, memory).full.forwards(), fewest)
            << steps << " " << units << " " << tape;
      }
    }
  }
}

TEST(DoubleSweep, OfARunHidesItsTransfersWhereThatPays) {
  DoubleCosts costs;
  costs.step = {.forward = 1, .adjoint = 2, .write = 7.5, .read = 5};
  const DoubleSweep sweep = best_double_sweep(1000, 1, {9, 1}, costs);
  EXPECT_GE(sweep.interval, 8);
  EXPECT_EQ(double_time(sweep, costs).waiting, 0);
  costs.step.write = 1e6;  // nothing hides that: one interval after the other, as long as they fit
  EXPECT_EQ(best_double_sweep(1000, 1, {9, 1}, costs).interval, longest_double_interval({9, 1}));
}

TEST(DoubleSweep, WithFreeTransfersTakesTheFewestSteps) {
  DoubleCosts costs;
  costs.step.forward = 1;
  for (const std::int64_t units : {3, 9, 20}) {
    for (const std::int64_t tape : {0, 1, 3}) {
      costs.record = tape > 0;
      const DoubleMemory memory{units, tape};
      Segment all;
      all.last = 60;
      uint128 fewest = ~uint128{0};
      const std::int64_t longest = std::min<std::int64_t>(longest_double_interval(memory), 60);
      for (std::int64_t interval = 1; interval <= longest; ++interval) {
        const DoubleSweep sweep = double_sweep_within(60, interval, memory);
        fewest = std::min(fewest, DoublePlanner(sweep).advances(all));
      }
      const DoubleSweep best = best_double_sweep(60, 1, memory, costs);
      EXPECT_TRUE(DoublePlanner(best).advances(all) == fewest) << units << " " << tape;
    }
  }
}

}  // namespace
}  // namespace anadrome::schedule

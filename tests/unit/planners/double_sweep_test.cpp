// SPDX-License-Identifier: BSD-2-Clause
#include "planners/two_tier/double_sweep.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "replay.h"

namespace anadrome::schedule {
namespace {

TEST(DoubleInterval, IsTheBestOfAllLengthsOfAPart) {
  for (const std::int64_t tape : {1, 2, 7, 50}) {
    for (std::int64_t steps = 1; steps <= 700; ++steps) {
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

/// The sweep of a run, drawn at random.
struct DrawnRun {
  StackOptions options;
  DoubleMemory memory;
  DoubleSweep sweep;
};

DrawnRun draw_run(bool unknown) {
  DrawnRun run;
  run.memory.units = *rc::gen::inRange<std::int64_t>(1, 40);
  run.memory.tape_units = *rc::gen::inRange<std::int64_t>(0, 6);
  const std::int64_t longest = longest_double_interval(run.memory);
  const auto n = *rc::gen::inRange<std::int64_t>(1, 400);
  const auto interval = *rc::gen::inRange<std::int64_t>(1, longest + 1);
  StackOptions& options = run.options;
  options.steps = unknown ? kUnknown : n;
  options.units = run.memory.units;
  options.disk_slots = n + 2;
  options.tape_units = run.memory.tape_units;
  options.record = run.memory.tape_units > 0 || *rc::gen::arbitrary<bool>();
  const std::int64_t planned = options.record ? n : n + 1;
  run.sweep = double_sweep_within(unknown ? kMostSteps : planned, interval, run.memory);
  return run;
}

RC_GTEST_PROP(DoublePlanner, StaysWithinTheMemoryOfARun, ()) {
  const DrawnRun run = draw_run(false);
  const Taken totals = replay(run.options, std::make_unique<DoublePlanner>(run.sweep));
  RC_ASSERT(totals.anchors <= run.sweep.intervals);
  RC_ASSERT(totals.most_units <= run.memory.units);
}

RC_GTEST_PROP(DoublePlanner, NeedNotKnowTheEnd, ()) {
  const DrawnRun run = draw_run(true);
  const auto n = *rc::gen::inRange<std::int64_t>(0, 400);
  StackOptions options = run.options;
  options.disk_slots = n + 2;
  StackSweep nested(options, std::make_unique<DoublePlanner>(run.sweep));
  const Taken totals = Driver(nested, rules_of(options, nested.planner()), {.steps = n}).sweep();
  RC_ASSERT(totals.most_units <= run.memory.units);
}

using Relative = std::tuple<int, std::int64_t, std::int64_t, std::int64_t>;

// Counted from the start of the interval that each adjoint step lies in; anchors by number.
std::map<std::int64_t, std::vector<Relative>> actions_by_interval(const StackOptions& options,
                                                                  const DoubleSweep& sweep) {
  StackSweep nested(options, std::make_unique<DoublePlanner>(sweep));
  std::map<std::int64_t, std::vector<Relative>> loops;
  std::int64_t number = sweep.intervals - 1;
  for (bool turned = false;;) {
    const Action action = nested.next();
    if (std::holds_alternative<Done>(action)) return loops;
    turned = turned || std::holds_alternative<Turn>(action);
    if (!turned) continue;
    const auto* drop = std::get_if<Drop>(&action);
    if (drop != nullptr && drop->tier == kDiskTier) {
      --number;
      continue;
    }
    const std::int64_t start = number * sweep.interval;
    const auto add = [&](std::int64_t first, std::int64_t last, std::int64_t place) {
      const auto kind = static_cast<int>(action.index());
      loops[number].push_back({kind, first - start, last - start, place});
    };
    const auto kept = [&](const Kept& held) {
      add(held.step, held.step, held.tier == kDiskTier ? held.place - number : held.place);
    };
    std::visit(
        Cases{[&](const Advance& advance) { add(advance.first, advance.last, -1); },
              [&](const Adjoint& adjoint) { add(adjoint.step, adjoint.step + 1, -1); },
              [&](const Turn& turn) { add(turn.step, turn.step, -1); },
              [&](const Keep& held) { kept(held); }, [&](const Restore& held) { kept(held); },
              [&](const Drop& held) { kept(held); }, [](const auto&) {}},
        action);
  }
}

TEST(DoublePlanner, PlaysTheSameLoopsInEveryInterval) {
  for (const std::int64_t tape : {0, 1, 3}) {
    const DoubleMemory memory{8, tape};
    StackOptions options = {.steps = 103,
                            .units = memory.units,
                            .disk_slots = 200,
                            .tape_units = tape,
                            .record = tape > 0};
    const std::int64_t planned = options.record ? options.steps : options.steps + 1;
    const auto loops = actions_by_interval(options, double_sweep_within(planned, 10, memory));
    for (std::int64_t number = 1; number < 10; ++number) {
      EXPECT_GT(loops.at(number).size(), 20u);
      EXPECT_EQ(loops.at(number), loops.at(1)) << number << " " << tape;
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

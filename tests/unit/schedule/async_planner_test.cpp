// SPDX-License-Identifier: BSD-2-Clause
// The questions of schedule=async to the ranks before it decides, and its decisions.
#include "schedule/anchored/async_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "counted_allocations.h"
#include "replay.h"
#include "schedule/anchored/anchored_sweep.h"

namespace anadrome::schedule {
namespace {

constexpr StepCosts kCosts{1, 2, 12, 12, 0, 0};

struct Played {
  std::vector<Next> said;
  std::vector<std::int64_t> asked_at;
  Taken taken;
  std::int64_t interval = 0, depth = 0;
};

struct Given {
  AsyncOptions options;
  StepCosts costs = kCosts;
  std::int64_t disk_slots = kNoLimit;
  bool agrees_between = false;  ///< something is measured between any two decisions
  bool of_earlier_sweep = false;
  std::int64_t write_known_at = 0;  ///< agreement from which on the time of a write is known
};

Given given_of(std::int64_t steps) {
  Given run;
  run.options.anchored.steps = steps;
  run.options.memory.blocks = 6;
  run.options.anchored.slots = run.options.memory.slots(1);
  run.options.anchored.most_slots = run.options.memory.slots(0);
  run.options.prefetch_depth = 1;
  return run;
}

StackOptions stack_of(const Given& run) {
  StackOptions options;
  options.steps = run.options.anchored.steps;
  options.units = run.options.anchored.most_slots - 1;
  options.disk_slots = run.disk_slots;
  options.anchors_stay = true;
  options.x_0 = Place::kDisk;
  return options;
}

// As the engine does it: every agreement has the next number.
Played play(const Given& run) {
  const StackOptions options = stack_of(run);
  StackSweep sweep(options, std::make_unique<AsyncPlanner>(run.options));
  Played played;
  Measured measured{.costs = run.costs, .of_earlier_sweep = run.of_earlier_sweep};
  const auto decide = [&](std::int64_t live) {
    played.asked_at.push_back(live);
    if (run.agrees_between) ++measured.agreement;
    for (Next next = Next::kAgree; next != Next::kGoOn;) {
      next = sweep.decide(measured);
      played.said.push_back(next);
      if (next == Next::kAgree) ++measured.agreement;
      measured.write_times_known = measured.agreement >= run.write_known_at;
    }
  };
  Driver driver(sweep, rules_of(options, sweep.planner()),
                {.steps = options.steps, .steady = false, .decide = decide});
  played.taken = driver.sweep();
  played.interval = sweep.course().interval;
  played.depth = sweep.course().prefetch_depth;
  return played;
}

TEST(AsyncPlanner, ProbesTwiceAndUntilTheFirstWriteIsDone) {
  Given run = given_of(1000);
  run.write_known_at = 4;
  const Played played = play(run);
  const std::vector<std::int64_t> probes = {0, 1, 3, 7, 15};
  ASSERT_GE(played.asked_at.size(), probes.size());
  EXPECT_TRUE(std::equal(probes.begin(), probes.end(), played.asked_at.begin()));
  EXPECT_EQ(std::count(played.said.begin(), played.said.end(), Next::kAgree), 4);
  EXPECT_GT(played.interval, 1);
}

// Its own first write says how long one takes: those of the process before are done.
TEST(AsyncPlanner, PutsAnchorsWhereItGoesOnFromThoseOfAnotherProcess) {
  constexpr std::int64_t kSteps = 3000, kFound = 40, kSpacing = 10;
  const Given run = given_of(kSteps);
  StackSweep sweep(stack_of(run), std::make_unique<AsyncPlanner>(run.options));
  AnchorList found;
  for (std::int64_t i = 0; i < kFound; ++i) found.append(i * kSpacing);
  sweep.resume({.anchors = found, .run_before = kFound * kSpacing});
  Measured measured{.costs = run.costs};
  std::int64_t longest = 0;
  for (Action action = sweep.next(); !std::holds_alternative<Turn>(action); action = sweep.next()) {
    if (const auto* advance = std::get_if<Advance>(&action)) {
      longest = std::max(longest, advance->last - advance->first);
    }
    if (!std::holds_alternative<Decide>(action)) continue;
    for (Next next = Next::kAgree; next != Next::kGoOn;) {
      next = sweep.decide(measured);
      if (next == Next::kAgree) ++measured.agreement;
      measured.write_times_known = sweep.anchors().count() > kFound;
    }
  }
  EXPECT_GT(sweep.anchors().count(), 2 * kFound);
  EXPECT_LT(longest, kSteps / 10);
}

// A rank without memory has to decide as the others do: nobody asks it.
TEST(AsyncPlanner, AllocatesNothingToDecide) {
  const Given run = given_of(4000);
  StackSweep sweep(stack_of(run), std::make_unique<AsyncPlanner>(run.options));
  IntervalTimes times;
  Measured measured{
      .costs = kCosts, .write_times_known = true, .of_earlier_sweep = true, .times = &times};
  std::int64_t allocated = 0, shortest = kNoLimit, longest = 0;
  for (Action action = sweep.next(); !std::holds_alternative<Turn>(action); action = sweep.next()) {
    if (!std::holds_alternative<Decide>(action)) continue;
    ++measured.agreement;
    const std::int64_t before = test::allocations();
    sweep.decide(measured);
    allocated += test::allocations() - before;
    const std::int64_t interval = sweep.course().interval;
    shortest = std::min(shortest, interval);
    longest = std::max(longest, interval);
    times.add(real(interval), 1, 2 * real(interval), 1);
  }
  EXPECT_EQ(allocated, 0);
  EXPECT_LT(shortest, longest) << "it looked at the neighbours";
}

TEST(AsyncPlanner, WithTheTimesOfAnEarlierSweepTakesWhatPlanIntervalsSaysAndAsksNobody) {
  Given run = given_of(20'000);
  run.of_earlier_sweep = true;
  IntervalProblem problem;
  problem.costs = kCosts;
  problem.memory = run.options.memory;
  problem.steps = 20'000;
  problem.anchors_left = kNoLimit - 1;
  const AsyncPlan plan = plan_intervals(problem);
  const Played played = play(run);
  EXPECT_EQ(played.interval, plan.interval);
  EXPECT_EQ(played.depth, plan.prefetch_depth);
  EXPECT_EQ(std::count(played.said.begin(), played.said.end(), Next::kAgree), 0);
  EXPECT_EQ(played.taken.decisions, static_cast<std::int64_t>(played.asked_at.size()));
  run = given_of(12);
  run.of_earlier_sweep = true;
  run.costs.write = run.costs.read = 60;
  EXPECT_EQ(play(run).taken.anchors, 1) << "memory alone is cheaper";
}

// It asks anew at every anchor: for the steps that are left, with the places that are left.
TEST(AsyncPlanner, RunsOnASmallDiskAsManyStepsAsWerePromisedAtItsBegin) {
  constexpr std::int64_t kSteps = 800;
  for (const std::int64_t places : {2, 3, 7, 20, 50, 190, 300}) {
    Given run = given_of(kSteps);
    run.of_earlier_sweep = true;
    run.costs = {1, 2, 0.5, 0.5, 0, 0};
    run.disk_slots = places;
    run.agrees_between = true;
    IntervalProblem problem;
    problem.costs = run.costs;
    problem.memory = run.options.memory;
    problem.steps = kSteps;
    problem.anchors_left = places - 1;
    const AnchoredSweep promised = anchored_sweep(problem, plan_intervals(problem));
    const Taken taken = play(run).taken;
    EXPECT_LE(taken.advances, 1.04 * static_cast<double>(promised.advances)) << places << " places";
    EXPECT_LE(taken.anchors, places);
  }
}

// As in the engine, the news comes when the sweep has said already what follows.
Taken play_with_full_disk(const Given& run, std::int64_t full_at) {
  const StackOptions options = stack_of(run);
  StackSweep sweep(options, std::make_unique<AsyncPlanner>(run.options));
  Rules rules(rules_of(options, sweep.planner()));
  Measured measured{.costs = kCosts};
  for (std::int64_t played = 0; !rules.done(); ++played) {
    const Action action = sweep.next();
    if (played == full_at) sweep.disk_is_full({});
    rules.play(action);
    if (!std::holds_alternative<Decide>(action)) continue;
    while (sweep.decide(measured) == Next::kAgree) ++measured.agreement;
    measured.write_times_known = measured.agreement >= run.write_known_at;
  }
  return rules.taken();
}

TEST(AsyncPlanner, GoesOnWithTheAnchorsThatThereAreWheneverTheDiskIsFull) {
  Given run = given_of(2000);
  run.write_known_at = 4;
  run.options.waits_for_write = true;
  run.options.may_end_in_ram = false;
  for (std::int64_t full_at = 0; full_at < 40; ++full_at) {
    const Taken taken = play_with_full_disk(run, full_at);
    EXPECT_EQ(taken.adjoints, 2000) << "full at " << full_at;
    EXPECT_LE(taken.anchors, full_at + 2);
  }
}

}  // namespace
}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// The questions of schedule=async to the ranks before it decides, and its decisions.
#include "schedule/async_planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "replay.h"
#include "schedule/anchored_sweep.h"

namespace anadrome::schedule {
namespace {

constexpr StepCosts kCosts{1, 2, 12, 12, 0, 0};

struct Played {
  std::vector<Next> said;
  std::vector<std::int64_t> asked_at;
  Taken taken;
  std::int64_t interval = 0, depth = 0;
  std::vector<std::int64_t> anchors;  ///< their steps
  bool rested = true;                 ///< at the end
};

struct Given {
  AsyncOptions options;
  StepCosts costs = kCosts;
  std::int64_t disk_slots = kNoLimit;
  bool agrees_between = false;  ///< something is measured between any two decisions
  bool of_earlier_sweep = false;
  std::int64_t write_known_at = 0;  ///< agreement from which on the time of a write is known
  double write_behind_another = 0;  ///< seconds, after an interval of one step; 0: as `costs` say
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
    // The median of the newest five writes.
    const AnchorList& anchors = sweep.anchors();
    int behind = 0;
    for (std::int64_t i = std::max<std::int64_t>(anchors.count() - 5, 1); i < anchors.count(); ++i)
      behind += anchors.step(i) - anchors.step(i - 1) == 1 ? 1 : 0;
    measured.costs.write =
        behind >= 3 && run.write_behind_another > 0 ? run.write_behind_another : run.costs.write;
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
  played.rested = sweep.course().rests;
  for (std::int64_t i = 0; i < sweep.anchors().count(); ++i)
    played.anchors.push_back(sweep.anchors().step(i));
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
  sweep.resume_forward(found, kFound * kSpacing);
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

TEST(AsyncPlanner, AsksForNoAgreementWithTheTimesOfAnEarlierSweep) {
  Given run = given_of(1000);
  run.of_earlier_sweep = true;
  const Played played = play(run);
  EXPECT_EQ(std::count(played.said.begin(), played.said.end(), Next::kAgree), 0);
  EXPECT_EQ(played.taken.decisions, static_cast<std::int64_t>(played.asked_at.size()));
}

TEST(AsyncPlanner, TakesWhatPlanIntervalsSays) {
  Given run = given_of(20'000);
  run.of_earlier_sweep = true;
  IntervalProblem problem;
  problem.costs = kCosts;
  problem.memory = run.options.memory;
  problem.steps = 20'000;
  problem.anchors_left = kNoLimit - 1;
  problem.now.interval = 0;
  problem.now.prefetch_depth = 1;
  problem.now.slots = run.options.anchored.slots;
  const AsyncPlan plan = plan_intervals(problem);
  const Played played = play(run);
  EXPECT_EQ(played.interval, plan.interval);
  EXPECT_EQ(played.depth, plan.prefetch_depth);
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
    problem.now.interval = 0;
    const AnchoredSweep promised = anchored_sweep(problem, plan_intervals(problem));
    const Taken taken = play(run).taken;
    EXPECT_LE(taken.advances, 1.04 * static_cast<double>(promised.advances)) << places << " places";
    EXPECT_LE(taken.anchors, places);
  }
}

TEST(AsyncPlanner, PutsNoAnchorWhereMemoryAloneIsCheaper) {
  Given run = given_of(12);
  run.of_earlier_sweep = true;
  run.costs.write = run.costs.read = 60;
  EXPECT_EQ(play(run).taken.anchors, 1);
}

// How often intervals of each length follow each other.
std::vector<std::pair<std::int64_t, std::int64_t>> lengths(
    const std::vector<std::int64_t>& anchors) {
  std::vector<std::pair<std::int64_t, std::int64_t>> runs;
  for (std::size_t i = 1; i < anchors.size(); ++i) {
    const std::int64_t length = anchors[i] - anchors[i - 1];
    if (runs.empty() || runs.back().first != length) runs.emplace_back(length, 0);
    ++runs.back().second;
  }
  return runs;
}

TEST(AsyncPlanner, TriesALongerIntervalNowAndThenAndMoreAndMoreSeldom) {
  Given run = given_of(40'000);
  run.of_earlier_sweep = true;
  run.agrees_between = true;
  run.costs = {1, 2, 0.5, 0.5, 0, 0};
  run.options.memory.blocks = 3;
  const Played played = play(run);
  EXPECT_EQ(played.interval, 1);
  EXPECT_TRUE(played.rested);
  const auto runs = lengths(played.anchors);
  ASSERT_GE(runs.size(), 6u);
  std::int64_t longer = 0, all = 0;
  for (std::size_t i = 1; i < runs.size(); i += 2) {
    EXPECT_EQ(runs[i - 1].first, 1);
    EXPECT_EQ(runs[i].first, 3) << "the same step twice would tell nothing";
    EXPECT_EQ(runs[i].second, 2);
    if (i > 2) {
      EXPECT_GE(runs[i - 1].second, runs[i - 3].second) << i;
    }
    longer += runs[i].second;
  }
  for (const auto& [length, count] : runs) all += count;
  EXPECT_LT(static_cast<double>(longer), 1e-3 * static_cast<double>(all));
}

TEST(AsyncPlanner, TriesAShorterIntervalWhereWritesMayBeFasterBehindOneAnother) {
  Given run = given_of(4000);
  run.of_earlier_sweep = true;
  run.agrees_between = true;
  run.costs = {1, 2, 1.7, 1.7, 0, 0};
  IntervalProblem problem;
  problem.costs = run.costs;
  problem.memory = run.options.memory;
  ASSERT_EQ(plan_intervals(problem).interval, 2);
  run.write_behind_another = 1.1;
  EXPECT_EQ(play(run).interval, 1);
  run.write_behind_another = 0;  // they are not
  const Played played = play(run);
  EXPECT_EQ(played.interval, 2);
  std::int64_t shorter = 0, all = 0;
  for (const auto& [length, count] : lengths(played.anchors)) {
    if (length == 1) shorter += count;
    all += count;
  }
  EXPECT_GT(shorter, 0);
  EXPECT_LT(static_cast<double>(shorter), 0.02 * static_cast<double>(all));
}

TEST(AsyncPlanner, TriesNothingWhereTheRestIsShortOrTheDiskSaysWhatFits) {
  Given run = given_of(30);
  run.of_earlier_sweep = true;
  run.agrees_between = true;
  run.costs = {1, 2, 0.5, 0.5, 0, 0};
  run.options.memory.blocks = 3;
  EXPECT_EQ(lengths(play(run).anchors).size(), 1u);
  run.options.anchored.steps = 4000;
  run.disk_slots = 800;
  for (const auto& [length, count] : lengths(play(run).anchors)) EXPECT_LE(length, 6);
}

TEST(AsyncPlanner, WaitsForTheDiskWhereItIsGreedy) {
  Given run = given_of(400);
  run.of_earlier_sweep = true;
  run.options.greedy = true;
  const Played played = play(run);
  EXPECT_GT(std::count(played.said.begin(), played.said.end(), Next::kAgree), 0);
  EXPECT_GT(played.taken.anchors, 2);
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
  for (const bool greedy : {false, true}) {
    Given run = given_of(2000);
    run.write_known_at = 4;
    run.options.waits_for_write = true;
    run.options.may_end_in_ram = false;
    run.options.greedy = greedy;
    for (std::int64_t full_at = 0; full_at < 40; ++full_at) {
      const Taken taken = play_with_full_disk(run, full_at);
      EXPECT_EQ(taken.adjoints, 2000) << "full at " << full_at;
      EXPECT_LE(taken.anchors, full_at + 2);
    }
  }
}

}  // namespace
}  // namespace anadrome::schedule

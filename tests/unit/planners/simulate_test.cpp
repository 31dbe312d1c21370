// SPDX-License-Identifier: BSD-2-Clause
// Sweeps of every kind on the clock, against the closed forms and the plans that they come from.
#include "planners/questions/simulate.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "planners/lists/list_sweep.h"
#include "planners/two_tier/disk_revolve.h"
#include "planners/two_tier/double_sweep.h"
#include "schedule/anchored/anchored_planner.h"
#include "schedule/anchored/anchored_sweep.h"
#include "schedule/stack/plain_planners.h"
#include "schedule/stack/stack_sweep.h"
#include "schedule/words/revolve.h"

namespace anadrome::questions {
namespace {

using namespace schedule;

constexpr double kRounding = 1e-12;

double seconds_of(Sweep& sweep, const Machine& machine, const SweepSinks& sinks = {}) {
  return simulate([&sweep] { return sweep.next(); }, machine, sinks);
}

double seconds_of(const StackOptions& options, std::unique_ptr<Planner> planner,
                  const Machine& machine) {
  StackSweep sweep(options, std::move(planner));
  return seconds_of(sweep, machine);
}

// The closed form counts what transfers take of the caller even while it waits for them, and where
// nothing is read ahead the rest of the last write, too.
TEST(Simulate, DoubleTakesWhatItsClosedFormSays) {
  for (const double write : {0.5, 8.0, 12.0, 40.0}) {
    for (const double read : {1.0, 9.0, 50.0}) {
      for (const bool ahead : {false, true}) {
        for (const std::int64_t tape : {0, 2}) {
          for (const double taken : {0.0, 0.25}) {
            DoubleCosts costs;
            costs.step = {1, 2, write, read, taken, taken};
            costs.record = tape > 0;
            costs.reads_ahead = ahead;
            StackOptions options = {.steps = 103,
                                    .units = 8,
                                    .disk_slots = 200,
                                    .tape_units = tape,
                                    .record = costs.record};
            const DoubleSweep sweep =
                double_sweep_within(costs.record ? 103 : 104, 8, {options.units, tape});
            Machine machine;
            machine.costs = costs.step;
            machine.disk.reads_ahead = ahead ? 1 : 0;
            machine.tape_slots = tape;
            const double closed = double_time(sweep, costs).seconds;
            const double seconds =
                seconds_of(options, std::make_unique<DoublePlanner>(sweep), machine);
            const double transfers = static_cast<double>(2 * sweep.intervals - 1);
            const double over = taken * transfers + (ahead ? 0 : write);
            EXPECT_GE(closed, seconds * (1 - kRounding)) << write << " " << read << " " << ahead;
            EXPECT_LE(closed - over, seconds * (1 + kRounding))
                << write << " " << read << " " << ahead;
          }
        }
      }
    }
  }
}

// A sweep of this plan on the clock.
double seconds_of_anchors(const IntervalProblem& problem, const AsyncPlan& plan,
                          std::int64_t written, Machine machine) {
  AnchoredOptions anchored;
  anchored.steps = problem.steps;
  anchored.slots = anchored.most_slots = plan.slots;
  anchored.interval = plan.interval;
  StackOptions options = {.steps = problem.steps,
                          .units = plan.slots - 1,
                          .disk_slots = written + 1,
                          .x_0 = Place::kDisk,
                          .anchors_stay = true};
  machine.costs = problem.costs;
  return seconds_of(options, std::make_unique<AnchoredPlanner>(anchored), machine);
}

// With little memory the ends may differ by a transfer.
TEST(Simulate, AsyncTakesWhatItsClosedFormSaysButForTheEnds) {
  for (const double write : {0.5, 8.0, 12.0, 40.0}) {
    for (const double read : {1.0, 9.0, 50.0}) {
      for (const std::int64_t depth : {0, 1}) {
        IntervalProblem problem;
        problem.costs = {.forward = 1, .adjoint = 2, .write = write, .read = read};
        problem.steps = 200;
        const AsyncPlan plan = {.interval = 9, .prefetch_depth = depth, .slots = 4};
        const AnchoredSweep closed = anchored_sweep(problem, plan);
        Machine machine;
        machine.disk.reads_ahead = depth;
        const double seconds = seconds_of_anchors(problem, plan, closed.written, machine);
        EXPECT_NEAR(seconds, closed.seconds, write + read) << write << " " << read << " " << depth;
      }
    }
  }
}

// Where memory holds much of the sweep, writes queue, and what is there at TURN is not read.
TEST(Simulate, AsyncTakesWhatItsClosedFormSaysInShortSweeps) {
  int waits = 0;
  for (const std::int64_t steps : {12, 24, 60}) {
    for (const std::int64_t blocks : {3, 8}) {
      for (const std::int64_t depth : {0, 1, 2, 4}) {
        for (const std::int64_t interval : {1, 2, 5}) {
          for (const double transfer : {0.5, 2.0, 5.0}) {
            if (depth >= blocks) continue;
            IntervalProblem problem;
            problem.costs = {.forward = 1, .adjoint = 1.5, .write = transfer, .read = transfer};
            problem.memory.blocks = blocks;
            problem.steps = steps;
            problem.interval_given = true;
            const AsyncPlan plan = {.interval = interval,
                                    .prefetch_depth = depth,
                                    .slots = problem.memory.slots(depth)};
            const AnchoredSweep closed = anchored_sweep(problem, plan);
            Machine machine;
            machine.disk = {.buffers = blocks, .reads_ahead = depth};
            machine.newest_stay = depth + 1;
            const double over =
                seconds_of_anchors(problem, plan, closed.written, machine) - closed.seconds;
            // The clock has no copy of x_0, and its reads are behind the writes that are under way
            // at TURN; a run leaves these out.
            const auto left_out = static_cast<double>(depth);
            EXPECT_TRUE(-2 * transfer <= over && over <= (left_out + 1) * transfer)
                << steps << " " << blocks << " " << depth << " " << interval << " " << transfer;
            waits += closed.waiting > 3 * transfer ? 1 : 0;
          }
        }
      }
    }
  }
  EXPECT_GT(waits, 20);
}

TEST(Simulate, AListTakesTheTimeOfItsPlan) {
  for (const double transfer : {0.5, 3.0, 11.0}) {
    for (const std::int64_t slots : {1, 2, 4}) {
      const OverlapTimes times{1, 3, transfer, transfer * 0.75};  // with the recording step
      ListOptions options = {.steps = 60, .slots = slots, .record = true};
      ListSweep sweep(options, list_plan(options, times, OverlapSearch::kQuick));
      Machine machine;
      machine.costs = {.forward = 1, .adjoint = 2, .write = times.write, .read = times.read};
      machine.transfers = true;
      double end = 0;  // of the adjoints: x_0 is live at last, and may have to be read
      SweepSinks sinks;
      sinks.span = [&end](const Span<double>& span) {
        if (span.doing == Doing::kAdjoint) end = span.end;
      };
      seconds_of(sweep, machine, sinks);
      const double planned = plan_overlapped(60, slots, times, OverlapSearch::kQuick).makespan;
      EXPECT_NEAR(end, planned, kRounding * planned) << transfer << " " << slots;
    }
  }
}

TEST(Simulate, ASolverThatWaitsForTheDiskTakesWhatATwoTierPlannerReckons) {
  const StackOptions in_ram = {.steps = 100, .units = 7, .x_0 = Place::kRam};
  Machine without_disk;
  without_disk.costs = {.forward = 1, .adjoint = 2.5};
  EXPECT_EQ(seconds_of(in_ram, std::make_unique<RevolvePlanner>(), without_disk),
            static_cast<double>(extra_advances(101, 7)) + 250);
  constexpr TwoTierCosts kTicks = {1, 2, 8, 6};
  Machine machine;
  machine.costs = {.forward = 1, .adjoint = 2, .write = 8, .read = 6};
  machine.disk.overlaps = false;
  for (const std::int64_t units : {1, 3, 8}) {
    for (const std::int64_t disk : {2, 5, 400}) {
      StackOptions options = {.steps = 300, .units = units, .disk_slots = disk};
      HRevolvePlanner planner(301, units, disk, kTicks);
      const double cost = static_cast<double>(planner.cost()) - 2;
      const double seconds =
          seconds_of(options, std::make_unique<HRevolvePlanner>(301, units, disk, kTicks), machine);
      EXPECT_NEAR(seconds, cost, kRounding * cost) << units << " " << disk;
    }
  }
}

TEST(Simulate, TellsWhatTheSolverAndTheDiskDidWithoutAGap) {
  StackOptions options = {.steps = 50, .units = 4, .disk_slots = 60};
  const DoubleSweep sweep = double_sweep_within(51, 6, {4, 0});
  StackSweep played(options, std::make_unique<DoublePlanner>(sweep));
  Machine machine;
  machine.costs = {.forward = 1, .adjoint = 2, .write = 7, .read = 9};
  double solved = 0, moved = 0;
  std::int64_t adjoints = 0, writes = 0, reads = 0;
  SweepSinks sinks;
  sinks.span = [&](const Span<double>& span) {
    const bool transfer = span.doing == Doing::kWrite || span.doing == Doing::kRead;
    double& end = transfer ? moved : solved;
    if (transfer) {
      EXPECT_GE(span.start, end);
    } else {
      EXPECT_EQ(span.start, end);
    }
    end = span.end;
    adjoints += span.doing == Doing::kAdjoint ? 1 : 0;
    writes += span.doing == Doing::kWrite ? 1 : 0;
    reads += span.doing == Doing::kRead ? 1 : 0;
  };
  EXPECT_EQ(seconds_of(played, machine, sinks), solved);
  EXPECT_EQ(adjoints, 50);
  EXPECT_EQ(writes, sweep.intervals);
  EXPECT_EQ(reads, sweep.intervals - 1);  // the last one is still in memory
}

}  // namespace
}  // namespace anadrome::questions

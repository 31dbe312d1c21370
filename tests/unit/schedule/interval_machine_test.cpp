// SPDX-License-Identifier: BSD-2-Clause
// The intervals of schedule=async on a machine in numbers, over the best of those that are given:
// medians of a few machines. What they measured when this was written is lower by a twentieth.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "machine.h"

namespace anadrome::schedule {
namespace {

constexpr double kMilli = 1e-3;
constexpr unsigned kMachines = 25;

// Two ranks on two cores; one beside a core that is free; a slow disk; steps that hide anything.
constexpr MachineSpeed kContended = {"contended",  4 * kMilli,   5 * kMilli,
                                     0.8 * kMilli, 9.7 * kMilli, 5.7 * kMilli,
                                     9 * kMilli,   4 * kMilli,   800};
constexpr MachineSpeed kShort = {"short",      4 * kMilli, 5 * kMilli, 0.8 * kMilli, 9.7 * kMilli,
                                 5.7 * kMilli, 9 * kMilli, 4 * kMilli, 240};
constexpr MachineSpeed kCheap = {
    "cheap",      0.15 * kMilli, 0.2 * kMilli, 0.03 * kMilli, 0.7 * kMilli,
    0.4 * kMilli, 0.6 * kMilli,  0.3 * kMilli, 5000,          64};
constexpr MachineSpeed kFree = {"free core",  6 * kMilli, 9 * kMilli,   0.8 * kMilli, 5 * kMilli,
                                0.4 * kMilli, 5 * kMilli, 0.4 * kMilli, 200};
constexpr MachineSpeed kSlow = {"slow disk",  2.5 * kMilli, 4 * kMilli,   0.8 * kMilli, 84 * kMilli,
                                0.4 * kMilli, 84 * kMilli,  0.4 * kMilli, 1000};
constexpr MachineSpeed kDear = {"dear steps", 50 * kMilli, 70 * kMilli, 0.8 * kMilli, 8 * kMilli,
                                4 * kMilli,   8 * kMilli,  3 * kMilli,  200};
// A sweep of few steps, of which each level takes a large part.
constexpr MachineSpeed kFew = {"few steps",  36 * kMilli,  37 * kMilli,
                               0.5 * kMilli, 21 * kMilli,  0.4 * kMilli,
                               21 * kMilli,  0.4 * kMilli, 50};
// The same beside a slow disk.
constexpr MachineSpeed kFewSlow = {"few steps, slow disk",
                                   26 * kMilli,
                                   31 * kMilli,
                                   3.3 * kMilli,
                                   84 * kMilli,
                                   1 * kMilli,
                                   84 * kMilli,
                                   1 * kMilli,
                                   48};
constexpr std::array kMachinesOfAll = {kContended, kShort, kCheap, kFree, kSlow, kDear};

constexpr Disturbance kQuiet = {"quiet", 0.03};
constexpr Disturbance kUsual = {"usual", 0.08, 5, 2 * kMilli, 20 * kMilli};
constexpr Disturbance kBusy = {"busy", 0.2, 20, 4 * kMilli, 50 * kMilli};
constexpr Disturbance kSolverBursts = {"bursts of a program", 0.08, 5, 2 * kMilli,
                                       20 * kMilli,           0,    2};
constexpr Disturbance kDiskBursts = {"bursts on the disk", 0.08, 5, 2 * kMilli,
                                     20 * kMilli,          0,    1, 4};

template <class Seconds>
double median(const Seconds& of) {
  std::vector<double> all;
  for (unsigned seed = 0; seed < kMachines; ++seed) all.push_back(of(seed));
  std::nth_element(all.begin(), all.begin() + kMachines / 2, all.end());
  return all[kMachines / 2];
}

double best_given(const MachineSpeed& speed, const Disturbance& others) {
  double best = 1e300;
  for (const std::int64_t interval : {1, 2, 4, 8, 16, 32}) {
    best = std::min(best, median([&](unsigned seed) {
                      IntervalTimes times;
                      return Machine(speed, others, seed).sweep(interval, times);
                    }));
  }
  return std::min(best,
                  median([&](unsigned seed) { return Machine(speed, others, seed).revolve(); }));
}

double found(const MachineSpeed& speed, const Disturbance& others, int sweeps = 1) {
  return median([&](unsigned seed) {
    IntervalTimes times;
    Machine machine(speed, others, seed);
    double seconds = 0;
    for (int i = 0; i < sweeps; ++i) seconds = machine.sweep(0, times);
    return seconds;
  });
}

TEST(Intervals, AreWithinAFewPercentOfTheBestOnAQuietMachine) {
  for (const MachineSpeed& speed : kMachinesOfAll)
    EXPECT_LE(found(speed, kQuiet), 1.05 * best_given(speed, kQuiet)) << speed.name;
}

TEST(Intervals, AreNearTheBestWhereOthersDisturb) {
  for (const Disturbance& others : {kUsual, kBusy, kSolverBursts, kDiskBursts}) {
    for (const MachineSpeed& speed : kMachinesOfAll)
      EXPECT_LE(found(speed, others), 1.15 * best_given(speed, others))
          << speed.name << ", " << others.name;
  }
}

TEST(Intervals, OfFewStepsAreNearTheBest) {
  for (const Disturbance& others : {kQuiet, kUsual, kBusy, kSolverBursts, kDiskBursts}) {
    EXPECT_LE(found(kFew, others), 1.12 * best_given(kFew, others)) << others.name;
    EXPECT_LE(found(kFewSlow, others), 1.08 * best_given(kFewSlow, others)) << others.name;
  }
}

TEST(Intervals, OfALaterSweepBeginWhereTheLastOneWasBest) {
  for (const MachineSpeed& speed : kMachinesOfAll)
    EXPECT_LE(found(speed, kQuiet, 2), 1.03 * best_given(speed, kQuiet)) << speed.name;
}

TEST(Intervals, AreOfOneStepSoonWhereACoreIsFree) {
  for (unsigned seed = 0; seed < kMachines; ++seed) {
    IntervalTimes times;
    Machine machine(kFree, kQuiet, seed);
    machine.sweep(0, times);
    EXPECT_GE(machine.one_from(), 0);
    EXPECT_LT(machine.one_from(), 60);
  }
}

}  // namespace
}  // namespace anadrome::schedule

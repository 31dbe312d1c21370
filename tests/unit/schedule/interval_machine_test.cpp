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
constexpr unsigned kMachines = 9;

// Seconds of a step, an adjoint, a copy; of a write and what it takes of the steps; of a read.
constexpr MachineSpeed in_milliseconds(const char* name, const std::array<double, 7>& times,
                                       std::int64_t steps, std::int64_t blocks = 8) {
  const auto& [forward, adjoint, copy, write, write_slows, read, read_slows] = times;
  return {name,          forward * kMilli,    adjoint * kMilli,
          copy * kMilli, write * kMilli,      write_slows * kMilli,
          read * kMilli, read_slows * kMilli, steps,
          blocks};
}

// Two ranks on two cores; one beside a core that is free; a slow disk; steps that hide anything.
constexpr MachineSpeed kFree = in_milliseconds("free core", {6, 9, 0.8, 5, 0.4, 5, 0.4}, 200);
constexpr std::array kMachinesOfAll = {
    in_milliseconds("contended", {4, 5, 0.8, 9.7, 5.7, 9, 4}, 800),
    in_milliseconds("short", {4, 5, 0.8, 9.7, 5.7, 9, 4}, 240),
    in_milliseconds("cheap", {0.15, 0.2, 0.03, 0.7, 0.4, 0.6, 0.3}, 5000, 64),
    kFree,
    in_milliseconds("fast disk", {10, 10, 0.05, 2, 0, 2, 0}, 400),
    in_milliseconds("slow disk", {2.5, 4, 0.8, 84, 0.4, 84, 0.4}, 1000),
    in_milliseconds("every core busy", {0.5, 0.8, 0.15, 1.1, 1.0, 1.2, 0.9}, 5000),
    in_milliseconds("dear steps", {50, 70, 0.8, 8, 4, 8, 3}, 200)};
// Sweeps of few steps, of which each level takes a large part.
constexpr MachineSpeed kFew = in_milliseconds("few steps", {36, 37, 0.5, 21, 0.4, 21, 0.4}, 50);
constexpr MachineSpeed kFewSlow =
    in_milliseconds("few steps, slow disk", {26, 31, 3.3, 84, 1, 84, 1}, 48);

constexpr Disturbance kQuiet = {"quiet", 0.03};
constexpr Disturbance kUsual = {"usual", 0.08, 5, 2 * kMilli, 20 * kMilli};
constexpr Disturbance kBusy = {"busy", 0.2, 20, 4 * kMilli, 50 * kMilli};
constexpr Disturbance kSolverBursts = {"bursts of a program", 0.08, 5, 2 * kMilli,
                                       20 * kMilli,           0,    2};
constexpr Disturbance kDiskBursts = {"bursts on the disk", 0.08, 5, 2 * kMilli,
                                     20 * kMilli,          0,    1, 4};

constexpr Disturbance kColdMemory = {"cold memory", 0.08, 5, 2 * kMilli, 20 * kMilli, 0, 1, 1, 2.5};

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

// A later sweep begins where the last one was best.
TEST(Intervals, AreNearTheBestWithOthersAndWithout) {
  for (const MachineSpeed& speed : kMachinesOfAll) {
    for (const Disturbance& others :
         {kQuiet, kUsual, kBusy, kSolverBursts, kDiskBursts, kColdMemory}) {
      const bool quiet = others.interruptions == 0;
      const double best = best_given(speed, others);
      EXPECT_LE(found(speed, others), (quiet ? 1.05 : 1.15) * best)
          << speed.name << ", " << others.name;
      if (quiet) {
        EXPECT_LE(found(speed, others, 2), 1.03 * best) << speed.name;
      }
    }
  }
}

TEST(Intervals, OfFewStepsAreNearTheBest) {
  for (const Disturbance& others : {kQuiet, kUsual, kBusy, kSolverBursts, kDiskBursts}) {
    EXPECT_LE(found(kFew, others), 1.12 * best_given(kFew, others)) << others.name;
    EXPECT_LE(found(kFewSlow, others), 1.08 * best_given(kFewSlow, others)) << others.name;
  }
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

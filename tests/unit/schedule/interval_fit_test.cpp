// SPDX-License-Identifier: BSD-2-Clause
// A step and what a transfer adds to it, from intervals of several lengths.
#include "schedule/interval_fit.h"

#include <gtest/gtest.h>

#include <random>

namespace anadrome::schedule {
namespace {

constexpr double kStep = 2, kTransfer = 3;

// Intervals of so many steps, with a transfer each.
void add(IntervalFit& fit, double steps, int intervals, double factor = 1) {
  for (int i = 0; i < intervals; ++i) fit.add(steps, 1, 1, factor * (steps * kStep + kTransfer));
}

TEST(IntervalFit, CannotTellAStepFromATransferByIntervalsOfOneLength) {
  IntervalFit fit;
  add(fit, 4, 20);
  EXPECT_FALSE(fit.separates());
  add(fit, 5, 20);  // too near
  EXPECT_FALSE(fit.separates());
}

TEST(IntervalFit, TellsThemApartByIntervalsOfTwoLengths) {
  IntervalFit fit;
  add(fit, 4, 4);
  add(fit, 8, 1);
  EXPECT_FALSE(fit.separates()) << "one interval may be the one that was disturbed";
  add(fit, 8, 1);
  ASSERT_TRUE(fit.separates());
  EXPECT_NEAR(fit.step(), kStep, 1e-12);
  EXPECT_NEAR(fit.transfer(), kTransfer, 1e-12);
}

TEST(IntervalFit, IsNotMovedByIntervalsThatWereDisturbed) {
  IntervalFit fit;
  add(fit, 1, 8);
  add(fit, 4, 5);
  add(fit, 4, 2, 50);
  EXPECT_NEAR(fit.step(), kStep, 1e-12);
  EXPECT_NEAR(fit.transfer(), kTransfer, 1e-12);
}

TEST(IntervalFit, FollowsAMachineThatBecomesSlower) {
  IntervalFit fit;
  add(fit, 1, 8);
  add(fit, 4, 8);
  add(fit, 1, 8, 2);
  add(fit, 4, 8, 2);
  EXPECT_NEAR(fit.step(), 2 * kStep, 1e-12);
  EXPECT_NEAR(fit.transfer(), 2 * kTransfer, 1e-12);
}

TEST(IntervalFit, IsNearTheTruthInNoise) {
  std::mt19937 random(20261124);
  std::uniform_real_distribution<double> noise(0.95, 1.05);
  IntervalFit fit;
  for (int i = 0; i < 8; ++i) {
    add(fit, 1, 1, noise(random));
    add(fit, 4, 1, noise(random));
    add(fit, 16, 1, noise(random));
  }
  EXPECT_NEAR(fit.step(), kStep, 0.1 * kStep);
  EXPECT_NEAR(fit.transfer(), kTransfer, 0.1 * kTransfer);
}

TEST(IntervalFit, LeavesOutWhatIsNotSure) {
  IntervalFit fit;  // steps of 1 s beside no transfer that costs anything, and some noise
  for (const double noise : {0.9, 1.0, 1.1, 1.05}) {
    fit.add(32, 1, 1, 32 * noise);
    fit.add(64, 1, 1, 64 * (noise - 0.01));
  }
  EXPECT_FALSE(fit.separates());
}

// Steps of 1 s and some noise, beside transfers of 1.4 s that cost nothing: a slow one has time for
// more.
TEST(IntervalFit, LeavesOutThatASlowIntervalHasTimeForMore) {
  IntervalFit fit;
  for (const double noise : {0.9, 1.3, 0.9, 1.3, 0.9, 1.3, 0.9, 1.3}) {
    fit.add(1, 1, noise / 1.4, noise);
  }
  EXPECT_FALSE(fit.separates());
}

TEST(IntervalFit, TakesBackWhatLaterIntervalsShowToBeNoise) {
  IntervalFit fit;
  for (const double noise : {1.2, 1.2}) fit.add(4, 1, 1, 4 * noise);
  for (const double noise : {1.0, 1.0}) fit.add(8, 1, 1, 8 * noise);
  ASSERT_TRUE(fit.separates());
  for (const double noise : {0.9, 1.1, 0.95, 1.05}) {
    fit.add(4, 1, 1, 4 * noise);
    fit.add(8, 1, 1, 8 * noise);
  }
  EXPECT_FALSE(fit.separates());
}

// Steps of 1 s beside transfers that cost nothing, and some noise. The machine is slow at first, a
// longer interval is tried as it recovers, and the one before comes back.
TEST(IntervalFit, BlamesNoTransferForATimeInWhichTheMachineWasSlow) {
  IntervalFit fit;
  const double noise[] = {1.0, 1.01, 0.99, 1.005, 0.995, 1.0, 1.01, 0.99};
  for (const double factor : noise) fit.add(14, 1, 1, 14 * 1.4 * factor);
  for (const double factor : {1.0, 1.005}) fit.add(28, 1, 1, 28 * factor);
  for (const double factor : {1.005, 0.995}) fit.add(14, 1, 1, 14 * factor);
  EXPECT_FALSE(fit.separates());
}

TEST(IntervalFit, FindsNoStepThatTakesNoTime) {
  IntervalFit fit;
  for (int i = 0; i < 4; ++i) fit.add(1, 1, 1, 10);
  for (int i = 0; i < 4; ++i) fit.add(4, 1, 1, 4);  // 1 s per step
  EXPECT_GT(fit.step(), 0);
}

TEST(IntervalFit, FindsNoTransferThatMakesStepsFaster) {
  IntervalFit fit;
  for (int i = 0; i < 4; ++i) fit.add(1, 1, 1, 2);
  for (int i = 0; i < 4; ++i) fit.add(4, 1, 1, 12);  // 3 s per step
  EXPECT_FALSE(fit.separates());
}

TEST(IntervalFit, ForgetsTheLengthsThatWereUsedLast) {
  IntervalFit fit;
  add(fit, 1, 4, 7);
  for (double steps = 2; steps < 1000; steps *= 2) add(fit, steps, 4);
  EXPECT_NEAR(fit.step(), kStep, 1e-9);
  EXPECT_NEAR(fit.transfer(), kTransfer, 1e-9);
}

TEST(IntervalFit, BeginsAnewWithWhatItFound) {
  IntervalFit fit;
  add(fit, 1, 8);
  add(fit, 4, 8);
  fit.begin_anew();
  add(fit, 8, 8, 9);
  EXPECT_NEAR(fit.step(), kStep, 1e-12) << "one length says nothing";
  add(fit, 2, 8, 9);
  EXPECT_NEAR(fit.step(), 9 * kStep, 1e-9);
  fit.begin_anew();
  EXPECT_TRUE(fit.separates());
  add(fit, 8, 8);
  fit.begin_anew();
  EXPECT_FALSE(fit.separates()) << "a whole sweep did not find it again";
}

TEST(IntervalFit, KnowsWhetherLengthsWereComparedInThisSweepOrTheOneBefore) {
  IntervalFit fit;
  for (int i = 0; i < 4; ++i) fit.add(1, 1, 1, 2);
  EXPECT_FALSE(fit.compared());
  for (int i = 0; i < 4; ++i) fit.add(4, 1, 1, 12);  // 3 s per step
  EXPECT_TRUE(fit.compared());
  EXPECT_FALSE(fit.separates());
  fit.begin_anew();
  EXPECT_TRUE(fit.compared());
  fit.begin_anew();
  EXPECT_FALSE(fit.compared());
}

TEST(IntervalFit, LeavesOutWhatIsNoInterval) {
  IntervalFit fit;
  for (int i = 0; i < 4; ++i) {
    fit.add(0, 1, 1, 1);
    fit.add(4, 0, 0, 1);
    fit.add(8, 1, 1, 0);
    fit.add(2, 1, 1, -1);
  }
  EXPECT_FALSE(fit.separates());
}

}  // namespace
}  // namespace anadrome::schedule

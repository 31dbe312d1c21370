// SPDX-License-Identifier: BSD-2-Clause
// A step and what a transfer adds to it, from intervals of several lengths.
#include "schedule/interval_fit.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <utility>

namespace anadrome::schedule {
namespace {

constexpr double kStep = 2, kTransfer = 3;

// Intervals of so many steps, with a transfer each.
void add(IntervalFit& fit, double steps, int intervals, double factor = 1) {
  for (int i = 0; i < intervals; ++i) fit.add(steps, 1, 1, factor * (steps * kStep + kTransfer));
}

// As a trial of longer intervals does: two of one length, two of another, two of the first.
void compare(IntervalFit& fit, double steps, double tried, double factor = 1) {
  add(fit, steps, 2, factor);
  add(fit, tried, 2, factor);
  add(fit, steps, 2, factor);
}

// Steps of 1 s, each interval with a factor of its own, and transfers that cost nothing.
void add_free(IntervalFit& fit, double steps, std::initializer_list<double> factors) {
  for (const double factor : factors) fit.add(steps, 1, 1, steps * factor);
}

TEST(IntervalFit, CannotTellAStepFromATransferByIntervalsOfOneLength) {
  IntervalFit fit;
  add(fit, 4, 20);
  EXPECT_FALSE(fit.separates());
  compare(fit, 4, 5);  // too near
  EXPECT_FALSE(fit.separates());
}

TEST(IntervalFit, TellsThemApartByIntervalsOfAnotherLengthInBetween) {
  IntervalFit fit;
  add(fit, 4, 4);
  add(fit, 8, 2);
  EXPECT_FALSE(fit.separates()) << "the machine may be faster now";
  add(fit, 4, 2);
  ASSERT_TRUE(fit.separates());
  EXPECT_NEAR(fit.step(), kStep, 1e-12);
  EXPECT_NEAR(fit.transfer(), kTransfer, 1e-12);
}

TEST(IntervalFit, TellsThemApartByShorterIntervalsInBetween) {
  IntervalFit fit;
  add(fit, 8, 3);
  add(fit, 2, 4);
  add(fit, 8, 1);
  ASSERT_TRUE(fit.separates());
  EXPECT_NEAR(fit.step(), kStep, 1e-12);
  EXPECT_NEAR(fit.transfer(), kTransfer, 1e-12);
}

TEST(IntervalFit, ConcludesNothingFromOneInterval) {
  IntervalFit fit;
  add(fit, 4, 3);
  add(fit, 8, 1);
  add(fit, 4, 3);
  EXPECT_FALSE(fit.separates()) << "it may be the one that was disturbed";
}

TEST(IntervalFit, ConcludesNothingFromThreeLengths) {
  IntervalFit fit;
  add(fit, 4, 2);
  add(fit, 8, 1);
  add(fit, 16, 1);
  add(fit, 4, 2);
  EXPECT_FALSE(fit.separates());
}

TEST(IntervalFit, IsNotMovedByIntervalsThatWereDisturbed) {
  IntervalFit fit;
  add(fit, 4, 1);
  add(fit, 4, 1, 50);
  add(fit, 8, 2);
  add(fit, 4, 2);
  EXPECT_NEAR(fit.step(), kStep, 1e-12);
  EXPECT_NEAR(fit.transfer(), kTransfer, 1e-12);
}

TEST(IntervalFit, FollowsAMachineThatBecomesSlower) {
  IntervalFit fit;
  compare(fit, 4, 8);
  compare(fit, 4, 8, 2);
  EXPECT_NEAR(fit.step(), 2 * kStep, 1e-12);
  EXPECT_NEAR(fit.transfer(), 2 * kTransfer, 1e-12);
}

TEST(IntervalFit, KnowsTheStepOfNowWhileATransferIsWhatItWas) {
  IntervalFit fit;
  compare(fit, 4, 8);
  for (int i = 0; i < 6; ++i) fit.add(4, 1, 1, 4 * 3 * kStep + kTransfer);
  EXPECT_TRUE(fit.separates());
  EXPECT_NEAR(fit.step(), 3 * kStep, 1e-12);
  EXPECT_NEAR(fit.transfer(), kTransfer, 1e-12);
}

TEST(IntervalFit, IsNearTheTruthInNoise) {
  std::mt19937 random(20261124);
  std::uniform_real_distribution<double> noise(0.95, 1.05);
  int found = 0;
  for (int i = 0; i < 100; ++i) {
    IntervalFit fit;
    for (const double steps : {2, 2, 8, 8, 2, 2}) add(fit, steps, 1, noise(random));
    if (!fit.separates()) continue;
    ++found;
    EXPECT_NEAR(fit.step(), kStep, 0.3 * kStep);
    EXPECT_NEAR(fit.transfer(), kTransfer, 0.4 * kTransfer);
  }
  EXPECT_GT(found, 80);
}

TEST(IntervalFit, LeavesOutWhatIsNotSure) {
  IntervalFit fit;
  add_free(fit, 32, {0.9, 1.0});
  add_free(fit, 64, {0.89, 1.09});
  add_free(fit, 32, {1.1, 1.05});
  EXPECT_TRUE(fit.compared());
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

TEST(IntervalFit, TakesBackWhatALaterComparisonShowsToBeNoise) {
  IntervalFit fit;
  add_free(fit, 4, {1.2, 1.2});
  add_free(fit, 8, {1.0, 1.0});
  add_free(fit, 4, {1.2, 1.2});
  ASSERT_TRUE(fit.separates());
  add_free(fit, 4, {1.0, 1.1});
  add_free(fit, 8, {1.0, 1.1});
  add_free(fit, 4, {1.1, 1.0});
  EXPECT_FALSE(fit.separates());
}

// A longer interval is tried, and the machine becomes faster or slower once: before, within or
// after the trial.
TEST(IntervalFit, BlamesNoTransferForAChangeOfTheMachine) {
  constexpr int kIntervals = 24;
  const double noise[] = {1.0, 1.01, 0.99, 1.005, 0.995};
  for (const auto& [before, after] : {std::pair(1.4, 1.0), std::pair(1.0, 1.4)}) {
    for (int change = 0; change <= kIntervals; ++change) {
      IntervalFit fit;
      for (int i = 0; i < kIntervals; ++i) {
        const double steps = i == 8 || i == 9 ? 28 : 14;
        add_free(fit, steps, {(i < change ? before : after) * noise[i % 5]});
        EXPECT_FALSE(fit.separates()) << before << " becomes " << after << " at " << change;
      }
      EXPECT_TRUE(fit.compared());
    }
  }
}

TEST(IntervalFit, FindsNoStepThatTakesNoTime) {
  IntervalFit fit;
  for (const double steps : {2, 2, 8, 8, 2, 2}) fit.add(steps, 1, 1, steps == 2 ? 20 : 8);
  ASSERT_TRUE(fit.separates());
  EXPECT_GT(fit.step(), 0);
}

TEST(IntervalFit, FindsNoTransferThatMakesStepsFaster) {
  IntervalFit fit;
  for (const double steps : {2, 2, 8, 8, 2, 2}) fit.add(steps, 1, 1, steps == 2 ? 4 : 24);
  EXPECT_TRUE(fit.compared());
  EXPECT_FALSE(fit.separates());
}

TEST(IntervalFit, BeginsAnewWithWhatItFound) {
  IntervalFit fit;
  compare(fit, 2, 8);
  fit.begin_anew();
  add(fit, 8, 8);
  EXPECT_NEAR(fit.transfer(), kTransfer, 1e-12) << "one length says nothing";
  compare(fit, 8, 2, 9);
  EXPECT_NEAR(fit.transfer(), 9 * kTransfer, 1e-9);
  fit.begin_anew();
  EXPECT_TRUE(fit.separates());
  add(fit, 8, 8);
  fit.begin_anew();
  EXPECT_FALSE(fit.separates()) << "a whole sweep did not find it again";
}

TEST(IntervalFit, KnowsWhetherLengthsWereComparedInThisSweepOrTheOneBefore) {
  IntervalFit fit;
  add_free(fit, 2, {1, 1});
  EXPECT_FALSE(fit.compared());
  add_free(fit, 8, {1, 1});
  add_free(fit, 2, {1, 1});
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

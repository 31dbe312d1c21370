// SPDX-License-Identifier: BSD-2-Clause
#include "schedule/anchored/interval_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

namespace anadrome::schedule {
namespace {

// So many pieces of this level: seconds per step.
void add(IntervalTimes& times, int level, int pieces, double seconds, double waited = 0) {
  const double steps = static_cast<double>(IntervalTimes::interval(level));
  const std::int64_t wanted = times.pieces() + pieces;
  while (times.pieces() < wanted) times.add(steps, 1, steps * seconds, steps * waited);
}

const IntervalTimes::Levels kAnyLevel = {0, 10};

TEST(IntervalTimes, ComeInPiecesOfAFewStepsAndIntervalsThatLastAWhile) {
  for (const auto& [interval, level] : {std::pair{1, 0}, {2, 1}, {3, 2}, {5, 2}, {6, 3}}) {
    EXPECT_EQ(IntervalTimes::level_of(interval), level);
  }
  EXPECT_EQ(IntervalTimes::level_of(std::int64_t{1} << 62), IntervalTimes::kLevels - 1);
  IntervalTimes times;
  for (int i = 0; i < 7; ++i) times.add(1, 1, 1, 0);
  EXPECT_EQ(times.pieces(), 0);
  times.add(1, 1, 1, 0);
  EXPECT_EQ(times.pieces(), 1);
  times.add(64, 1, 64, 0);
  times.add(64, 1, 64, 0);
  EXPECT_EQ(times.pieces(), 1) << "the first one after a change is not like the others";
  times.add(64, 1, 64, 0);
  EXPECT_EQ(times.pieces(), 2);
  EXPECT_EQ(times.newest(), 6);
  IntervalTimes brief;
  for (int i = 0; i < 400; ++i) brief.add(1, 1, 1e-5, 0);
  for (int i = 0; i < 40; ++i) {  // what is no interval
    brief.add(0, 1, 1, 0);
    brief.add(1, 0, 1, 0);
    brief.add(1, 1, -1, 0);
  }
  EXPECT_EQ(brief.pieces(), 0);
  EXPECT_EQ(brief.step(), 0);
}

// A scheduler stops a program that uses more than its share for 40 ms of every 100 ms.
TEST(IntervalTimes, ComeInPiecesThatAllHaveWhatHappensEveryTenthOfASecond) {
  IntervalTimes times;
  constexpr double kStep = 0.5e-3, kStop = 40e-3;
  for (int i = 0; i < 4000; ++i) times.add(1, 1, i % 120 == 0 ? kStep + kStop : kStep, 0);
  const double mean = kStep + kStop / 120;
  EXPECT_NEAR(times.step(), mean, 0.1 * mean);
}

TEST(IntervalTimes, SayWhatATransferAddsToTheSteps) {
  IntervalTimes times;
  add(times, 3, 3, 1.5);
  add(times, 0, 3, 6.5, 1.5);
  const StepCosts costs = times.costs(0, {9, 8, 20, 2, 7, 7});
  EXPECT_DOUBLE_EQ(costs.forward, 1);
  EXPECT_DOUBLE_EQ(costs.write_taken, 5.5);
  EXPECT_DOUBLE_EQ(costs.read_taken, 2) << "no more than its own time";
  EXPECT_EQ(costs.adjoint, 8);
  EXPECT_EQ(times.costs(2, {9, 8, 20, 2, 7, 7}).write_taken, 7) << "that is not known";
}

// Where every interval has a transfer beside it, no step shows what one without takes.
TEST(IntervalTimes, KnowTheStepWithoutTransfersFromTwoLengthsAndOfOneTheFastestStep) {
  IntervalTimes times;
  times.fastest_step_is(0.75);
  EXPECT_EQ(times.step(), 0.75);
  add(times, 2, 3, 2);
  EXPECT_EQ(times.step(), 0.75);
  add(times, 1, 3, 3);
  EXPECT_DOUBLE_EQ(times.step(), 1);
  times.fastest_step_is(1.5);
  EXPECT_EQ(times.step(), 1.5) << "no step was faster";
}

// An hour in which the machine did something else, among seconds.
TEST(IntervalTimes, FollowAMachineThatBecomesSlowerAndAreNotMovedByADisturbance) {
  IntervalTimes times;
  add(times, 0, 4, 1);
  add(times, 0, 1, 3600);
  add(times, 0, 4, 1);
  EXPECT_DOUBLE_EQ(times.step(), 1);
  add(times, 0, 16, 2);
  EXPECT_DOUBLE_EQ(times.step(), 2);
}

constexpr auto anything = [](int /*level*/) { return 0; };

// The levels that follow each other where a piece of each takes what `price` says, and might have
// taken `at_least`.
std::vector<int> looked_at(int first, int pieces, const IntervalTimes::Levels& among,
                           const std::function<double(int)>& price,
                           const std::function<double(int)>& at_least = anything) {
  IntervalTimes times;
  std::vector<int> levels = {first};
  for (int i = 0; i < pieces; ++i) {
    add(times, levels.back(), 1, price(levels.back()));
    levels.push_back(times.next(among, price, at_least, levels.back()));
  }
  return levels;
}

TEST(IntervalTimes, GoBackAndLookAtTheOtherSideThenNowAndThenAtEither) {
  const auto valley = [](int level) { return 10.0 + std::abs(level - 3); };
  const std::vector<int> levels = looked_at(3, 60, kAnyLevel, valley);
  EXPECT_EQ(std::vector<int>(levels.begin(), levels.begin() + 6),
            (std::vector<int>{3, 2, 3, 4, 3, 3}))
      << "soon again, and then more seldom";
  EXPECT_EQ(levels.back(), 3);
  for (const int neighbour : {2, 4}) {
    const auto looks = std::count(levels.begin(), levels.end(), neighbour);
    EXPECT_GE(looks, 4);
    EXPECT_LE(looks, 6);
  }
  EXPECT_EQ(std::count(levels.begin(), levels.end(), 1), 0);
  // What a shorter one costs without its transfers is known before: nothing can be gained there. A
  // longer one shows what steps take.
  const std::vector<int> one_side =
      looked_at(3, 60, kAnyLevel, valley, [](int /*level*/) { return 11; });
  EXPECT_EQ(std::count(one_side.begin(), one_side.end(), 2), 0);
  EXPECT_GE(std::count(one_side.begin(), one_side.end(), 4), 4);
}

TEST(IntervalTimes, ForgetWhatWasLongAgo) {
  IntervalTimes times;
  add(times, 2, 8, 5);
  add(times, 3, 24, 3);
  add(times, 2, 1, 1);
  EXPECT_LE(times.step(), 1) << "the machine has become faster";
  // Of a level that nobody looked at since, the newest piece counts.
  add(times, 3, 30, 3);
  EXPECT_LE(times.step(), 1);
}

TEST(IntervalTimes, AreLookedForAmongTheLevelsThatCanBeTheBest) {
  constexpr auto shorter_is_cheaper = [](int at) { return 1 + at; };
  for (const int level : looked_at(3, 40, {2, 3}, shorter_is_cheaper)) {
    EXPECT_GE(level, 2);
    EXPECT_LE(level, 3);
  }
  EXPECT_EQ(looked_at(4, 40, {0, 1}, shorter_is_cheaper).back(), 0) << "from above them";
  IntervalTimes times;
  add(times, 0, 2, 1);
  const auto one = [](int) { return 1; };
  EXPECT_EQ(times.next({4, 6}, one, anything, 0), 4);
  EXPECT_EQ(times.best(4, one, -1), -1) << "of these none is known";
  // Which lengths can be the best is guessed from times that vary: a longer one that was is kept.
  IntervalTimes longer;
  add(longer, 3, 1, 1);
  add(longer, 2, 1, 1);
  const auto falls = [](int level) { return 10 - level; };
  EXPECT_EQ(longer.next({0, 2}, falls, anything, 2), 3);
}

// What was right is not any more: the disk became slow.
TEST(IntervalTimes, GoAsFarAsThatPaysAndLeaveALevelThatBecomesBad) {
  IntervalTimes times;
  bool slow = false;
  const auto price = [&](int level) { return slow ? 10.0 - level : 1.0 + level; };
  int level = 4;
  std::vector<int> levels;
  for (int i = 0; i < 40; ++i) {
    slow = i >= 20;
    add(times, level, 1, 1);
    levels.push_back(level = times.next(kAnyLevel, price, anything, level));
  }
  EXPECT_EQ(std::vector<int>(levels.begin(), levels.begin() + 6),
            (std::vector<int>{3, 2, 1, 0, 0, 0}));
  EXPECT_EQ(levels[19], 0);
  EXPECT_GE(level, 9);
}

}  // namespace
}  // namespace anadrome::schedule

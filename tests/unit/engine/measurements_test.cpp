// SPDX-License-Identifier: BSD-2-Clause
#include "engine/sweep/measurements.h"

#include <gtest/gtest.h>

namespace anadrome::engine {
namespace {

// Measurements after an agreement in which these were the largest times of any rank.
Measurements agreed(double forward, double adjoint, double write, double read,
                    std::int64_t smallest) {
  Measurements measured;
  Agreement::Output output;
  output.largest = {forward, adjoint, write, read, 0.25, 0};
  output.smallest = smallest;
  measured.take(output);
  return measured;
}

TEST(Measurements, BringTheMeansOfTheirOwnSteps) {
  Measurements measured;
  measured.add_forward(1, 1);  // the first sample counts until there is another
  measured.add_forward(6, 2);
  measured.add_adjoint(5);
  Agreement::Input input;
  measured.bring(input, nullptr);
  EXPECT_GE(input.largest[6], 0) << "since the run began";
  input.largest[6] = 0;
  Agreement::Numbers expected{3, 5};
  expected.back() = 1;  // the fastest
  EXPECT_EQ(input.largest, expected);
  EXPECT_EQ(input.smallest, 0);
}

TEST(Measurements, LeaveComparingOutOfTheTime) {
  Measurements measured;
  measured.compared(1000);
  Agreement::Input input;
  measured.bring(input, nullptr);
  EXPECT_LT(input.largest[6], -900);
  measured.begin_sweep();
  measured.bring(input, nullptr);
  EXPECT_GE(input.largest[6], 0);
}

TEST(Measurements, TellNothingOfCopiesFromTheFirstFew) {
  Measurements measured;
  for (int i = 0; i < 3; ++i) measured.add_copy(Copied::kAnchor, 4);
  EXPECT_EQ(measured.copy(), 0);
  measured.add_copy(Copied::kAnchor, 4);
  EXPECT_EQ(measured.copy(), 4) << "until those to slots are known";
  for (int i = 0; i < 4; ++i) measured.add_copy(Copied::kSlot, 1);
  EXPECT_EQ(measured.copy(), 1);
  EXPECT_EQ(measured.anchor_copy(), 4);
}

TEST(Measurements, GuessWhatNoRankOrNotEachHasMeasured) {
  const Measurements guessed = agreed(2, 0, 0.5, 0, 0);
  const schedule::StepCosts costs = guessed.costs(3'000'000'000);
  EXPECT_EQ(costs.forward, 2);
  EXPECT_EQ(costs.adjoint, 4) << "two forward steps";
  EXPECT_EQ(costs.write, 3) << "a gigabyte a second, as long as no write is done";
  EXPECT_EQ(costs.read, 3) << "as long as a write";
  EXPECT_EQ(costs.read_taken, 0.25) << "as much as a write";
  EXPECT_FALSE(guessed.write_times_known());
  EXPECT_EQ(agreed(2, 0, 7, 0, 0).costs(3'000'000'000).write, 7) << "longer than the guess";
  const Measurements measured = agreed(2, 3, 0.5, 0.125, 1);
  EXPECT_EQ(measured.costs(3'000'000'000).adjoint, 3);
  EXPECT_EQ(measured.costs(3'000'000'000).write, 0.5);
  EXPECT_EQ(measured.costs(3'000'000'000).read, 0.125);
  EXPECT_TRUE(measured.write_times_known());
}

TEST(Measurements, AreThoseOfAnEarlierSweepUntilTheDiskIsAnother) {
  Measurements measured = agreed(2, 3, 0.5, 0.125, 1);
  EXPECT_FALSE(measured.of_earlier_sweep());
  measured.sweep_is_done(true);
  EXPECT_TRUE(measured.of_earlier_sweep());
  measured.begin_disk(false);
  EXPECT_FALSE(measured.of_earlier_sweep());
}

// A forward sweep whose steps take 2 s, and 3 s more beside each write; an anchor's copy takes 1 s.
class Clock {
 public:
  Measurements measured;

  void begin() {
    measured.begin_sweep();
    end_ = {};
    elapsed_ = waited_ = 0;
  }
  void forward(std::int64_t steps, int intervals = 1) {
    for (; intervals > 0; --intervals) {
      end_.advances += steps;
      ++end_.anchor;
      elapsed_ += 2 * static_cast<double>(steps) + 3 + 1;
      Agreement::Output output;
      output.largest = {2.5, 6, 5, 5, 0.25, 0.25, elapsed_, waited_, 1, 1};
      output.smallest = 1;
      measured.take(output);
      measured.learn(end_);
    }
  }
  void wait(double seconds) {
    elapsed_ += seconds;
    waited_ += seconds;
  }

 private:
  IntervalEnd end_{};
  double elapsed_ = 0, waited_ = 0;
};

TEST(Measurements, KnowWhatIntervalsTakeWithoutTheCopiesThatRevolveMakesAsWell) {
  Clock clock;
  clock.begin();
  clock.forward(1, 12);
  EXPECT_DOUBLE_EQ(clock.measured.interval_times().step(), 5);
  clock.forward(8, 6);
  EXPECT_NEAR(clock.measured.interval_times().step(), 2, 1e-9);
  const schedule::StepCosts costs = clock.measured.costs(1);
  EXPECT_NEAR(costs.forward, 2, 1e-9);
  EXPECT_NEAR(costs.write_taken, 3, 1e-9);
  EXPECT_EQ(costs.adjoint, 6);
}

TEST(Measurements, CountWaitingForWhatATransferTakesOfTheForwardSweepAlone) {
  Clock clock;
  clock.begin();
  clock.forward(8, 6);
  for (int i = 0; i < 12; ++i) {
    clock.wait(2);
    clock.forward(1);
  }
  const schedule::StepCosts costs = clock.measured.costs(1);
  EXPECT_NEAR(costs.write_taken, 5 + 2 - costs.forward, 1e-9);
  EXPECT_NEAR(costs.read_taken, 5 - costs.forward, 1e-9);
}

TEST(Measurements, KnowIntervalsOfEarlierSweepsUntilTheDiskIsAnother) {
  Clock clock;
  clock.begin();
  clock.forward(1, 12);
  clock.begin();
  EXPECT_GT(clock.measured.interval_times().pieces(), 0);
  clock.forward(8, 1);
  EXPECT_FALSE(clock.measured.interval_times().knows(3)) << "probes, and what lies between sweeps";
  clock.measured.begin_disk(false);
  EXPECT_EQ(clock.measured.interval_times().pieces(), 0);
}

}  // namespace
}  // namespace anadrome::engine

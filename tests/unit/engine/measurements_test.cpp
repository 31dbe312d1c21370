// SPDX-License-Identifier: BSD-2-Clause
#include "engine/measurements.h"

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
  EXPECT_EQ(input.largest, (Agreement::Numbers{3, 5}));
  EXPECT_EQ(input.smallest, 0);
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

TEST(Measurements, GuessWhatIsNotMeasuredYet) {
  const Measurements measured = agreed(2, 0, 0.5, 0, 0);
  const schedule::StepCosts costs = measured.costs(3'000'000'000);
  EXPECT_EQ(costs.forward, 2);
  EXPECT_EQ(costs.adjoint, 4) << "two forward steps";
  EXPECT_EQ(costs.write, 3) << "a gigabyte a second, as long as no write is done";
  EXPECT_EQ(costs.read, 3) << "as long as a write";
  EXPECT_EQ(costs.read_taken, 0.25) << "as much as a write";
}

TEST(Measurements, BelieveAWriteThatTakesLongerThanTheGuess) {
  EXPECT_EQ(agreed(2, 0, 7, 0, 0).costs(3'000'000'000).write, 7);
}

TEST(Measurements, UseAgreedTimesWhereThereAreSome) {
  const schedule::StepCosts costs = agreed(2, 3, 0.5, 0.125, 1).costs(3'000'000'000);
  EXPECT_EQ(costs.adjoint, 3);
  EXPECT_EQ(costs.write, 0.5);
  EXPECT_EQ(costs.read, 0.125);
}

TEST(Measurements, KnowOfWritesWhatTheRankSaysThatKnowsLeast) {
  EXPECT_FALSE(agreed(1, 1, 1, 1, 0).write_times_known());
  EXPECT_TRUE(agreed(1, 1, 1, 1, 1).write_times_known());
  EXPECT_FALSE(agreed(1, 1, 1, 1, 1).nobody_writes());
  EXPECT_TRUE(agreed(1, 1, 1, 1, 2).nobody_writes());
}

TEST(Measurements, AreThoseOfAnEarlierSweepUntilTheDiskIsAnother) {
  Measurements measured = agreed(2, 3, 0.5, 0.125, 1);
  EXPECT_FALSE(measured.of_earlier_sweep());
  measured.sweep_is_done(true);
  EXPECT_TRUE(measured.of_earlier_sweep());
  measured.begin_disk(false);
  EXPECT_FALSE(measured.of_earlier_sweep());
}

// A forward sweep whose steps take 2 s, and 3 s more beside each write, of which the copy to the
// anchor takes 1.5 s; other copies take 1 s. Then a reverse sweep: adjoint steps of 5 s, and 4 s
// more beside each read.
class Clock {
 public:
  Measurements measured;

  void begin() {
    measured.begin_sweep();
    elapsed_ = 0;
  }
  void forward(std::int64_t steps) {
    end_.reverse = false;
    end_.advances += steps;
    ++end_.anchor;
    pass(2 * static_cast<double>(steps) + 3);
  }
  void reverse(std::int64_t steps) {
    end_.reverse = true;
    --end_.anchor;
    end_.advances += steps - 1;
    end_.adjoints += steps;
    pass(2 * static_cast<double>(steps - 1) + 5 * static_cast<double>(steps) + 4);
  }
  void try_forward(std::int64_t steps, std::int64_t tried) {
    for (const std::int64_t length : {steps, steps, tried, tried, steps, steps}) forward(length);
  }
  void wait(double seconds) {
    elapsed_ += seconds;
    waited_ += seconds;
  }

 private:
  void pass(double seconds) {
    elapsed_ += seconds;
    Agreement::Output output;
    output.largest = {2.5, 6, 5, 5, 0.25, 0.25, elapsed_, waited_, 1, 1.5};
    output.smallest = 2;
    measured.take(output);
    measured.learn(end_);
  }
  IntervalEnd end_{};
  double elapsed_ = 0, waited_ = 0;
};

TEST(Measurements, TellAStepFromTheWriteBesideIt) {
  Clock clock;
  for (int i = 0; i < 12; ++i) clock.forward(1);
  EXPECT_EQ(clock.measured.costs(1).forward, 2.5) << "as the caller's steps take beside transfers";
  for (const std::int64_t steps : {4, 4, 1, 1}) {
    clock.forward(steps);
    clock.wait(7);
  }
  EXPECT_TRUE(clock.measured.separates());
  const schedule::StepCosts costs = clock.measured.costs(1);
  EXPECT_NEAR(costs.forward, 2, 1e-9);
  EXPECT_NEAR(costs.write_taken, 1.5, 1e-9)
      << "without the copy to an anchor, which Revolve makes as well";
  EXPECT_EQ(costs.read_taken, costs.write_taken) << "until a read was measured";
  EXPECT_EQ(costs.adjoint, 6);
}

TEST(Measurements, TellAnAdjointStepFromTheReadBesideIt) {
  Clock clock;
  for (int i = 0; i < 12; ++i) clock.forward(1);
  clock.try_forward(1, 4);
  for (const std::int64_t steps : {1, 1, 1, 4, 4, 1, 1}) clock.reverse(steps);
  const schedule::StepCosts costs = clock.measured.costs(1);
  EXPECT_NEAR(costs.adjoint, 5 - 2, 1e-9) << "without the copies of each step";
  EXPECT_NEAR(costs.read_taken, 4 + 1, 1e-9);
}

TEST(Measurements, LearnNothingFromTheFirstIntervalsAndBetweenSweeps) {
  Clock clock;
  for (const std::int64_t steps : {8, 2, 2, 8}) clock.forward(steps);
  EXPECT_FALSE(clock.measured.separates()) << "memory was cold";
  for (int i = 0; i < 8; ++i) clock.forward(4);
  for (int i = 0; i < 2; ++i) clock.forward(2);
  clock.measured.begin_sweep();
  clock.wait(-10);  // the waits of a sweep are counted from its beginning
  for (int i = 0; i < 9; ++i) clock.forward(4);
  EXPECT_FALSE(clock.measured.separates()) << "the other length was another sweep's";
  clock.try_forward(4, 2);
  EXPECT_NEAR(clock.measured.costs(1).forward, 2, 1e-9);
  clock.measured.begin_sweep();
  EXPECT_NEAR(clock.measured.costs(1).forward, 2, 1e-9) << "until it is told apart again";
  for (int i = 0; i < 9; ++i) clock.forward(4);
  clock.measured.begin_sweep();
  EXPECT_FALSE(clock.measured.separates()) << "a whole sweep had intervals of one length";
}

TEST(Measurements, ForgetWhatTheFirstSweepMetCold) {
  Clock clock;
  for (int i = 0; i < 12; ++i) clock.forward(1);
  clock.try_forward(1, 4);
  ASSERT_TRUE(clock.measured.separates());
  clock.measured.sweep_is_done(true);
  clock.measured.begin_sweep();
  EXPECT_FALSE(clock.measured.separates());
  for (int i = 0; i < 12; ++i) clock.forward(1);
  clock.try_forward(1, 4);
  clock.measured.sweep_is_done(true);
  clock.measured.begin_sweep();
  EXPECT_TRUE(clock.measured.separates());
}

TEST(Measurements, ForgetItAfterASweepWithoutDiskToo) {
  Clock clock;
  for (int i = 0; i < 12; ++i) clock.forward(1);
  clock.try_forward(1, 4);
  clock.measured.sweep_is_done(true);
  clock.measured.sweep_is_done(false);
  ASSERT_TRUE(clock.measured.separates());
  clock.measured.begin_sweep();
  EXPECT_FALSE(clock.measured.separates());
}

TEST(Measurements, KnowWhatWholeSweepsTookButForTheFirst) {
  Clock clock;
  constexpr std::int64_t blocks = 8;
  const auto sweep = [&](int intervals, std::int64_t steps,
                         const std::optional<schedule::AsyncPlan>& plan) {
    clock.begin();
    for (int i = 0; i < intervals; ++i) clock.forward(1);
    clock.measured.sweep_is_done(true, {steps, blocks}, plan);
  };
  const schedule::AsyncPlan with_anchors = {.interval = 3}, in_ram = {.ends_in_ram = true};
  sweep(10, 10, with_anchors);
  EXPECT_EQ(clock.measured.sweeps_took({10, blocks}).with(with_anchors), 0)
      << "it met everything cold";
  sweep(8, 10, with_anchors);
  sweep(6, 10, in_ram);
  EXPECT_EQ(clock.measured.sweeps_took({10, blocks}).with(with_anchors), 8 * 5);
  EXPECT_EQ(clock.measured.sweeps_took({10, blocks}).with(in_ram), 6 * 5);
  EXPECT_EQ(clock.measured.sweeps_took({11, blocks}).with(in_ram), 0) << "of other sweeps";
  EXPECT_EQ(clock.measured.sweeps_took({10, blocks + 1}).with(in_ram), 0) << "in other memory";
  sweep(7, 10, std::nullopt);
  EXPECT_EQ(clock.measured.sweeps_took({10, blocks}).with(in_ram), 6 * 5) << "a part says nothing";
  sweep(4, 12, in_ram);
  EXPECT_EQ(clock.measured.sweeps_took({12, blocks}).with(with_anchors), 0);
  EXPECT_EQ(clock.measured.sweeps_took({12, blocks}).with(in_ram), 4 * 5);
}

TEST(Measurements, ForgetWhatAnotherDiskTook) {
  Clock clock;
  for (int i = 0; i < 12; ++i) clock.forward(1);
  for (int i = 0; i < 4; ++i) clock.forward(4);
  clock.measured.begin_disk(false);
  EXPECT_FALSE(clock.measured.separates());
}

}  // namespace
}  // namespace anadrome::engine

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
  EXPECT_EQ(input.largest, (std::array<double, 6>{3, 5, 0, 0, 0, 0}));
  EXPECT_EQ(input.smallest, 0);
}

TEST(Measurements, TellNothingOfCopiesFromTheFirstFew) {
  Measurements measured;
  for (int i = 0; i < 3; ++i) measured.add_copy(1);
  EXPECT_EQ(measured.copy(), 0);
  measured.add_copy(1);
  EXPECT_EQ(measured.copy(), 1);
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

}  // namespace
}  // namespace anadrome::engine

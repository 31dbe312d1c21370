// SPDX-License-Identifier: BSD-2-Clause
#include "store/memory/meter.h"

#include <gtest/gtest.h>

namespace anadrome::store {
namespace {

TEST(Meter, KnowsNothingBeforeTheFirstSample) {
  Meter meter;
  EXPECT_EQ(meter.seconds(), 0);
  meter.add(3, 0);
  EXPECT_EQ(meter.seconds(), 0) << "no step, no sample";
}

TEST(Meter, CountsPerStep) {
  Meter meter;
  meter.add(6, 3);
  EXPECT_DOUBLE_EQ(meter.seconds(), 2);
}

TEST(Meter, ForgetsTheFirstSampleWithTheSecond) {
  Meter meter;
  meter.add(100, 1);
  meter.add(2, 1);
  EXPECT_DOUBLE_EQ(meter.seconds(), 2);
  meter.add(4, 1);
  EXPECT_DOUBLE_EQ(meter.seconds(), 3) << "the mean of the others";
}

TEST(Meter, FollowsADriftWithItsLeastWeight) {
  Meter meter;
  for (int i = 0; i < 40; ++i) meter.add(1, 1);
  meter.add(2, 1);
  EXPECT_NEAR(meter.seconds(), 1.05, 1e-12);
}

TEST(Meter, CutsASampleThatWasInterrupted) {
  Meter meter;
  for (int i = 0; i < 41; ++i) meter.add(1, 1);
  meter.add(1000, 1);
  EXPECT_NEAR(meter.seconds(), 1 + 0.05 * 7, 1e-12) << "as eight times the mean";
}

TEST(RecentMedian, KnowsNothingBeforeTheFirstSample) {
  RecentMedian transfers;
  transfers.add(1, 0);
  EXPECT_EQ(transfers.seconds(), 0);
}

TEST(RecentMedian, LeavesOutAHiccup) {
  RecentMedian transfers;
  for (const double seconds : {90.0, 2.0, 2.0, 80.0, 2.0, 4.0}) transfers.add(2 * seconds, 2);
  EXPECT_DOUBLE_EQ(transfers.seconds(), 2);
}

TEST(RecentMedian, FollowsAChangeOfSpeedWithinThreeTransfers) {
  RecentMedian transfers;
  for (int i = 0; i < 9; ++i) transfers.add(1, 1);
  for (int i = 0; i < 3; ++i) transfers.add(7, 1);
  EXPECT_DOUBLE_EQ(transfers.seconds(), 7);
}

TEST(Sampler, TimesEveryEventThatIsLongOrMayBe) {
  Sampler sampler;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(sampler.due(0));
    EXPECT_TRUE(sampler.due(1));
    EXPECT_EQ(sampler.stands_for(1e-6), 1e-6);
  }
}

TEST(Sampler, TimesOneOfManyShortEvents) {
  Sampler sampler;
  int timed = 0;
  for (std::int64_t i = 0; i < 3 * Sampler::kOneOf; ++i) {
    if (!sampler.due(1e-9)) continue;
    ++timed;
    EXPECT_EQ(sampler.stands_for(1e-6), static_cast<double>(Sampler::kOneOf) * 1e-6);
  }
  EXPECT_EQ(timed, 3);
}

}  // namespace
}  // namespace anadrome::store

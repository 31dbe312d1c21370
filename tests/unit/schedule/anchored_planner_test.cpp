// SPDX-License-Identifier: BSD-2-Clause
// RAM only, known n: real runs of Revolve and store_all, and what such a sweep refuses.

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "replay.h"

namespace anadrome::schedule {
namespace {

AnchoredCase revolve(std::int64_t steps, std::int64_t slots, bool record = false) {
  return {.steps = steps, .slots = slots, .record = record};
}

TEST(AnchoredPlanner, StoreAllRunsEachStepOnce) {
  for (std::int64_t n = 1; n <= 60; ++n) {
    for (const std::int64_t s : {n, n + 1, 2 * n, kNoLimit}) {
      const Taken totals = replay(revolve(n, s), n);
      ASSERT_EQ(totals.advances, n) << "s " << s;
      ASSERT_EQ(totals.keeps, n) << "s " << s;
    }
  }
}

TEST(AnchoredPlanner, RevolveKeepsItsPromisesOnLongSweeps) {
  std::mt19937_64 random(799);
  for (int trial = 0; trial < 60; ++trial) {
    const auto n = static_cast<std::int64_t>(random() % 3000);
    const auto s = static_cast<std::int64_t>(1 + random() % (random() % 2 == 0 ? 10 : 200));
    if (s == 1 && n > 1000) continue;
    const bool record = random() % 2 == 0;
    const Taken totals = replay(revolve(n, s, record), n);
    const std::int64_t optimum =
        record ? n + extra_advances_clamped(n, s) : extra_advances_clamped(n + 1, s);
    ASSERT_EQ(totals.advances, optimum) << "n " << n << ", s " << s << ", record " << record;
  }
}

TEST(AnchoredPlanner, PromisesTheOptimumOfABillionSteps) {
  EXPECT_EQ(AskedSweep(revolve(1000000000, 20))->advances_remaining(),
            extra_advances_clamped(1000000001, 20));
}

TEST(AnchoredPlanner, PromisesNoMoreThanFits) {
  EXPECT_EQ(AskedSweep(revolve(kMostSteps - 1, 1))->advances_remaining(), kNoLimit);
  EXPECT_EQ(AskedSweep(revolve(kMostSteps - 1, 40, true))->advances_remaining(), kNoLimit);
}

TEST(AnchoredPlanner, BeginsTheLongestSweepLikeAnyOther) {
  AskedSweep sequence(revolve(kMostSteps - 1, 20));
  std::int64_t live = 0;
  for (int i = 0; i < 40; ++i) {
    const Action action = sequence.next();
    const auto* advance = std::get_if<Advance>(&action);
    if (advance == nullptr) continue;
    ASSERT_EQ(advance->first, live);
    ASSERT_GT(advance->last, live);
    ASSERT_LT(advance->last, kMostSteps);
    live = advance->last;
  }
  EXPECT_GT(live, kMostSteps / 2);
}

TEST(AnchoredPlanner, RefusesOptionsThatMakeNoSense) {
  const auto refused = [](const AnchoredCase& options) {
    try {
      AskedSweep sequence(options);
    } catch (const Error& error) {
      return error.status() == ANADROME_ERR_ARGUMENT;
    }
    return false;
  };
  EXPECT_TRUE(refused(revolve(-2, 3)));
  EXPECT_TRUE(refused(revolve(kMostSteps, 3)));
  EXPECT_TRUE(refused(revolve(5, 0)));
  AnchoredCase options = revolve(5, 2);
  options.anchored = true;
  options.interval = -1;
  EXPECT_TRUE(refused(options));
  options.interval = kMostSteps;
  EXPECT_TRUE(refused(options));
  options.interval = 3;
  options.most_anchors = 0;
  EXPECT_TRUE(refused(options));
  options.most_anchors = 1;
  EXPECT_FALSE(refused(options));
}

TEST(AnchoredPlanner, RefusesAnswersThatWereNotAskedFor) {
  const auto refused = [](auto&& answer) {
    AnchoredCase options = revolve(50, 3);
    options.anchored = true;
    AskedSweep sequence(options);
    try {
      answer(sequence);
    } catch (const Error& error) {
      return error.status() == ANADROME_ERR_INTERNAL;
    }
    return false;
  };
  EXPECT_TRUE(refused([](AskedSweep& sequence) { sequence.set_interval(4); }));
  EXPECT_TRUE(refused([](AskedSweep& sequence) { sequence.probe(4); }));
  const auto asked = [](AskedSweep& sequence) {
    while (!std::holds_alternative<Decide>(sequence.next())) {
    }
  };
  EXPECT_TRUE(refused([&](AskedSweep& sequence) { asked(sequence), sequence.set_interval(0); }));
  EXPECT_TRUE(refused([&](AskedSweep& sequence) { asked(sequence), sequence.probe(0); }));
  EXPECT_FALSE(refused([&](AskedSweep& sequence) { asked(sequence), sequence.set_interval(4); }));
  EXPECT_FALSE(refused([&](AskedSweep& sequence) { asked(sequence), sequence.probe(4); }));
}

TEST(AnchoredPlanner, RefusesAnEndOfASweepThatItKnowsTheEndOf) {
  AskedSweep sequence(revolve(10, 3));
  while (!std::holds_alternative<Advance>(sequence.next())) {
  }
  EXPECT_FALSE(sequence->course().ends.has(1));
  EXPECT_THROW(sequence->finish_forward(1), Error);
  EXPECT_EQ(sequence->course().steps, 10);
}

}  // namespace
}  // namespace anadrome::schedule

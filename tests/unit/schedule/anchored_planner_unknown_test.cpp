// SPDX-License-Identifier: BSD-2-Clause
// RAM only, n not known: checkpoints placed online, store_all up to the end of its slots.
#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "replay.h"

namespace anadrome::schedule {
namespace {

AnchoredCase online(std::int64_t slots, bool record = false) {
  return {.steps = kUnknown, .slots = slots, .record = record};
}

AnchoredCase store_all(std::int64_t slots, bool record = false) {
  AnchoredCase options = online(slots, record);
  options.keep_every = true;
  return options;
}

TEST(AnchoredPlannerUnknown, ObeysEveryRuleWhereverTheEndIs) {
  for (std::int64_t n = 0; n <= 80; ++n) {
    for (std::int64_t s = 1; s <= 12; ++s) {
      for (const bool record : {false, true}) {
        for (const bool late : {false, true}) {
          ReplayOptions options;
          options.finish_late = late;
          const Taken totals = replay(online(s, record), n, options);
          ASSERT_EQ(totals.recorded, record ? n : 0);
          ASSERT_GE(totals.advances - totals.recorded, n);
        }
      }
    }
  }
}

TEST(AnchoredPlannerUnknown, WithOneSlotCostsWhatRevolveDoes) {
  for (std::int64_t n = 0; n <= 60; ++n) {
    ASSERT_EQ(replay(online(1), n).advances, extra_advances_clamped(n + 1, 1)) << "n " << n;
  }
}

TEST(AnchoredPlannerUnknown, TakesNoMoreThanRevolveUpToTwoRepetitions) {
  for (const std::int64_t s : {2, 3, 5, 10}) {
    for (std::int64_t n = 0; n <= (s + 1) * (s + 2) / 2; ++n) {
      ASSERT_EQ(replay(online(s), n).advances, extra_advances_clamped(n + 1, s))
          << "n " << n << ", s " << s;
    }
  }
}

TEST(AnchoredPlannerUnknown, KeepsWhatMakesTheReversalCheaper) {
  // Forward steps over Revolve's, averaged over n. By levels it would be 1.066 with 20 slots.
  double sum = 0;
  int count = 0;
  constexpr std::int64_t kSlots = 20;
  for (std::int64_t n = 10; n <= 2000; n += 10, ++count) {
    const auto forward_steps = static_cast<double>(n + replay(online(kSlots), n).advances);
    sum += forward_steps / static_cast<double>(n + extra_advances_clamped(n + 1, kSlots));
  }
  EXPECT_LT(sum / count, 1.02);
}

TEST(AnchoredPlannerUnknown, KeepsItsPromisesOnLongSweeps) {
  std::mt19937_64 random(2009);
  for (int trial = 0; trial < 40; ++trial) {
    const auto n = static_cast<std::int64_t>(random() % 3000);
    const auto s = static_cast<std::int64_t>(2 + random() % 60);
    ReplayOptions options;
    options.finish_late = random() % 2 == 0;
    ASSERT_NO_THROW(replay(online(s, random() % 2 == 0), n, options)) << "n " << n << ", s " << s;
  }
}

TEST(AnchoredPlannerUnknown, StoreAllRunsEachStepOnce) {
  for (std::int64_t s = 1; s <= 30; ++s) {
    for (std::int64_t n = 0; n <= s; ++n) {
      ASSERT_EQ(replay(store_all(s), n).advances, n) << "s " << s;
      // The end shows after the fact, so the last step cannot be recorded on the way.
      ASSERT_EQ(replay(store_all(s, true), n).advances, 2 * n) << "s " << s;
    }
  }
}

TEST(AnchoredPlannerUnknown, StoreAllFailsExactlyWhenThereAreMoreStepsThanSlots) {
  const auto fails_for_memory = [](std::int64_t slots, std::int64_t steps) {
    try {
      replay(store_all(slots), steps);
    } catch (const Error& error) {
      return error.status() == ANADROME_ERR_MEMORY;
    }
    return false;
  };
  for (std::int64_t s = 1; s <= 30; ++s) {
    for (std::int64_t n = 0; n <= 32; ++n) {
      ASSERT_EQ(fails_for_memory(s, n), n > s) << "n " << n << ", s " << s;
    }
  }
}

TEST(AnchoredPlannerUnknown, KnowsNothingOfWhatRemainsBeforeTheEnd) {
  AskedSweep sequence(online(4));
  EXPECT_EQ(sequence->course().steps, kUnknown);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(sequence->advances_remaining(), kUnknown);
    EXPECT_EQ(sequence->course().adjoints_left, kUnknown);
    sequence.next();
  }
}

TEST(AnchoredPlannerUnknown, FinishesOnlyInsideTheAdvanceUnderWay) {
  AskedSweep sequence(online(3));
  EXPECT_FALSE(sequence->course().ends.has(0));
  Advance action;
  while (action.first < 5) {
    const Action next = sequence.next();
    if (const auto* advance = std::get_if<Advance>(&next)) {
      action = *advance;
    } else {
      EXPECT_FALSE(sequence->course().ends.has(action.last));
    }
  }
  EXPECT_FALSE(sequence->course().ends.has(action.first - 1));
  EXPECT_FALSE(sequence->course().ends.has(action.last + 1));
  EXPECT_THROW(sequence->finish_forward(action.last + 1), Error);
  EXPECT_EQ(sequence->course().steps, kUnknown);
  sequence->finish_forward(action.last);
  EXPECT_EQ(sequence->course().steps, action.last);
  EXPECT_FALSE(sequence->course().ends.has(action.last));
  EXPECT_THROW(sequence->finish_forward(action.last), Error);
}

}  // namespace
}  // namespace anadrome::schedule

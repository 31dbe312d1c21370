// SPDX-License-Identifier: BSD-2-Clause
// A second reverse sweep over the same forward sweep.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "replay.h"

namespace anadrome::schedule {
namespace {

struct TwoSweeps {
  Taken first, second;
};

TwoSweeps sweep_and_rewind(const AnchoredCase& given, std::int64_t steps, std::int64_t anchors,
                           const ReplayOptions& options = {}) {
  AskedSweep sweep(given);
  const std::vector<Taken> taken = replay(sweep, steps, options, {anchors});
  return {taken.front(), taken.back()};
}

AnchoredCase ram(std::int64_t steps, std::int64_t slots, bool record = false) {
  return {.steps = steps, .slots = slots, .record = record};
}

// Steps that Revolve runs from x_0 to the end and back.
std::int64_t from_scratch(std::int64_t steps, std::int64_t slots, bool record) {
  return record ? steps + extra_advances_clamped(steps, slots)
                : extra_advances_clamped(steps + 1, slots);
}

TEST(AnchoredPlannerRewind, OfRevolveCostsTheOptimumAgain) {
  for (std::int64_t n = 1; n <= 40; ++n) {
    for (std::int64_t s = 1; s < n; ++s) {
      for (const bool record : {false, true}) {
        const TwoSweeps sweeps = sweep_and_rewind(ram(n, s, record), n, 1);
        ASSERT_EQ(sweeps.second.advances, from_scratch(n, s, record)) << "n " << n << ", s " << s;
      }
    }
  }
}

TEST(AnchoredPlannerRewind, OfStoreAllTakesOneAdvanceAtMost) {
  for (std::int64_t n = 0; n <= 40; ++n) {
    for (const std::int64_t s : {n, n + 1, n + 2, 2 * n + 1}) {
      if (s == 0) continue;
      const TwoSweeps sweeps = sweep_and_rewind(ram(n, s), n, 1);
      ASSERT_LE(sweeps.second.advances, 1) << "n " << n << ", s " << s;
      ASSERT_EQ(sweeps.second.keeps, 0) << "n " << n << ", s " << s;
      const Taken taped = sweep_and_rewind(ram(n, s, true), n, 1).second;
      ASSERT_EQ(taped.recorded, n) << "s " << s;
      ASSERT_LE(taped.advances - taped.recorded, 1) << "n " << n << ", s " << s;
    }
  }
}

TEST(AnchoredPlannerRewind, OfStoreAllWithUnknownStepsTakesOneAdvanceAtMost) {
  for (std::int64_t n = 0; n <= 40; ++n) {
    for (const bool late : {false, true}) {
      AnchoredCase options = ram(kUnknown, n + 2);
      options.keep_every = true;
      ReplayOptions replay_options;
      replay_options.finish_late = late;
      const TwoSweeps sweeps = sweep_and_rewind(options, n, 1, replay_options);
      ASSERT_LE(sweeps.second.advances, 1) << "n " << n;
      ASSERT_EQ(sweeps.second.keeps, 0) << "n " << n;
    }
  }
}

TEST(AnchoredPlannerRewind, CanBeDoneAgainAndAgain) {
  for (const std::int64_t s : {3, 20}) {
    AskedSweep sweep(ram(20, s));
    const std::vector<Taken> taken = replay(sweep, 20, {}, {1, 1, 1});
    EXPECT_EQ(taken[2].advances, taken[1].advances);
    EXPECT_EQ(taken[3].advances, taken[1].advances);
  }
}

TEST(AnchoredPlannerRewind, OfUnknownStepsCostsNoMoreThanRevolve) {
  for (std::int64_t n = 0; n <= 60; ++n) {
    for (std::int64_t s = 1; s <= 8; ++s) {
      for (const bool record : {false, true}) {
        const TwoSweeps sweeps = sweep_and_rewind(ram(kUnknown, s, record), n, 1);
        ASSERT_EQ(sweeps.second.advances, from_scratch(n, s, record)) << "n " << n << ", s " << s;
      }
    }
  }
}

TEST(AnchoredPlannerRewind, WithAnchorsCostsNoMoreThanRevolveFromTheFirst) {
  std::mt19937_64 random(1977);
  const auto below = [&random](std::int64_t end) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
  };
  for (int trial = 0; trial < 10000; ++trial) {
    const std::int64_t n = below(80);
    AnchoredCase options = ram(below(2) == 0 ? n : kUnknown, 1 + below(7), below(2) == 0);
    if (below(20) == 0) options.slots = 90;
    options.anchored = true;
    options.interval = below(2) == 0 ? 1 + below(12) : 0;
    if (below(3) == 0) options.most_anchors = 1 + below(6);
    options.all_anchors = below(2) == 0;
    ReplayOptions replay_options;
    replay_options.finish_late = below(2) == 0;
    if (options.interval == 0) {
      replay_options.decide = [&](std::int64_t) { return Answer{below(3) == 0, 1 + below(15)}; };
    }
    const std::int64_t anchors = 1 + below(12);
    const TwoSweeps sweeps = sweep_and_rewind(options, n, anchors, replay_options);
    ASSERT_LE(sweeps.second.advances, from_scratch(n, options.slots, options.record))
        << "trial " << trial << ", n " << n << ", s " << options.slots;
    ASSERT_EQ(sweeps.second.anchors, 0);
  }
}

TEST(AnchoredPlannerRewind, UsesTheAnchorsThatAreLeft) {
  AnchoredCase options = ram(100, 2);
  options.anchored = options.all_anchors = true;
  options.interval = 10;
  const std::int64_t within = extra_advances_clamped(10, 2);
  EXPECT_EQ(sweep_and_rewind(options, 100, 10).second.advances,
            9 * within + extra_advances_clamped(11, 2));
  EXPECT_EQ(sweep_and_rewind(options, 100, 5).second.advances,
            4 * within + extra_advances_clamped(61, 2));
  EXPECT_EQ(sweep_and_rewind(options, 100, 1).second.advances, extra_advances_clamped(101, 2));
}

TEST(AnchoredPlannerRewind, IsRefusedBeforeTheEndAndWithoutAnAnchor) {
  AskedSweep sequence(ram(5, 2));
  EXPECT_THROW(sequence->rewind(1), Error);
  while (!std::holds_alternative<Done>(sequence.next())) {
    ASSERT_THROW(sequence->rewind(1), Error);
  }
  EXPECT_NO_THROW(sequence->rewind(1));
}

}  // namespace
}  // namespace anadrome::schedule

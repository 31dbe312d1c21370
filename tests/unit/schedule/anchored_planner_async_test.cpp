// SPDX-License-Identifier: BSD-2-Clause
// Anchors at intervals, fixed or answered by the caller, with n known or not.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "base/error.h"
#include "replay.h"
#include "schedule/anchored/interval.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
namespace {

constexpr std::int64_t kFew = 3;

AnchoredCase async(std::int64_t steps, std::int64_t slots, std::int64_t interval) {
  return {.steps = steps, .slots = slots, .anchored = true, .interval = interval};
}

// n 0 .. 60, I 1 .. 9, s 1 .. 6, with and without a tape, two limits of anchors.
template <class Body>
void for_all_small_plans(Body&& body) {
  for (std::int64_t n = 0; n <= 60; ++n) {
    for (std::int64_t interval = 1; interval <= 9; ++interval) {
      for (std::int64_t s = 1; s <= 6; ++s) {
        for (const std::int64_t most_anchors : {kNoLimit, kFew}) {
          for (const bool record : {false, true}) {
            AnchoredCase options = async(n, s, interval);
            options.most_anchors = most_anchors;
            options.record = record;
            body(options);
            if (::testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

std::string text(const AnchoredCase& options) {
  std::ostringstream out;
  out << "n " << options.steps << ", s " << options.slots << ", I " << options.interval
      << ", anchors <= " << options.most_anchors << ", all " << options.all_anchors << ", record "
      << options.record;
  return out.str();
}

std::int64_t anchored_intervals(std::int64_t steps, std::int64_t interval,
                                std::int64_t most_anchors) {
  return steps == 0 ? 0 : std::min((steps - 1) / interval, most_anchors - 1);
}

// Advances of the plain periodic plan: an anchor every I steps as long as there are any, each
// interval reversed by itself, the last one entered directly. With a tape n of them are recordings.
std::int64_t plain_periodic(const AnchoredCase& options) {
  const std::int64_t n = options.steps;
  const std::int64_t anchored = anchored_intervals(n, options.interval, options.most_anchors);
  const std::int64_t tail = n - anchored * options.interval;
  const std::int64_t before = anchored * options.interval +
                              anchored * extra_advances_clamped(options.interval, options.slots);
  return before + (options.record ? n + extra_advances_clamped(tail, options.slots)
                                  : extra_advances_clamped(tail + 1, options.slots));
}

TEST(AnchoredPlannerAsync, EndsInRamWithTheAdvancesOfRevolve) {
  AnchoredCase options = {.steps = 30, .slots = 3, .most_slots = 5, .anchored = true};
  AskedSweep sequence(options);
  EXPECT_THROW(sequence.end_in_ram(5), Error);
  std::int64_t advances = 0, anchors = 0;
  for (Action action = sequence.next(); !std::holds_alternative<Done>(action);
       action = sequence.next()) {
    if (std::holds_alternative<Decide>(action)) sequence.end_in_ram(5);
    if (const auto* run = std::get_if<Advance>(&action)) advances += run->last - run->first;
    const auto* kept = std::get_if<Keep>(&action);
    if (kept != nullptr && kept->tier == kDiskTier) ++anchors;
  }
  EXPECT_EQ(anchors, 1);
  EXPECT_EQ(advances, static_cast<std::int64_t>(extra_advances(31, 5)));
}

// Where the decision falls is not where a state is to be kept: the sweep goes on from there to the
// best place that is left.
TEST(AnchoredPlannerAsync, EndsInRamFromBetweenAnchorsWithTheBestPlaceThatIsLeft) {
  for (std::int64_t slots = 1; slots <= 5; ++slots) {
    for (std::int64_t n = slots + 2; n <= 40; ++n) {  // of fewer steps none is run again
      for (std::int64_t decided = 1; decided < n; ++decided) {
        AnchoredCase options = {.steps = n, .slots = slots, .anchored = true};
        AskedSweep sequence(options);
        Driving driving{.steps = n, .steady = false};
        driving.decide = [&](std::int64_t live) {
          if (live < decided) return sequence.probe(decided - live);
          sequence.end_in_ram(slots);
        };
        const Taken taken = Driver(sequence.sweep(), sequence.rules(), driving).sweep();
        std::int64_t best = n + extra_advances_clamped(n, slots);  // straight to x_n
        for (std::int64_t place = decided; slots > 1 && place < n; ++place) {
          best = std::min(best, place + extra_advances_clamped(n + 1 - place, slots - 1) +
                                    extra_advances_clamped(place, slots));
        }
        ASSERT_EQ(taken.advances, best) << "n " << n << ", s " << slots << ", at " << decided;
      }
    }
  }
}

TEST(AnchoredPlannerAsync, NeverAdvancesMoreThanThePlainPeriodicPlan) {
  for_all_small_plans([](const AnchoredCase& options) {
    const Taken totals = replay(options, options.steps);
    ASSERT_LE(totals.advances, plain_periodic(options)) << text(options);
    ASSERT_LE(totals.anchors, options.most_anchors) << text(options);
    ASSERT_EQ(totals.recorded, options.record ? options.steps : 0) << text(options);
  });
}

TEST(AnchoredPlannerAsync, WithAllAnchorsIsThePlainPeriodicPlan) {
  const auto check = [](AnchoredCase options) {
    options.all_anchors = true;
    const Taken totals = replay(options, options.steps);
    ASSERT_EQ(totals.advances, plain_periodic(options)) << text(options);
    ASSERT_EQ(totals.anchors,
              1 + anchored_intervals(options.steps, options.interval, options.most_anchors))
        << text(options);
  };
  for_all_small_plans(check);
  for (const std::int64_t interval : {1, 8, 64, 256}) {
    for (const std::int64_t slots : {1, 3, 20}) check(async(1000, slots, interval));
  }
}

TEST(AnchoredPlannerAsync, WithOneAnchorIsRevolve) {
  for_all_small_plans([](AnchoredCase options) {
    options.most_anchors = 1;
    const std::int64_t n = options.steps, s = options.slots;
    const Taken totals = replay(options, n);
    ASSERT_EQ(totals.advances,
              options.record ? n + extra_advances_clamped(n, s) : extra_advances_clamped(n + 1, s))
        << text(options);
  });
}

TEST(AnchoredPlannerAsync, WithUnknownStepsCostsNoMoreThanIntervalsReversedFromTheirAnchors) {
  for_all_small_plans([](AnchoredCase options) {
    const std::int64_t n = options.steps, s = options.slots;
    options.steps = kUnknown;
    for (const bool late : {false, true}) {
      ReplayOptions replay_options;
      replay_options.finish_late = late;
      const Taken totals = replay(options, n, replay_options);
      ASSERT_EQ(totals.recorded, options.record ? n : 0) << text(options);
      ASSERT_LE(totals.anchors, options.most_anchors) << text(options);
      const std::int64_t anchored = anchored_intervals(n, options.interval, kNoLimit);
      if (anchored >= options.most_anchors) continue;  // the rest is placed online
      const std::int64_t tail = n - anchored * options.interval;
      ASSERT_LE(totals.advances, n + totals.recorded +
                                     anchored * extra_advances_clamped(options.interval, s) +
                                     extra_advances_clamped(tail, s))
          << text(options) << ", n " << n << ", late " << late;
    }
  });
}

TEST(AnchoredPlannerAsync, WithUnknownStepsFinishesAsCheaplyAsAKnownEndAtAnAnchor) {
  for_all_small_plans([](AnchoredCase options) {
    const std::int64_t n = options.steps, s = options.slots;
    if (n == 0 || n % options.interval != 0 || options.most_anchors != kNoLimit) return;
    if (options.record) return;  // a known end is recorded as it is passed
    options.steps = kUnknown;
    const std::int64_t anchored = n / options.interval - 1;
    ASSERT_EQ(replay(options, n).advances,
              n - options.interval + anchored * extra_advances_clamped(options.interval, s) +
                  extra_advances_clamped(options.interval + 1, s))
        << text(options) << ", n " << n;
  });
}

TEST(AnchoredPlannerAsync, IgnoresAllAnchorsWithUnknownSteps) {
  for_all_small_plans([](AnchoredCase options) {
    const std::int64_t n = options.steps;
    options.steps = kUnknown;
    const std::int64_t plain = replay(options, n).advances;
    options.all_anchors = true;
    ASSERT_EQ(replay(options, n).advances, plain) << text(options) << ", n " << n;
  });
}

TEST(AnchoredPlannerAsync, PutsTheTailWhereNoAnchorIsWorthIt) {
  const AnchoredCase options = async(1000, 5, 8);
  const Taken totals = replay(options, 1000);
  const std::int64_t tail = 1000 - (totals.anchors - 1) * 8;
  EXPECT_LE(tail, longest_tail(8, 5, false));
  EXPECT_GT(tail + 8, longest_tail(8, 5, false));
}

TEST(AnchoredPlannerAsync, WithoutAnyRecomputationNeedsNoAnchor) {
  EXPECT_EQ(replay(async(40, 40, 5), 40).anchors, 1);
}

TEST(AnchoredPlannerAsync, KeepsItsPromiseWhenTheSameIntervalIsAnsweredAlways) {
  for_all_small_plans([](AnchoredCase options) {
    const std::int64_t n = options.steps, interval = options.interval;
    for (const bool all_anchors : {false, true}) {
      options.all_anchors = all_anchors;
      options.interval = interval;
      const Taken fixed = replay(options, n);
      options.interval = 0;
      ReplayOptions replay_options;
      replay_options.steady = true;
      replay_options.decide = [interval](std::int64_t) { return Answer{false, interval}; };
      const Taken asked = replay(options, n, replay_options);
      ASSERT_EQ(asked.advances, fixed.advances) << text(options);
      ASSERT_EQ(asked.anchors, fixed.anchors) << text(options);
    }
  });
}

TEST(AnchoredPlannerAsync, ObeysEveryRuleWhateverIsAnswered) {
  std::mt19937_64 random(20180618);
  const auto below = [&random](std::int64_t end) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
  };
  for (int trial = 0; trial < 20000; ++trial) {
    const std::int64_t n = below(90);
    AnchoredCase options = async(below(2) == 0 ? n : kUnknown, 1 + below(7), 0);
    if (below(3) == 0) options.most_anchors = 1 + below(5);
    if (below(40) == 0) options.slots = 100;
    options.all_anchors = below(3) == 0;
    options.record = below(2) == 0;
    ReplayOptions replay_options;
    replay_options.finish_late = below(2) == 0;
    const std::int64_t most = 1 + below(20);
    replay_options.decide = [&](std::int64_t) { return Answer{below(3) == 0, 1 + below(most)}; };
    ASSERT_NO_THROW({
      const Taken totals = replay(options, n, replay_options);
      ASSERT_EQ(totals.recorded, options.record ? n : 0);
    }) << "trial "
       << trial << ": " << text(options) << ", n " << n;
  }
}

TEST(AnchoredPlannerAsync, ProbesWithoutLosingTheStepsProbed) {
  // One probe of 10 steps, then intervals of 4: the first interval begins at x_0 all the same.
  AnchoredCase options = async(100, 3, 0);
  ReplayOptions replay_options;
  replay_options.decide = [](std::int64_t live) { return Answer{live == 0, live == 0 ? 10 : 4}; };
  const Taken totals = replay(options, 100, replay_options);
  options.interval = 4;
  EXPECT_LE(totals.advances, replay(options, 100).advances + extra_advances_clamped(10, 3));
}

TEST(AnchoredPlannerAsync, PromisesNothingWhileItProbes) {
  AskedSweep sequence(async(100, 3, 0));
  const auto go_to_decision = [&sequence] {
    Action action = sequence.next();
    while (!std::holds_alternative<Decide>(action)) action = sequence.next();
    return std::get<Decide>(action).step;
  };
  EXPECT_EQ(sequence->advances_remaining(), kUnknown);
  ASSERT_EQ(go_to_decision(), 0);
  sequence.set_interval(4);
  EXPECT_NE(sequence->advances_remaining(), kUnknown);
  ASSERT_EQ(go_to_decision(), 4);
  sequence.probe(7);
  EXPECT_EQ(sequence->advances_remaining(), kUnknown);
  EXPECT_EQ(sequence->course().adjoints_left, 100);
  ASSERT_EQ(go_to_decision(), 11);
}

TEST(AnchoredPlannerAsync, TakesNoMemoryForARegularMillionOfAnchors) {
  const AnchoredCase options = async(1000000, 3, 4);
  AskedSweep sequence(options);
  while (!std::holds_alternative<Turn>(sequence.next())) {
  }
  EXPECT_GT(sequence->anchors().count(), 200000);
  EXPECT_EQ(sequence->anchors().stretches().size(), 1u);
}

}  // namespace
}  // namespace anadrome::schedule

// SPDX-License-Identifier: BSD-2-Clause
// Every rule and the number of steps: x_0 in RAM or anchors at intervals, fixed or answered by the
// caller; n known or not; with tapes and without; once, and again after a rewind.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "replay.h"
#include "schedule/anchored/interval.h"
#include "schedule/words/revolve.h"

namespace anadrome::schedule {
namespace {

AnchoredCase in_ram(std::int64_t steps, std::int64_t slots, bool record = false) {
  return {.steps = steps, .slots = slots, .record = record};
}

AnchoredCase at_intervals(std::int64_t steps, std::int64_t slots, std::int64_t interval) {
  return {.steps = steps, .slots = slots, .anchored = true, .interval = interval};
}

// Steps that Revolve runs from x_0 to the end and back; with a tape n of them are recordings.
std::int64_t from_scratch(std::int64_t steps, std::int64_t slots, bool record) {
  return record ? steps + extra_advances_clamped(steps, slots)
                : extra_advances_clamped(steps + 1, slots);
}

std::string text(const AnchoredCase& given, std::int64_t n) {
  std::ostringstream out;
  out << "n " << n << (given.steps == kUnknown ? ", unknown" : "") << ", s " << given.slots
      << ", I " << given.interval << ", anchors <= " << given.most_anchors << ", all "
      << given.all_anchors << ", record " << given.record << ", tapes of " << given.tape_units;
  return out.str();
}

// ---- RAM alone ----

TEST(AnchoredPlanner, InRamTakesTheOptimumAndNoMoreInEveryRewind) {
  for (std::int64_t n = 0; n <= 40; n += n < 16 ? 1 : 3) {
    for (std::int64_t s = 1; s <= n + 2; ++s) {
      for (const bool record : {false, true}) {
        SCOPED_TRACE(text(in_ram(n, s, record), n));
        AskedSweep sweep(in_ram(n, s, record));
        const std::vector<Taken> taken = replay(sweep, n, {}, {1, 1});
        ASSERT_EQ(taken[0].advances, from_scratch(n, s, record));
        ASSERT_EQ(taken[1].recorded, record ? n : 0);
        ASSERT_EQ(taken[2].advances, taken[1].advances);
        if (s < n) {
          ASSERT_EQ(taken[1].advances, from_scratch(n, s, record));
          continue;
        }
        ASSERT_LE(taken[1].advances - taken[1].recorded, 1);
        if (record || n == 0) continue;
        ASSERT_EQ(taken[0].keeps, n);
        ASSERT_EQ(taken[1].keeps, 0);
      }
    }
  }
  EXPECT_EQ(replay(in_ram(40, kNoLimit), 40).advances, 40);
}

TEST(AnchoredPlanner, OfUnknownStepsTakesThoseOfRevolveUpToTwoRepetitions) {
  for (std::int64_t n = 0; n <= 66; n += n < 24 ? 1 : 3) {
    for (const std::int64_t s : {1, 2, 3, 5, 8, 10, 12}) {
      for (const bool record : {false, true}) {
        for (const bool late : {false, true}) {
          SCOPED_TRACE(text(in_ram(kUnknown, s, record), n));
          AskedSweep sweep(in_ram(kUnknown, s, record));
          const std::vector<Taken> taken = replay(sweep, n, {.finish_late = late}, {1});
          ASSERT_EQ(taken[0].recorded, record ? n : 0);
          ASSERT_GE(taken[0].advances - taken[0].recorded, n);
          if (late) continue;
          ASSERT_EQ(taken[1].advances, from_scratch(n, s, record));
          const bool two = s == 1 || n <= (s + 1) * (s + 2) / 2;
          if (!two || record) continue;
          ASSERT_EQ(taken[0].advances, extra_advances_clamped(n + 1, s));
        }
      }
    }
  }
}

TEST(AnchoredPlanner, KeepsItsPromisesOnLongSweeps) {
  Draw below(799);
  for (int trial = 0; trial < 30; ++trial) {
    const std::int64_t n = below(3000), s = 2 + below(below(2) == 0 ? 10 : 200);
    const bool record = below(2) == 0, known = below(2) == 0;
    const AnchoredCase given = in_ram(known ? n : kUnknown, s, record);
    SCOPED_TRACE(text(given, n));
    const Taken taken = replay(given, n, {.finish_late = below(2) == 0});
    if (!known) continue;
    ASSERT_EQ(taken.advances, from_scratch(n, s, record));
  }
}

TEST(AnchoredPlanner, StoreAllOfUnknownStepsRunsEachOnceOrSaysThatTheMemoryIsFull) {
  for (std::int64_t s = 1; s <= 12; ++s) {
    for (std::int64_t n = 0; n <= s + 2; ++n) {
      AnchoredCase given = in_ram(kUnknown, s);
      given.keep_every = true;
      SCOPED_TRACE(text(given, n));
      const Failure failure = failure_from([&] { replay(given, n); });
      ASSERT_EQ(failure.status, n > s ? ANADROME_ERR_MEMORY : ANADROME_OK);
      if (n > s) continue;
      ASSERT_EQ(replay(given, n).advances, n);
      for (const bool late : {false, true}) {
        if (n + 2 > s) continue;
        AskedSweep sweep(given);
        const Taken again = replay(sweep, n, {.finish_late = late}, {1}).back();
        ASSERT_LE(again.advances, 1);
        ASSERT_EQ(again.keeps, 0);
      }
      given.record = true;  // the end shows after the fact: the last step is not recorded before
      ASSERT_EQ(replay(given, n).advances, 2 * n);
    }
  }
}

TEST(AnchoredPlanner, PlansAsManyStepsAsThereCanBe) {
  EXPECT_EQ(AskedSweep(in_ram(1000000000, 20))->advances_remaining(),
            extra_advances_clamped(1000000001, 20));
  EXPECT_EQ(AskedSweep(in_ram(kMostSteps - 1, 1))->advances_remaining(), kNoLimit);
  EXPECT_EQ(AskedSweep(in_ram(kMostSteps - 1, 40, true))->advances_remaining(), kNoLimit);
  AskedSweep sweep(in_ram(kMostSteps - 1, 20));
  std::int64_t live = 0;
  for (int i = 0; i < 40; ++i) {
    const Action action = sweep.next();
    const auto* advance = std::get_if<Advance>(&action);
    if (advance == nullptr) continue;
    ASSERT_EQ(advance->first, live);
    ASSERT_GT(advance->last, live);
    ASSERT_LT(advance->last, kMostSteps);
    live = advance->last;
  }
  EXPECT_GT(live, kMostSteps / 2);
}

// ---- anchors ----

std::int64_t anchored_intervals(const AnchoredCase& given, std::int64_t n) {
  return n == 0 ? 0 : std::min((n - 1) / given.interval, given.most_anchors - 1);
}

// Advances of the plain periodic plan: an anchor every I steps as long as there are any, each
// interval reversed by itself, the last one entered directly.
std::int64_t plain_periodic(const AnchoredCase& given) {
  const std::int64_t anchored = anchored_intervals(given, given.steps);
  const std::int64_t before = anchored * given.interval;
  return before + anchored * extra_advances_clamped(given.interval, given.slots) +
         (given.record ? before : 0) +
         from_scratch(given.steps - before, given.slots, given.record);
}

// n 0 .. 60, I 1 .. 9, s 1 .. 6, with and without a tape, limits of anchors.
void for_all_small_plans(const std::function<void(const AnchoredCase&)>& body) {
  for (std::int64_t n = 0; n <= 60; n += n < 16 ? 1 : 11) {
    for (const std::int64_t interval : {1, 2, 3, 4, 7, 9}) {
      for (const std::int64_t s : {1, 2, 3, 4, 6}) {
        for (const std::int64_t most_anchors : {kNoLimit, std::int64_t{3}, std::int64_t{1}}) {
          for (const bool record : {false, true}) {
            AnchoredCase given = at_intervals(n, s, interval);
            given.most_anchors = most_anchors;
            given.record = record;
            body(given);
            if (::testing::Test::HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

// The same interval is answered always, or it is given.
TEST(AnchoredPlanner, AtIntervalsTakesNoMoreThanThePlainPeriodicPlan) {
  for_all_small_plans([](AnchoredCase given) {
    const std::int64_t n = given.steps;
    for (const bool all_anchors : {false, true}) {
      given.all_anchors = all_anchors;
      SCOPED_TRACE(text(given, n));
      const Taken taken = replay(given, n);
      ASSERT_LE(taken.advances, plain_periodic(given));
      ASSERT_LE(taken.anchors, given.most_anchors);
      ASSERT_EQ(taken.recorded, given.record ? n : 0);
      if (all_anchors) {
        ASSERT_EQ(taken.advances, plain_periodic(given));
        ASSERT_EQ(taken.anchors, 1 + anchored_intervals(given, n));
      }
      if (given.most_anchors == 1) {
        ASSERT_EQ(taken.advances, from_scratch(n, given.slots, given.record));
      }
      AnchoredCase open = given;
      open.interval = 0;
      const auto same = [&](std::int64_t) { return Answer{false, given.interval}; };
      const Taken asked = replay(open, n, {.steady = true, .decide = same});
      ASSERT_EQ(asked.advances, taken.advances);
      ASSERT_EQ(asked.anchors, taken.anchors);
    }
  });
}

TEST(AnchoredPlanner, OfUnknownStepsTakesNoMoreThanIntervalsReversedFromTheirAnchors) {
  for_all_small_plans([](AnchoredCase given) {
    const std::int64_t n = given.steps, s = given.slots, interval = given.interval;
    given.steps = kUnknown;
    SCOPED_TRACE(text(given, n));
    for (const bool late : {false, true}) {
      const Taken taken = replay(given, n, {.finish_late = late});
      ASSERT_EQ(taken.recorded, given.record ? n : 0);
      ASSERT_LE(taken.anchors, given.most_anchors);
      const std::int64_t anchored = n == 0 ? 0 : (n - 1) / interval;
      if (anchored >= given.most_anchors) continue;  // the rest is placed online
      ASSERT_LE(taken.advances, n + taken.recorded +
                                    anchored * extra_advances_clamped(interval, s) +
                                    extra_advances_clamped(n - anchored * interval, s))
          << "late " << late;
    }
    const std::int64_t plain = replay(given, n).advances;
    // A known end is recorded as it is passed; one at an anchor is as cheap without a tape.
    if (n > 0 && n % interval == 0 && given.most_anchors == kNoLimit && !given.record) {
      ASSERT_EQ(plain, n - interval + (n / interval - 1) * extra_advances_clamped(interval, s) +
                           extra_advances_clamped(interval + 1, s));
    }
    given.all_anchors = true;
    ASSERT_EQ(replay(given, n).advances, plain) << "there is no last anchor to be left out";
  });
}

TEST(AnchoredPlanner, WithTapesTakesTheOptimumBetweenAnchorsAndNeverMoreThanWithout) {
  for (std::int64_t n = 0; n <= 40; n += n < 10 ? 1 : 10) {
    for (const std::int64_t interval : {1, 2, 3, 4, 7, 13}) {
      for (const std::int64_t s : {1, 2, 3, 4, 5, 7, 12}) {
        for (const std::int64_t tape : {1, 2, 4}) {
          AnchoredCase given = at_intervals(n, s, interval);
          given.record = true;
          for (const std::int64_t most_anchors : {std::int64_t{1}, std::int64_t{2}, kNoLimit}) {
            given.most_anchors = most_anchors;
            given.tape_units = 0;
            const std::int64_t without = replay(given, n).advances;
            given.tape_units = tape;
            SCOPED_TRACE(text(given, n));
            const Taken taken = replay(given, n);
            ASSERT_EQ(taken.recorded, n);
            ASSERT_LE(taken.advances, without);
            if (most_anchors > 1 || n == 0) continue;
            ASSERT_EQ(static_cast<uint128>(taken.advances - n), advances_from_anchor(n, s, tape));
          }
          given.steps = kUnknown;
          for (const bool late : {false, true}) {
            ASSERT_EQ(replay(given, n, {.finish_late = late}).recorded, n) << text(given, n);
          }
        }
      }
    }
  }
}

// 99 intervals run once on the way and once recorded; the last one is recorded in passing.
TEST(AnchoredPlanner, WithTapesTakesTwoForwardStepsPerStepWhereAnIntervalFits) {
  AnchoredCase given = at_intervals(400, 4, 4);  // 2.75 without tapes and s = 3
  given.record = given.all_anchors = true;
  given.tape_units = 1;
  EXPECT_EQ(replay(given, 400).advances, 400 + 396);
}

TEST(AnchoredPlanner, ObeysEveryRuleWhateverIsAnsweredAndRewindsForNoMoreThanRevolve) {
  Draw below(20180618);
  for (int trial = 0; trial < 4000; ++trial) {
    const std::int64_t n = below(90);
    AnchoredCase given = at_intervals(below(2) == 0 ? n : kUnknown, 1 + below(7), 0);
    if (below(3) == 0) given.interval = 1 + below(12);
    if (below(3) == 0) given.most_anchors = 1 + below(6);
    if (below(30) == 0) given.slots = 100;
    given.all_anchors = below(3) == 0;
    given.record = below(2) == 0;
    if (given.record && below(3) == 0) {
      given.tape_units = 1 + below(4);
      given.most_slots = given.slots;
      given.most_anchors = kNoLimit;
    }
    ReplayOptions options;
    options.finish_late = below(2) == 0;
    const std::int64_t most = 1 + below(20);
    if (given.interval == 0) {
      options.decide = [&](std::int64_t) { return Answer{below(3) == 0, 1 + below(most)}; };
    }
    SCOPED_TRACE("trial " + std::to_string(trial) + ": " + text(given, n));
    AskedSweep sweep(given);
    const std::vector<Taken> taken = replay(sweep, n, options, {1 + below(12)});
    ASSERT_EQ(taken[0].recorded, given.record ? n : 0);
    ASSERT_EQ(taken[1].recorded, given.record ? n : 0);
    ASSERT_EQ(taken[1].anchors, 0);
    if (given.tape_units > 0) continue;
    ASSERT_LE(taken[1].advances, from_scratch(n, given.slots, given.record));
  }
}

TEST(AnchoredPlanner, RewindsFromTheAnchorsThatAreLeft) {
  AnchoredCase given = at_intervals(100, 2, 10);
  given.all_anchors = true;
  const std::int64_t within = extra_advances_clamped(10, 2);
  const auto again = [&](std::int64_t anchors) {
    AskedSweep sweep(given);
    return replay(sweep, 100, {}, {anchors}).back().advances;
  };
  EXPECT_EQ(again(10), 9 * within + extra_advances_clamped(11, 2));
  EXPECT_EQ(again(5), 4 * within + extra_advances_clamped(61, 2));
  EXPECT_EQ(again(1), extra_advances_clamped(101, 2));
}

TEST(AnchoredPlanner, PutsTheTailWhereNoAnchorIsWorthIt) {
  const std::int64_t tail = 1000 - (replay(at_intervals(1000, 5, 8), 1000).anchors - 1) * 8;
  EXPECT_LE(tail, longest_tail(8, 5, false));
  EXPECT_GT(tail + 8, longest_tail(8, 5, false));
  EXPECT_EQ(replay(at_intervals(40, 40, 5), 40).anchors, 1) << "nothing is run again";
}

// Where the decision falls is not where a state is to be kept: the sweep goes on from there to the
// best place that is left.
TEST(AnchoredPlanner, EndsInRamFromBetweenAnchorsWithTheBestPlaceThatIsLeft) {
  for (std::int64_t slots = 1; slots <= 5; ++slots) {
    for (std::int64_t n = slots + 2; n <= 20; ++n) {  // of fewer steps none is run again
      for (std::int64_t decided = 1; decided < n; ++decided) {
        AskedSweep sweep({.steps = n, .slots = slots, .anchored = true});
        Driving driving{.steps = n, .steady = false};
        driving.decide = [&](std::int64_t live) {
          if (live < decided) return sweep.probe(decided - live);
          sweep.end_in_ram(slots);
        };
        const Taken taken = Driver(sweep.sweep(), sweep.rules(), driving).sweep();
        std::int64_t best = n + extra_advances_clamped(n, slots);  // straight to x_n
        for (std::int64_t place = decided; slots > 1 && place < n; ++place) {
          best = std::min(best, place + extra_advances_clamped(n + 1 - place, slots - 1) +
                                    extra_advances_clamped(place, slots));
        }
        ASSERT_EQ(taken.advances, best) << "n " << n << ", s " << slots << ", at " << decided;
        ASSERT_EQ(taken.anchors, 1);
      }
    }
  }
}

TEST(AnchoredPlanner, ProbesWithoutLosingTheStepsProbedAndPromisesNothingMeanwhile) {
  // One probe of 10 steps, then intervals of 4: the first interval begins at x_0 all the same.
  const auto probes = [](std::int64_t live) { return Answer{live == 0, live == 0 ? 10 : 4}; };
  EXPECT_LE(replay(at_intervals(100, 3, 0), 100, {.decide = probes}).advances,
            replay(at_intervals(100, 3, 4), 100).advances + extra_advances_clamped(10, 3));
  AskedSweep sweep(at_intervals(100, 3, 0));
  const auto asked_at = [&sweep] {
    Action action = sweep.next();
    while (!std::holds_alternative<Decide>(action)) action = sweep.next();
    return std::get<Decide>(action).step;
  };
  EXPECT_EQ(sweep->advances_remaining(), kUnknown);
  ASSERT_EQ(asked_at(), 0);
  sweep.set_interval(4);
  EXPECT_NE(sweep->advances_remaining(), kUnknown);
  ASSERT_EQ(asked_at(), 4);
  sweep.probe(7);
  EXPECT_EQ(sweep->advances_remaining(), kUnknown);
  EXPECT_EQ(sweep->course().adjoints_left, 100);
  ASSERT_EQ(asked_at(), 11);
}

TEST(AnchoredPlanner, TakesNoMemoryForARegularMillionOfAnchors) {
  AskedSweep sweep(at_intervals(1000000, 3, 4));
  while (!std::holds_alternative<Turn>(sweep.next())) {
  }
  EXPECT_GT(sweep->anchors().count(), 200000);
  EXPECT_EQ(sweep->anchors().stretches().size(), 1u);
}

// ---- what is refused ----

TEST(AnchoredPlanner, RefusesOptionsThatMakeNoSense) {
  const auto status = [](const AnchoredCase& given) {
    return failure_from([&] { AskedSweep sweep(given); }).status;
  };
  AnchoredCase no_anchor = at_intervals(5, 2, 3), one_anchor = no_anchor;
  no_anchor.most_anchors = 0;
  one_anchor.most_anchors = 1;
  for (const AnchoredCase& given : {in_ram(-2, 3), in_ram(kMostSteps, 3), in_ram(5, 0), no_anchor,
                                    at_intervals(5, 2, -1), at_intervals(5, 2, kMostSteps)}) {
    EXPECT_EQ(status(given), ANADROME_ERR_ARGUMENT) << text(given, given.steps);
  }
  EXPECT_EQ(status(one_anchor), ANADROME_OK);
}

TEST(AnchoredPlanner, RefusesAnswersThatWereNotAskedFor) {
  const auto status = [](bool asked, const std::function<void(AskedSweep&)>& answer) {
    AskedSweep sweep(at_intervals(50, 3, 0));
    while (asked && !std::holds_alternative<Decide>(sweep.next())) {
    }
    return failure_from([&] { answer(sweep); }).status;
  };
  for (const std::int64_t steps : {0, 4}) {
    for (const bool asked : {false, true}) {
      const auto expected = asked && steps > 0 ? ANADROME_OK : ANADROME_ERR_INTERNAL;
      EXPECT_EQ(status(asked, [&](AskedSweep& sweep) { sweep.set_interval(steps); }), expected);
      EXPECT_EQ(status(asked, [&](AskedSweep& sweep) { sweep.probe(steps); }), expected);
    }
  }
  EXPECT_EQ(status(false, [](AskedSweep& sweep) { sweep.end_in_ram(5); }), ANADROME_ERR_INTERNAL);
}

TEST(AnchoredPlanner, EndsAndRewindsOnlyWhereItMay) {
  AskedSweep known(in_ram(10, 3));
  while (!std::holds_alternative<Advance>(known.next())) {
  }
  EXPECT_THROW(known->finish_forward(1), Error);
  AskedSweep sweep(in_ram(kUnknown, 3));
  Advance action;
  while (action.first < 5) {
    EXPECT_EQ(sweep->advances_remaining(), kUnknown);
    EXPECT_EQ(sweep->course().adjoints_left, kUnknown);
    const Action next = sweep.next();
    if (const auto* advance = std::get_if<Advance>(&next)) {
      action = *advance;
    } else {
      EXPECT_FALSE(sweep->course().ends.has(action.last));
    }
  }
  EXPECT_THROW(sweep->finish_forward(action.last + 1), Error);
  EXPECT_EQ(sweep->course().steps, kUnknown);
  sweep->finish_forward(action.last);
  EXPECT_EQ(sweep->course().steps, action.last);
  EXPECT_THROW(sweep->finish_forward(action.last), Error);
  do {
    EXPECT_THROW(sweep->rewind(1), Error);
  } while (!std::holds_alternative<Done>(sweep.next()));
  EXPECT_NO_THROW(sweep->rewind(1));
}

}  // namespace
}  // namespace anadrome::schedule

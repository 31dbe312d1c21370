// SPDX-License-Identifier: BSD-2-Clause
#include "planners/questions/kept_objects.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "exhaustive_search.h"
#include "reference_table.h"
#include "replay.h"

namespace anadrome::questions {
namespace {

using namespace schedule;

std::int64_t forwards(std::int64_t steps, std::int64_t units, const KeptObjects& kept) {
  return static_cast<std::int64_t>(forwards_of(steps, units, kept));
}

constexpr KeptObjects kStatesOnly{Objects::kStates};
KeptObjects tapes_only(std::int64_t tape) { return {Objects::kTapes, tape, true, true}; }
KeptObjects charged(std::int64_t tape) { return {Objects::kMixed, tape, false, false}; }
KeptObjects free_and_restarting(std::int64_t tape) { return {Objects::kMixed, tape, true, true}; }

TEST(KeptObjects, AgreeWithTheTableOfTheThreeProblems) {
  const auto rows = reference_rows("planners/gruslys_small.csv", 13);
  ASSERT_GT(rows.size(), 15u);
  for (const auto& row : rows) {
    const std::int64_t t = row[0], m = row[1];
    EXPECT_EQ(forwards(t, m, kStatesOnly), row[3]) << t << " " << m;
    // The table charges the tape that was just recorded.
    EXPECT_EQ(forwards(t, m - 1, tapes_only(1)), row[5]) << t << " " << m;
    EXPECT_EQ(forwards(t, m, charged(1)), row[7]) << t << " " << m;
    EXPECT_EQ(forwards(t, m, charged(2)), row[10]) << t << " " << m;
    EXPECT_EQ(forwards(t, m, charged(3)), row[12]) << t << " " << m;
  }
}

TEST(KeptObjects, AgreeWithTheTableOfAThousandSteps) {
  const auto rows = reference_rows("planners/gruslys_t1000.csv", 3);
  ASSERT_GT(rows.size(), 10u);
  for (const auto& row : rows) {
    EXPECT_EQ(forwards(1000, row[0], kStatesOnly), row[1]);
    EXPECT_EQ(forwards(1000, row[0] - 1, tapes_only(1)), row[2]);
  }
}

// 5 % of the memory of all tapes, one of them for the tape that was just recorded, and adjoint
// steps of two forward steps: a third more time.
TEST(KeptObjects, KeepThePromiseOfTheHeadlineWithTapesOnly) {
  const auto ratio = [](std::int64_t all_forwards, double adjoint) {
    return (static_cast<double>(all_forwards) + 1000 * adjoint) / (1000 * (1 + adjoint));
  };
  for (const std::int64_t tape : {1, 2, 5, 10}) {
    EXPECT_EQ(forwards(1000, 49 * tape, tapes_only(tape)), 1950);
    EXPECT_EQ(forwards(1000, 50 * tape, free_and_restarting(tape)), 1949);
  }
  EXPECT_LT(ratio(1950, 2), 4.0 / 3);
  EXPECT_GT(ratio(1950, 1), 4.0 / 3);
  EXPECT_GT(ratio(forwards(1000, 50, kStatesOnly), 2), 1.6);
}

// With a start that is free; mixed_test.cpp has the recurrences, which are the same ones.
TEST(KeptObjects, AreTheLeastThatAnExhaustiveSearchFinds) {
  for (int n = 1; n <= 7; ++n) {
    for (std::int64_t tape = 1; tape <= 4; ++tape) {
      for (const std::int64_t units : {0, 1, 2, 4, 7}) {
        SmallReversal problem = {
            .steps = n, .units = units, .tape_units = tape, .start_is_free = true};
        for (const bool restarts : {false, true}) {
          problem.tape_restarts = restarts;
          ASSERT_EQ(forwards(n, units, {Objects::kMixed, tape, restarts, true}) - n,
                    least_extra_cost(problem))
              << n << " " << units << " " << tape << " " << restarts;
        }
        problem.states_are_kept = false;
        ASSERT_EQ(forwards(n, units, tapes_only(tape)) - n, least_extra_cost(problem))
            << n << " " << units << " " << tape;
      }
    }
  }
}

RC_GTEST_PROP(KeptObjects, TakeWhatTheyPromise, ()) {
  KeptObjects kept;
  kept.objects = static_cast<Objects>(*rc::gen::inRange(0, 3));
  kept.tape_units = *rc::gen::inRange<std::int64_t>(1, 8);
  kept.free_start = *rc::gen::arbitrary<bool>();
  kept.tape_restarts = kept.objects == Objects::kTapes || *rc::gen::arbitrary<bool>();
  StackOptions options;
  options.steps = *rc::gen::inRange<std::int64_t>(1, 300);
  options.units = *rc::gen::inRange<std::int64_t>(1, 40);
  options.disk_slots = kept.free_start ? 1 : 0;
  options.tape_units = kept.tape_units;
  options.tape_restarts = kept.tape_restarts;
  options.record = true;
  const Taken totals = replay(options, planner_for(kept));
  RC_ASSERT(totals.recorded + totals.advances == forwards(options.steps, options.units, kept));
  RC_ASSERT(totals.most_units <= options.units);
}

TEST(KeptObjects, ThatCannotBeAreAnError) {
  EXPECT_THROW(forwards_of(5, 3, {Objects::kTapes, 1, false, true}), Error);
  EXPECT_THROW(forwards_of(5, 3, {Objects::kMixed, 0, true, true}), Error);
  EXPECT_THROW(forwards_of(5, 0, charged(1)), Error);
  EXPECT_THROW(forwards_of(-1, 3, charged(1)), Error);
  EXPECT_EQ(forwards(1, 0, charged(1)), 1);
  EXPECT_TRUE(forwards_of(kMostSteps, kMostSteps, tapes_only(1)) == kMostSteps);
}

}  // namespace
}  // namespace anadrome::questions

// SPDX-License-Identifier: BSD-2-Clause
#include "tool/pictures/timeline_columns.h"

#include <gtest/gtest.h>

#include "synthetic_sweep.h"

namespace anadrome::tool {
namespace {

TEST(TimelineColumns, ShareATinyEventsTimeBetweenItsColumns) {
  TimelineColumns columns({10, 20}, 10);
  columns.add({12.75, 13.5, 0, 1, Activity::kWait});
  EXPECT_DOUBLE_EQ(columns.share(2, Activity::kWait), 0.25);
  EXPECT_DOUBLE_EQ(columns.share(3, Activity::kWait), 0.5);
  EXPECT_EQ(columns.share(4, Activity::kWait), 0);
  EXPECT_EQ(columns.share(3, Activity::kAdvance), 0);
}

TEST(TimelineColumns, GiveAWideTransferSharpEnds) {
  TimelineColumns columns({0, 10}, 10);
  columns.add({1.4, 5.6, 0, 1, Activity::kWrite});
  for (int column = 0; column < 10; ++column) {
    EXPECT_EQ(columns.share(column, Activity::kWrite), column >= 1 && column < 6 ? 1 : 0) << column;
  }
}

TEST(TimelineColumns, LeaveOutWhatLiesOutside) {
  TimelineColumns columns({10, 20}, 10);
  columns.add({0, 9, 0, 1, Activity::kAdvance});
  columns.add({21, 30, 0, 1, Activity::kAdvance});
  for (int column = 0; column < 10; ++column) {
    EXPECT_EQ(columns.share(column, Activity::kAdvance), 0);
    EXPECT_TRUE(columns.steps(column, Activity::kAdvance).empty());
  }
  columns.add({0, 40, 0, 40, Activity::kAdvance});
  EXPECT_EQ(columns.share(0, Activity::kAdvance), 1);
  EXPECT_EQ(columns.share(9, Activity::kAdvance), 1);
  EXPECT_DOUBLE_EQ(columns.steps().low, 10);
  EXPECT_DOUBLE_EQ(columns.steps().high, 20);
}

TEST(TimelineColumns, FollowTheSolverUpAndTheAdjointDown) {
  TimelineColumns columns({0, 8}, 8);
  columns.add({0, 4, 100, 108, Activity::kAdvance});
  columns.add({4, 8, 104, 108, Activity::kAdjoint});
  EXPECT_DOUBLE_EQ(columns.steps(1, Activity::kAdvance).low, 102);
  EXPECT_DOUBLE_EQ(columns.steps(1, Activity::kAdvance).high, 104);
  EXPECT_DOUBLE_EQ(columns.steps(7, Activity::kAdjoint).low, 104);
  EXPECT_DOUBLE_EQ(columns.steps(7, Activity::kAdjoint).high, 105);
  EXPECT_TRUE(columns.steps(1, Activity::kAdjoint).empty());
}

TEST(TimelineColumns, KnowNoStepsOfTransfers) {
  TimelineColumns columns({0, 1}, 1);
  columns.add({0, 1, 5, 6, Activity::kWrite});
  EXPECT_TRUE(columns.steps().empty());
}

TEST(TurnOf, IsWhereTheForwardSweepEnded) {
  const std::vector<TraceEvent> events = {{5, 6, 9, 10, Activity::kAdjoint},
                                          {4, 5, 10, 10, Activity::kTurn},
                                          {0, 4, 0, 10, Activity::kAdvance}};
  EXPECT_EQ(turn_of(events), 4);
  EXPECT_EQ(turn_of(std::span(events).first(1)), 5);
  EXPECT_FALSE(turn_of(std::span(events).last(1)).has_value());
}

TEST(WindowAround, HoldsSixWritesAndSixReads) {
  const std::vector<TraceEvent> events = engine::synthetic_sweep({});
  const double turn = turn_of(events).value();
  const auto window = window_around(turn, events, 42);
  ASSERT_TRUE(window.has_value());
  int writes = 0, reads = 0;
  for (const TraceEvent& event : events) {
    if (event.start < window->start || event.end > window->end) continue;
    writes += event.activity == Activity::kWrite ? 1 : 0;
    reads += event.activity == Activity::kRead ? 1 : 0;
  }
  EXPECT_EQ(writes, 6);
  EXPECT_EQ(reads, 6);
}

TEST(WindowAround, IsAShareOfTheTimeWithoutTransfers) {
  const auto window = window_around(50, {}, 100);
  ASSERT_TRUE(window.has_value());
  EXPECT_LT(window->start, 48);
  EXPECT_GT(window->end, 52);
  EXPECT_LT(window->seconds(), 6);
}

TEST(WindowAround, IsNotNeededWhereTheWholeSweepShowsAsMuch) {
  const std::vector<TraceEvent> events = engine::synthetic_sweep({.steps = 100});
  EXPECT_FALSE(window_around(turn_of(events).value(), events, 4.2).has_value());
}

}  // namespace
}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
// What the picture of a sweep is made of; the picture is in timeline_picture_test.cpp.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engine/sweep/trace_json.h"
#include "synthetic_sweep.h"
#include "tool/pictures/recorded_sweep.h"
#include "tool/pictures/svg.h"
#include "tool/pictures/timeline_columns.h"

namespace anadrome::tool {
namespace {

constexpr const char* kOurs = R"("otherData": {"program": "anadrome"})";

RecordedSweep read(const std::string& text) {
  std::istringstream file(text);
  return read_trace(file, "trace.json");
}

// A trace of one event, with the fields that differ from a good one.
std::string event_with(const std::string& fields) {
  return R"({"traceEvents": [{"ph": "X", "pid": 0, "tid": 0, )" + fields + "}], " + kOurs + "}";
}

TEST(ReadTrace, GivesBackWhatARunWroteDown) {
  const std::vector<TraceEvent> events = engine::synthetic_sweep({});
  std::stringstream file;
  engine::TraceJson json([&](std::string_view chunk) { file << chunk; });
  json.begin({"async", "1.2.3", 1000, 2, 42.5});
  json.add_rank(0, events, 7);
  json.add_rank(1, {}, 5);
  json.end();
  const RecordedSweep sweep = read_trace(file, "trace.json");
  EXPECT_EQ(sweep.heading.schedule, "async");
  EXPECT_EQ(sweep.heading.version, "1.2.3");
  EXPECT_EQ(sweep.heading.steps, 1000);
  EXPECT_EQ(sweep.heading.ranks, 2);
  EXPECT_EQ(sweep.heading.seconds, 42.5);
  EXPECT_EQ(sweep.merged, 12);
  EXPECT_EQ(sweep.ranks, 2);
  ASSERT_EQ(sweep.first_ranks.size(), 2U);
  ASSERT_EQ(sweep.first_ranks[0].events.size(), events.size());
  double writing = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const TraceEvent& read = sweep.first_ranks[0].events[i];
    EXPECT_NEAR(read.start, events[i].start, 1e-9);
    EXPECT_NEAR(read.end, events[i].end, 2e-9);
    EXPECT_EQ(read.first, events[i].first);
    EXPECT_EQ(read.last, events[i].last);
    EXPECT_EQ(read.activity, events[i].activity);
    if (read.activity == Activity::kWrite) writing += read.end - read.start;
  }
  EXPECT_GT(writing, 0);
  EXPECT_NEAR(sweep.seconds[index_of(Activity::kWrite)], writing, 1e-6);
}

TEST(ReadTrace, KeepsTheEventsOfFourRanksAndTheTimesOfAllAndIgnoresWhatOthersAdd) {
  std::string events;
  for (int rank = 0; rank < 9; ++rank) {
    events += std::string(rank > 0 ? "," : "") +
              R"({"ph": "X", "name": "wait", "ts": 0, "dur": 1e6, "pid": )" + std::to_string(rank) +
              "}";
  }
  const RecordedSweep sweep = read("{\"traceEvents\": [" + events + "], " + kOurs + "}");
  EXPECT_EQ(sweep.ranks, 9);
  EXPECT_EQ(sweep.first_ranks.size(), RecordedSweep::kMostRanks);
  EXPECT_DOUBLE_EQ(sweep.seconds[index_of(Activity::kWait)], 9);
  const RecordedSweep other = read(event_with(
      R"("name": "read", "ts": 1, "dur": 2, "args": {"first": 3, "last": 4, "more": [{"a": null}]},
         "id": "x", "cat": true)"));
  ASSERT_EQ(other.first_ranks.size(), 1U);
  ASSERT_EQ(other.first_ranks[0].events.size(), 1U);
  EXPECT_EQ(other.first_ranks[0].events[0].first, 3);
  EXPECT_EQ(other.first_ranks[0].events[0].last, 4);
}

TEST(ReadTrace, RefusesWhatNoRunWrote) {
  using Row = std::pair<std::string, const char*>;
  for (const Row& row :
       {Row("", "no JSON"), Row("<svg/>", "no JSON"), Row("{\"traceEvents\": [", "no JSON"),
        Row("[]", "trace="), Row("{\"traceEvents\": []}", "trace="),
        Row(std::string("{") + kOurs + "}", "trace="),
        Row(event_with(R"("name": "GPU", "ts": 1, "dur": 1)"), "'GPU'"),
        Row(event_with(R"("name": "wait", "dur": 1)"), "no time"),
        Row(event_with(R"("name": "wait", "ts": 1, "dur": -1)"), "no time"),
        Row(event_with(R"("name": "wait", "ts": 1e300, "dur": 1)"), "no time"),
        Row(event_with(R"("name": "wait", "ts": 1, "dur": 1e999)"), "no JSON"),
        Row(R"({"traceEvents": [{"pid": -1}], "otherData": {}})", "rank -1")}) {
    const Failure failure = failure_from([&] { read(row.first); });
    EXPECT_EQ(failure.status, ANADROME_ERR_ARGUMENT) << row.first;
    EXPECT_TRUE(failure.message.starts_with("trace.json is no trace of anadrome: ")) << row.first;
    EXPECT_NE(failure.message.find(row.second), std::string::npos) << failure.message;
  }
}

TEST(TimelineColumns, ShareATinyEventsTimeBetweenItsColumnsAndGiveAWideTransferSharpEnds) {
  TimelineColumns tiny({10, 20}, 10);
  tiny.add({12.75, 13.5, 0, 1, Activity::kWait});
  EXPECT_DOUBLE_EQ(tiny.share(2, Activity::kWait), 0.25);
  EXPECT_DOUBLE_EQ(tiny.share(3, Activity::kWait), 0.5);
  EXPECT_EQ(tiny.share(4, Activity::kWait), 0);
  EXPECT_EQ(tiny.share(3, Activity::kAdvance), 0);
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
  TimelineColumns transfers({0, 1}, 1);
  transfers.add({0, 1, 5, 6, Activity::kWrite});
  EXPECT_TRUE(transfers.steps().empty());
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

TEST(WindowAround, IsAShareOfTheTimeWithoutTransfersUnlessTheWholeSweepShowsAsMuch) {
  const auto window = window_around(50, {}, 100);
  ASSERT_TRUE(window.has_value());
  EXPECT_TRUE(window->start < 48 && window->end > 52);
  EXPECT_LT(window->seconds(), 6);
  const std::vector<TraceEvent> events = engine::synthetic_sweep({.steps = 100});
  EXPECT_FALSE(window_around(turn_of(events).value(), events, 4.2).has_value());
}

TEST(Svg, EscapesWhatWouldBeMarkupAndWritesOneDigitAfterThePoint) {
  std::string text;
  TextOut out([&](std::string_view chunk) { text += chunk; });
  Svg svg(out, 100, 50, 12);
  svg.about("<a & b>", "");
  svg.text(1, 2, "x < y & z\n\033\xe2\x80\xae");
  svg.begin_path({.stroke = "#123456", .width = 1.5});
  svg.move(1.04, 2);
  svg.line(3, 4.26);
  svg.right(-5);
  svg.down(0.5);
  svg.close_shape();
  svg.end_path();
  svg.close();
  EXPECT_NE(text.find("<title>&lt;a &amp; b></title>"), std::string::npos) << text;
  EXPECT_NE(text.find(">x &lt; y &amp; z?????"
                      "</text>"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("<path fill=\"none\" stroke=\"#123456\" stroke-width=\"1.5\" "
                      "d=\"M1 2L3 4.3h-5v0.5z\"/>"),
            std::string::npos)
      << text;
}

TEST(RoundStep, Is125TimesAPowerOfTen) {
  EXPECT_DOUBLE_EQ(round_step(10, 10), 1);
  EXPECT_DOUBLE_EQ(round_step(11, 10), 2);
  EXPECT_DOUBLE_EQ(round_step(21, 10), 5);
  EXPECT_DOUBLE_EQ(round_step(51, 10), 10);
  EXPECT_DOUBLE_EQ(round_step(0.0042, 10), 0.0005);
}

TEST(UnitFor, IsTheLongestThatATimeHasSomeOf) {
  EXPECT_STREQ(unit_for(4 * 365.25 * 86400).name, "a");
  EXPECT_STREQ(unit_for(4 * 3600).name, "h");
  EXPECT_STREQ(unit_for(179).name, "s");
  EXPECT_STREQ(unit_for(181).name, "min");
  EXPECT_STREQ(unit_for(0.5).name, "ms");
  EXPECT_STREQ(unit_for(0).name, "ns");
}

}  // namespace
}  // namespace anadrome::tool

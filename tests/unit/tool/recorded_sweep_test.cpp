// SPDX-License-Identifier: BSD-2-Clause
#include "tool/pictures/recorded_sweep.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/error.h"
#include "engine/sweep/trace_json.h"
#include "synthetic_sweep.h"

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

void expect_refused(const std::string& text, const std::string& why) {
  const Failure failure = failure_from([&] { read(text); });
  EXPECT_EQ(failure.status, ANADROME_ERR_ARGUMENT) << text;
  EXPECT_EQ(failure.message.find("trace.json is no trace of anadrome: "), 0U) << failure.message;
  EXPECT_NE(failure.message.find(why), std::string::npos) << failure.message;
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

TEST(ReadTrace, KeepsTheEventsOfFourRanksAndTheTimesOfAll) {
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
}

TEST(ReadTrace, IgnoresWhatOtherProgramsAdd) {
  const RecordedSweep sweep = read(event_with(
      R"("name": "read", "ts": 1, "dur": 2, "args": {"first": 3, "last": 4, "more": [{"a": null}]},
         "id": "x", "cat": true)"));
  ASSERT_EQ(sweep.first_ranks.size(), 1U);
  ASSERT_EQ(sweep.first_ranks[0].events.size(), 1U);
  EXPECT_EQ(sweep.first_ranks[0].events[0].first, 3);
  EXPECT_EQ(sweep.first_ranks[0].events[0].last, 4);
}

TEST(ReadTrace, RefusesWhatNoRunWrote) {
  expect_refused("", "no JSON");
  expect_refused("<svg/>", "no JSON");
  expect_refused("{\"traceEvents\": [", "no JSON");
  expect_refused("[]", "trace=");
  expect_refused("{\"traceEvents\": []}", "trace=");
  expect_refused(std::string("{") + kOurs + "}", "trace=");
  expect_refused(event_with(R"("name": "GPU", "ts": 1, "dur": 1)"), "'GPU'");
  expect_refused(event_with(R"("name": "wait", "dur": 1)"), "no time");
  expect_refused(event_with(R"("name": "wait", "ts": 1, "dur": -1)"), "no time");
  expect_refused(event_with(R"("name": "wait", "ts": 1e300, "dur": 1)"), "no time");
  expect_refused(event_with(R"("name": "wait", "ts": 1, "dur": 1e999)"), "no JSON");
  expect_refused(R"({"traceEvents": [{"pid": -1}], "otherData": {}})", "rank -1");
}

}  // namespace
}  // namespace anadrome::tool

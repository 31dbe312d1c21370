// SPDX-License-Identifier: BSD-2-Clause
#include "engine/sweep/trace_json.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace anadrome::engine {
namespace {

std::string json_of(const TraceHeading& heading,
                    const std::vector<std::vector<TraceEvent>>& ranks) {
  std::string text;
  TraceJson json([&](std::string_view chunk) { text += chunk; });
  json.begin(heading);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    json.add_rank(static_cast<int>(rank), ranks[rank], 10);
  }
  json.end();
  return text;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(TraceJson, WritesASmallTraceToTheLetter) {
  const TraceHeading heading{"async", "0.1.0", 8, 1, 0.25};
  const std::string text = json_of(heading, {{{0, 0.125, 0, 4, Activity::kAdvance},
                                              {0.0625, 0.1234567891, 0, 0, Activity::kWrite}}});
  EXPECT_EQ(text, R"({"displayTimeUnit":"ms","traceEvents":[
{"ph":"M","pid":0,"tid":0,"name":"process_name","args":{"name":"rank 0"}},
{"ph":"M","pid":0,"tid":0,"name":"process_sort_index","args":{"sort_index":0}},
{"ph":"M","pid":0,"tid":0,"name":"thread_name","args":{"name":"solver"}},
{"ph":"M","pid":0,"tid":0,"name":"thread_sort_index","args":{"sort_index":0}},
{"ph":"M","pid":0,"tid":1,"name":"thread_name","args":{"name":"I/O"}},
{"ph":"M","pid":0,"tid":1,"name":"thread_sort_index","args":{"sort_index":1}},
{"ph":"X","pid":0,"tid":0,"name":"advance","ts":0.000,"dur":125000.000,"args":{"first":0,"last":4}},
{"ph":"X","pid":0,"tid":1,"name":"write","ts":62500.000,"dur":60956.789,"args":{"first":0,"last":0}}
],
"otherData":{"program":"anadrome","version":"0.1.0","schedule":"async","steps":8,"ranks":1,"seconds":0.25,"merged_events":10}}
)");
}

TEST(TraceJson, GivesEveryRankItsProcess) {
  const std::vector<TraceEvent> events = {{0, 1, 0, 1, Activity::kAdjoint}};
  const std::string text = json_of({"async", "0.1.0", 8, 3, 1}, {events, events, events});
  EXPECT_TRUE(holds(text, R"("pid":2,"tid":0,"name":"process_name","args":{"name":"rank 2"})"));
  EXPECT_TRUE(holds(text, R"({"ph":"X","pid":2,"tid":0,"name":"adjoint")"));
  EXPECT_TRUE(holds(text, R"("merged_events":30)"));
}

TEST(TraceJson, GivesPassesAThreadWhereThereWereAny) {
  const std::vector<TraceEvent> pass = {{0, 1, 3, 4, Activity::kVisit},
                                        {0, 2, 0, 8, Activity::kForwardPass}};
  const std::string text = json_of({"async", "0.1.0", 8, 2, 2}, {pass, {{0, 1, 0, 1}}});
  EXPECT_TRUE(holds(text, R"("pid":0,"tid":2,"name":"thread_name","args":{"name":"passes"})"));
  EXPECT_TRUE(holds(text, R"({"ph":"X","pid":0,"tid":0,"name":"visit")"));
  EXPECT_TRUE(holds(text, R"({"ph":"X","pid":0,"tid":2,"name":"forward pass")"));
  EXPECT_FALSE(holds(text, R"("pid":1,"tid":2)"));
}

TEST(TraceJson, LetsEventsThatTouchTouch) {
  const double third = 1.0 / 3000;
  const std::string text = json_of({}, {{{0, third, 0, 1}, {third, 2 * third, 1, 2}}});
  EXPECT_TRUE(holds(text, R"("ts":0.000,"dur":333.333)"));
  EXPECT_TRUE(holds(text, R"("ts":333.333,"dur":333.334)"));
}

TEST(TraceJson, QuotesWhatItIsGiven) {
  const std::string text = json_of({"a\"b\\c\n", "", 0, 1, 0}, {});
  EXPECT_TRUE(holds(text, R"("schedule":"a\"b\\c\u000a")"));
}

TEST(TraceJson, LetsOutWhatTheSinkThrows) {
  TraceJson json([](std::string_view) { throw std::runtime_error("full"); });
  json.begin({});
  EXPECT_THROW(json.end(), std::runtime_error);
}

}  // namespace
}  // namespace anadrome::engine

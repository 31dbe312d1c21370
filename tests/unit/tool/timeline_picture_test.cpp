// SPDX-License-Identifier: BSD-2-Clause
#include "tool/pictures/recorded_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <vector>

#include "engine/sweep/trace_json.h"
#include "synthetic_sweep.h"
#include "tool/pictures/palette.h"

namespace anadrome::tool {
namespace {

using engine::TraceHeading;

// As a run writes it down, and as the command reads it.
RecordedSweep recorded(const TraceHeading& heading,
                       const std::vector<std::vector<TraceEvent>>& ranks) {
  std::stringstream file;
  engine::TraceJson json([&](std::string_view chunk) { file << chunk; });
  json.begin(heading);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    json.add_rank(static_cast<int>(rank), ranks[rank], 0);
  }
  json.end();
  return read_trace(file, "trace.json");
}

std::string picture_of(const RecordedSweep& sweep) {
  std::string text;
  TextOut out([&](std::string_view chunk) { text += chunk; });
  draw_timeline(sweep, out);
  return text;
}

std::string svg_of(const TraceHeading& heading, const std::vector<std::vector<TraceEvent>>& ranks) {
  return picture_of(recorded(heading, ranks));
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Every element is closed in its turn, and no number is missing.
void expect_well_formed(const std::string& svg) {
  std::vector<std::string> open;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const std::size_t end = svg.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = svg.substr(at + 1, end - at - 1);
    ASSERT_EQ(std::count(tag.begin(), tag.end(), '"') % 2, 0) << tag;
    if (tag.front() == '/') {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), tag.substr(1));
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(tag.substr(0, tag.find(' ')));
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(svg.substr(0, 5), "<svg ");
  EXPECT_FALSE(holds(svg, "nan"));
  EXPECT_FALSE(holds(svg, "inf"));
  EXPECT_FALSE(holds(svg, "<script"));
}

const TraceHeading kHeading{"async", "0.1.0", 1000, 1, 42};

TEST(TimelinePicture, DrawsNothingAsNothingAndQuotesWhatItIsGiven) {
  for (const double seconds : {0.0, 5.0, 1e-320, 1e300}) {
    TraceHeading heading = kHeading;
    heading.seconds = seconds;
    expect_well_formed(svg_of(heading, {{}}));
    expect_well_formed(svg_of(heading, {}));
  }
  EXPECT_TRUE(holds(svg_of({}, {}), "Nothing was recorded."));
  expect_well_formed(svg_of({"<a&b>\n", "\"", 1, 1, 1}, {}));
  expect_well_formed(svg_of({"async", "", 1, 1, 0}, {{{0, 0, 0, 1, Activity::kTurn}}}));
  expect_well_formed(svg_of(kHeading, {{{5, 5, 3, 3, Activity::kTurn}}}));
}

TEST(TimelinePicture, DrawsOneEvent) {
  for (std::size_t i = 0; i < kActivities; ++i) {
    const auto activity = static_cast<Activity>(i);
    const std::string svg = svg_of({"revolve", "0.1.0", 1, 1, 0}, {{{0, 2, 0, 1, activity}}});
    expect_well_formed(svg);
    EXPECT_TRUE(holds(svg, std::string("<path fill=\"") + colour_of(activity) + "\" d=\"M")) << i;
    EXPECT_TRUE(holds(svg, std::string(engine::to_string(activity)) + " 2 s")) << i;
  }
}

TEST(TimelinePicture, DrawsASweepAndTheTimeAroundTurn) {
  const std::string svg = svg_of(kHeading, {engine::synthetic_sweep({})});
  expect_well_formed(svg);
  EXPECT_TRUE(holds(svg, "1000 steps"));
  EXPECT_TRUE(holds(svg, ">forward sweep</text>"));
  EXPECT_TRUE(holds(svg, ">+0.5 s</text>"));  // the time since TURN
  EXPECT_TRUE(holds(svg, ">40 s</text>"));
}

TEST(TimelinePicture, DrawsPassesBelowTheSweep) {
  const auto y_of = [](const std::string& svg, const std::string& words) {
    const std::size_t at = svg.rfind(" y=\"", svg.find(words));
    return at == std::string::npos ? 0 : std::stod(svg.substr(at + 4));
  };
  const std::vector<TraceEvent> sweep = {
      {0, 10, 0, 10}, {10, 10, 10, 10, Activity::kTurn}, {10, 30, 0, 10, Activity::kAdjoint}};
  std::vector<TraceEvent> passes = sweep;
  passes.push_back({30, 40, 0, 10, Activity::kVisit});
  passes.push_back({30, 40, 0, 10, Activity::kForwardPass});
  passes.push_back({40, 60, 0, 10, Activity::kAdjoint});
  passes.push_back({40, 60, 0, 10, Activity::kReversePass});
  const std::string svg = svg_of({"revolve", "0.1.0", 10, 1, 60}, {passes});
  expect_well_formed(svg);
  for (const char* words : {">passes</text>", ">visit 10 s<", ">forward pass 10 s<",
                            ">reverse pass 20 s<", ">reverse sweep<"}) {
    EXPECT_TRUE(holds(svg, words)) << words;
  }
  EXPECT_GT(y_of(svg, ">step</text>"), 0);
  const std::string without = svg_of({"revolve", "0.1.0", 10, 1, 30}, {sweep});
  EXPECT_FALSE(holds(without, "passes"));
  EXPECT_LT(y_of(without, ">step</text>"), y_of(svg, ">step</text>")) << "they have a lane";
}

TEST(TimelinePicture, SaysHowMuchWasWaitedAndShowsAShortWaitInALongSweep) {
  const std::vector<TraceEvent> waits = {{0, 6, 0, 1}, {6, 8, 1, 1, Activity::kWait}};
  EXPECT_TRUE(holds(svg_of({"async", "0.1.0", 1, 2, 10}, {waits, {}}), ">10 % waited<"));
  const std::vector<TraceEvent> short_wait = {// a fiftieth of a column
                                              {0, 500, 0, 500},
                                              {500, 500.02, 500, 500, Activity::kWait},
                                              {500.02, 1256, 500, 1000}};
  EXPECT_TRUE(holds(svg_of({"async", "0.1.0", 1000, 1, 1256}, {short_wait}),
                    std::string("<path fill=\"") + colour_of(Activity::kWait) + "\" d=\"M"));
}

TEST(TimelinePicture, DrawsFourRanksAndCountsTheOthers) {
  const std::vector<TraceEvent> events = {{0, 1, 0, 1}};
  const std::string four = svg_of({"async", "0.1.0", 1, 4, 1}, {events, events, events, events});
  EXPECT_TRUE(holds(four, ">rank 3</text>"));
  EXPECT_FALSE(holds(four, "Not drawn"));
  const std::vector<std::vector<TraceEvent>> ranks(7, events);
  const std::string seven = svg_of({"async", "0.1.0", 1, 7, 1}, ranks);
  expect_well_formed(seven);
  EXPECT_TRUE(holds(seven, "Not drawn: 3 more ranks."));
  EXPECT_FALSE(holds(seven, ">rank 4</text>"));
}

TEST(TimelinePicture, StaysSmallHoweverManyEventsThereAre) {
  std::mt19937_64 random(3);
  std::vector<TraceEvent> events;
  double now = 0;
  for (std::int64_t i = 0; i < 300000; ++i) {
    // Lengths of very different sizes, so that no two columns look alike.
    const double seconds =
        static_cast<double>(random() % 1000) * (random() % 50 == 0 ? 1e-2 : 1e-5);
    const auto step = static_cast<std::int64_t>(random() % 1000000);
    events.push_back(
        {now, now + seconds, step, step + 1, static_cast<Activity>(random() % kActivities)});
    now += seconds;
  }
  RecordedSweep sweep;
  sweep.heading = {"async", "0.1.0", 1000000, 4, now};
  sweep.ranks = 4;
  for (int rank = 0; rank < sweep.ranks; ++rank) sweep.first_ranks.push_back({rank, events});
  const std::string svg = picture_of(sweep);
  expect_well_formed(svg);
  EXPECT_LT(svg.size(), 2000000U);
}

}  // namespace
}  // namespace anadrome::tool

// SPDX-License-Identifier: BSD-2-Clause
#include "engine/sweep/trace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace anadrome::engine {
namespace {

using Seconds = std::array<double, kActivities>;

Seconds seconds_of(std::span<const TraceEvent> events) {
  Seconds seconds = {};
  for (const TraceEvent& event : events) {
    seconds[index_of(event.activity)] += event.end - event.start;
  }
  return seconds;
}

// Solver events one after the other, with gaps; a block written now and then beside them.
std::vector<TraceEvent> long_sweep(int count, double seconds) {
  std::mt19937_64 random(7);
  const auto fraction = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<TraceEvent> events;
  double now = 0, io_free = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i % 10 == 0) {
      io_free = std::max(io_free, now);
      const double end = io_free + 8 * seconds * fraction();
      events.push_back({io_free, end, i, i, i < count / 2 ? Activity::kWrite : Activity::kRead});
      io_free = end;
    }
    const auto activity = static_cast<Activity>(random() % 7);
    const double end = now + seconds * fraction();
    events.push_back({now, end, i, i + 1, activity});
    now = end + seconds * 0.1 * fraction();
  }
  return events;
}

TEST(Trace, KeepsEventsAsTheyAreWhileThereIsRoom) {
  Trace trace(100);
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < 100; ++i) {
    const auto start = static_cast<double>(i) * 1e-9;
    trace.add({start, start + 1e-9, i, i + 1});
  }
  for (const TraceEvent& event : trace.events()) {
    EXPECT_EQ(event.start, static_cast<double>(event.first) * 1e-9);
    EXPECT_EQ(event.last, event.first + 1);
    sum += event.first;
  }
  ASSERT_EQ(trace.events().size(), 100U);
  EXPECT_EQ(sum, 99 * 100 / 2);
  EXPECT_EQ(trace.merged(), 0);
  EXPECT_EQ(trace.resolution(), 0);
}

// Its seconds, by activity; every step within the resolution of where it was; and no events of a
// lane overlap.
TEST(Trace, KeepsALongSweepInTheMemoryThatItTookAtFirst) {
  const std::vector<TraceEvent> all = long_sweep(30000, 1e-3);
  const Seconds expected = seconds_of(all);
  for (const std::size_t most : {0U, 32U, 37U, 300U, 2000U}) {
    SCOPED_TRACE(most);
    Trace trace(most);
    const TraceEvent* place = trace.events().data();
    for (const TraceEvent& event : all) {
      trace.add(event);
      ASSERT_LE(trace.events().size(), std::max(most, Trace::kLeastEvents));
    }
    EXPECT_EQ(trace.events().data(), place);
    const Seconds kept = seconds_of(trace.events());
    for (std::size_t i = 0; i < kActivities; ++i) EXPECT_NEAR(kept[i], expected[i], 1e-9) << i;
    EXPECT_EQ(trace.merged() + std::ssize(trace.events()), std::ssize(all));
    const double resolution = trace.resolution();
    ASSERT_GT(resolution, 0);
    for (const TraceEvent& event : all) {
      const auto within = [&](const TraceEvent& one) {
        return one.activity == event.activity && one.first <= event.first &&
               one.last >= event.last && one.start >= event.start - resolution &&
               one.end <= event.end + resolution;
      };
      if (event.first % 100 != 0) continue;
      EXPECT_TRUE(std::any_of(trace.events().begin(), trace.events().end(), within)) << event.first;
    }
    std::vector<TraceEvent> events(trace.events().begin(), trace.events().end());
    std::sort(events.begin(), events.end(),
              [](const TraceEvent& a, const TraceEvent& b) { return a.start < b.start; });
    std::array<double, kLanes> free_from = {};
    for (const TraceEvent& event : events) {
      double& lane = free_from[index_of(lane_of(event.activity))];
      EXPECT_GE(event.start, lane - 1e-12);
      lane = event.end;
    }
  }
}

TEST(Trace, KeepsEventsAroundTurnAsTheyAre) {
  for (const std::int64_t before : {30, 300, 20000}) {
    std::vector<TraceEvent> all;
    for (std::int64_t i = 0; i < before + 20000; ++i) {
      const double start = static_cast<double>(i) * 1e-3;
      all.push_back({start, start + 0.9e-3, i, i + 1,
                     i < before    ? Activity::kAdvance
                     : i == before ? Activity::kTurn
                                   : Activity::kAdjoint});
    }
    Trace trace(1600);  // 400 around TURN
    for (const TraceEvent& event : all) trace.add(event);
    for (std::int64_t i = std::max<std::int64_t>(before - 200, 0); i < before + 200; ++i) {
      const auto same = [&](const TraceEvent& kept) {
        return kept.start == all[static_cast<std::size_t>(i)].start && kept.first == i &&
               kept.last == i + 1;
      };
      ASSERT_EQ(std::count_if(trace.events().begin(), trace.events().end(), same), 1) << i;
    }
  }
}

TEST(Trace, MergesNothingAcrossTurn) {
  Trace trace(32);
  for (std::int64_t i = 0; i < 3000; ++i) {
    const double start = static_cast<double>(i) * 1e-3;
    trace.add({start, start + 1e-3, i, i + 1, i == 1500 ? Activity::kTurn : Activity::kCopy});
  }
  for (const TraceEvent& event : trace.events()) {
    EXPECT_TRUE(event.end <= 1.5 + 1e-9 || event.start >= 1.5) << event.start;
  }
}

TEST(Trace, LeavesLongEventsAloneAmongTinyOnes) {
  Trace trace(64);
  trace.add({0, 1, 0, 1000, Activity::kAdvance});
  for (int i = 0; i < 10000; ++i) {
    trace.add({1 + i * 1e-6, 1 + (i + 1) * 1e-6, i, i + 1,
               i % 2 == 0 ? Activity::kAdjoint : Activity::kRecompute});
  }
  const auto whole =
      std::count_if(trace.events().begin(), trace.events().end(),
                    [](const TraceEvent& event) { return event.start == 0 && event.end == 1; });
  EXPECT_EQ(whole, 1);
}

TEST(Trace, IgnoresWhatHasNoPlaceInTime) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Trace trace(16);
  trace.add({kNan, 1, 0, 1});
  trace.add({0, kNan, 0, 1});
  trace.add({0, kInfinity, 0, 1});
  trace.add({2, 1, 0, 1});
  trace.add({-1, 1, 0, 1});
  EXPECT_TRUE(trace.events().empty());
}

}  // namespace
}  // namespace anadrome::engine

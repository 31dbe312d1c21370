// SPDX-License-Identifier: BSD-2-Clause
// Schedules and sketches through the C++ interface.
#include <gtest/gtest.h>

#include <anadrome/schedule.hpp>
#include <anadrome/sketch.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

TEST(ScheduleInCxx, IsARangeOfActions) {
  std::int64_t live = 0, adjoints = 0, memory[4] = {};
  anadrome::Schedule schedule("schedule=revolve steps=30 slots=4");
  for (const anadrome::ScheduleAction& action : schedule) {
    ASSERT_NE(action.kind, ANADROME_SCHEDULE_DONE);
    if (action.kind == ANADROME_SCHEDULE_ADVANCE) live = action.last;
    if (action.kind == ANADROME_SCHEDULE_KEEP) memory[action.slot] = live;
    if (action.kind == ANADROME_SCHEDULE_RESTORE) live = memory[action.slot];
    if (action.kind == ANADROME_SCHEDULE_ADJOINT && live == action.first) ++adjoints;
  }
  EXPECT_EQ(adjoints, 30);
  EXPECT_EQ(schedule.next().kind, ANADROME_SCHEDULE_DONE);
}

TEST(ScheduleInCxx, ThrowsWithTheWordsOfTheFailure) {
  try {
    anadrome::Schedule schedule("schedule=revolve steps=30 slot=4");
    FAIL();
  } catch (const anadrome::Error& error) {
    EXPECT_EQ(error.status(), ANADROME_ERR_ARGUMENT);
    EXPECT_NE(std::string(error.what()).find("the nearest is 'slots'"), std::string::npos);
  }
}

TEST(ScheduleInCxx, MovesAndEnds) {
  anadrome::Schedule schedule("schedule=revolve steps=unknown slots=4");
  anadrome::Schedule other(std::move(schedule));
  anadrome::ScheduleAction action = other.next();
  while (action.kind != ANADROME_SCHEDULE_ADVANCE) action = other.next();
  other.finish_forward(action.last);
  other = anadrome::Schedule("schedule=store_all steps=0 slots=1");
  EXPECT_EQ(other.next().kind, ANADROME_SCHEDULE_KEEP);
  EXPECT_EQ(other.next().kind, ANADROME_SCHEDULE_TURN);
  EXPECT_THROW(other.finish_forward(0), anadrome::Error);
}

template <class T>
void expect_the_correlation() {
  anadrome::Sketch<T> made(2, 3, 0, ANADROME_SKETCH_EXACT), sketch = std::move(made);
  const std::vector<T> x = {2, 3}, y = {5, 7};
  sketch.push(0, x);
  sketch.push(2, x.data());
  sketch.correlate(2, y);
  sketch.correlate(0, y.data());
  EXPECT_EQ(sketch.gradient(), (std::vector<T>{20, 42}));
  EXPECT_EQ(sketch.variance(), (std::vector<double>{0, 0}));
}

TEST(SketchInCxx, BothTypesGiveTheCorrelation) {
  expect_the_correlation<double>();
  expect_the_correlation<float>();
  EXPECT_EQ(anadrome::Sketch<double>::bytes(1000, 128), 8 * 1000 * 131);
  EXPECT_EQ(anadrome::Sketch<float>::bytes(1000, 128), 4 * 1000 * 132);
}

TEST(SketchInCxx, FailuresAreThrown) {
  using Doubles = anadrome::Sketch<double>;
  EXPECT_THROW(Doubles(2, 0), anadrome::Error);
  EXPECT_THROW(Doubles::bytes(2, 0), anadrome::Error);
  Doubles sketch(2, 1);
  const std::vector<double> two(2), three(3);
  EXPECT_THROW(sketch.correlate(0, two), anadrome::Error);
  EXPECT_THROW(sketch.push(-1, two), anadrome::Error);
  EXPECT_THROW(sketch.variance(), anadrome::Error);
  sketch.push(0, two);
  try {
    sketch.push(1, three);
    FAIL();
  } catch (const anadrome::Error& error) {
    EXPECT_EQ(error.status(), ANADROME_ERR_ARGUMENT);
    EXPECT_NE(std::string(error.what()).find("2 points, the array 3"), std::string::npos);
  }
}

}  // namespace

// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <anadrome/schedule.hpp>
#include <string>
#include <utility>

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

}  // namespace

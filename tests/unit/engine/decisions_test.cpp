// SPDX-License-Identifier: BSD-2-Clause
// The questions of a schedule on the way, and the agreements that answer them.
#include "engine/plan/decisions.h"

#include <gtest/gtest.h>

#include "desk.h"

namespace anadrome::engine {
namespace {

using schedule::Next;

TEST(Decisions, AgreeUntilTheScheduleCanGoOn) {
  LoneDesk desk;
  ScriptedSweep& sweep = desk.script();
  desk.meeting.bring = [](Agreement::Input& input) { input.largest = {0.5, 2}; };
  sweep.answers = {Next::kAgree, Next::kAgree};
  desk.decisions.decide();
  ASSERT_EQ(sweep.asked.size(), 3u);
  EXPECT_EQ(sweep.asked[1].costs.forward, 0.5) << "the times that were agreed on";
  EXPECT_EQ(sweep.asked[1].costs.adjoint, 2);
  EXPECT_EQ(sweep.asked[2].agreement, sweep.asked[0].agreement + 2);
}

TEST(Decisions, WaitForWritesAndShareTheMemoryAsTheScheduleWants) {
  LoneDesk desk(64 << 10);
  desk.options.memory = 8 << 16;
  ScriptedSweep& sweep = desk.script("async", 1000);
  desk.meeting.bring = [&](Agreement::Input& input) {
    desk.context.notes.measured.bring(input, desk.keeper.disk_tier());
  };
  const std::int64_t slots = desk.memory.checkpoint_slots;
  desk.keeper.keep({anchor(0, 0)});
  desk.keeper.disk_tier()->write_newest_block();
  sweep.answers = {Next::kFlush};
  desk.decisions.decide();
  EXPECT_FALSE(sweep.asked[0].write_times_known);
  EXPECT_TRUE(sweep.asked[1].write_times_known);
  EXPECT_EQ(desk.memory.checkpoint_slots, slots) << "the schedule did not say";
  sweep.facts.prefetch_depth = 5;
  desk.decisions.decide();
  EXPECT_EQ(desk.memory.prefetch_depth, 5);
  EXPECT_EQ(desk.memory.checkpoint_slots, sweep.facts.slots);
}

TEST(Decisions, RewindToTheAnchorsThatAreLeft) {
  LoneDesk desk;
  ScriptedSweep& sweep = desk.script();
  for (const std::int64_t step : {0, 10, 20}) sweep.list.append(step);
  desk.decisions.rewind(2);
  EXPECT_EQ(sweep.rewound_to, 2);
  EXPECT_EQ(desk.sweep.newest_anchor, 2);
  EXPECT_TRUE(desk.meeting.calls.empty());
}

}  // namespace
}  // namespace anadrome::engine

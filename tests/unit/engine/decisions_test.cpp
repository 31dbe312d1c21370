// SPDX-License-Identifier: BSD-2-Clause
// The questions of a schedule on the way, and the agreements that answer them.
#include "engine/decisions.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>

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
    desk.context.measured.bring(input, desk.keeper.disk_tier());
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

// The error of each of two ranks that make a plan.
std::string thrown(const std::function<void(ScriptedSweep&, int rank)>& prepare) {
  std::array<std::string, 2> messages;
  ThreadRanks::run(2, [&](Ranks& ranks) {
    Desk desk(ranks, 64, 0);
    ScriptedSweep& sweep = desk.script();
    sweep.answers = {Next::kPlan, Next::kAgree};
    prepare(sweep, ranks.rank());
    messages[static_cast<std::size_t>(ranks.rank())] =
        failure_from([&] { desk.decisions.decide(); }).message;
    EXPECT_TRUE(sweep.plans == 1 && sweep.asked.size() == 1) << "the plan is the answer";
  });
  EXPECT_EQ(messages[0], messages[1]);
  return messages[0];
}

TEST(Decisions, CompareThePlansOfAllRanks) {
  EXPECT_EQ(thrown([](ScriptedSweep&, int) {}), "");
  EXPECT_EQ(thrown([](ScriptedSweep& sweep, int rank) { sweep.print = rank; }),
            "the plan differs between ranks: from 0 to 1");
  const Failure failure = {ANADROME_ERR_MEMORY, "no memory"};
  const auto on_rank_1 = [&](ScriptedSweep& sweep, int rank) {
    if (rank == 1) sweep.no_plan = failure;
  };
  EXPECT_EQ(thrown(on_rank_1), "rank 1: no memory");
}

TEST(Decisions, PlanARewoundSweepAnewWhereItWants) {
  LoneDesk desk;
  ScriptedSweep& sweep = desk.script();
  for (const std::int64_t step : {0, 10, 20}) sweep.list.append(step);
  desk.decisions.rewind(2);
  EXPECT_EQ(sweep.rewound_to, 2);
  EXPECT_EQ(sweep.plans, 0);
  EXPECT_EQ(desk.sweep.newest_anchor, 2);
  sweep.facts.plans_anew = true;
  sweep.no_plan = {ANADROME_ERR_MEMORY, "no memory"};
  EXPECT_THROW(desk.decisions.rewind(2), Error);
  EXPECT_TRUE(desk.meeting.calls.empty());
  desk.context.plan.schedule = schedule::find_schedule("overlapped");
  EXPECT_THROW(desk.decisions.rewind(2), Error);
  EXPECT_EQ(desk.meeting.calls.size(), 1u) << "a list is compared";
}

}  // namespace
}  // namespace anadrome::engine

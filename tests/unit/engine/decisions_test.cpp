// What a schedule asks for on the way, and the agreements that answer it.
#include "engine/decisions.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "desk.h"

namespace anadrome::engine {
namespace {

using schedule::Next;

TEST(Decisions, AgreeUntilTheScheduleCanGoOn) {
  alone(64, 0, [](Desk& desk) {
    desk.begin("revolve", 100);
    desk.meeting.bring = [](Agreement::Input& input) { input.largest = {0.5, 2}; };
    ScriptedSweep& sweep = desk.script();
    sweep.answers = {Next::kAgree, Next::kAgree};
    desk.decisions.decide();
    EXPECT_EQ(desk.meeting.agreed.size(), 2u);
    ASSERT_EQ(sweep.asked.size(), 3u);
    EXPECT_EQ(sweep.asked[1].costs.forward, 0.5) << "the times that were agreed on";
    EXPECT_EQ(sweep.asked[1].costs.adjoint, 2);
    EXPECT_EQ(sweep.asked[2].agreement, sweep.asked[0].agreement + 2);
  });
}

TEST(Decisions, WaitForTheWritesWhereTheScheduleWantsTheirTimes) {
  alone(64 << 10, 0, [](Desk& desk) {
    desk.options.memory = 8 << 16;
    desk.begin("async", 1000);
    ScriptedSweep& sweep = desk.script();
    desk.meeting.bring = [&](Agreement::Input& input) {
      desk.context.measured.bring(input, desk.keeper.disk_tier());
    };
    desk.keeper.keep({{schedule::What::kState, schedule::kDiskTier, 0, 0, {}}});
    desk.keeper.disk_tier()->write_newest_block();
    sweep.answers = {Next::kFlush};
    desk.decisions.decide();
    ASSERT_EQ(sweep.asked.size(), 2u);
    EXPECT_FALSE(sweep.asked[0].write_times_known);
    EXPECT_TRUE(sweep.asked[1].write_times_known);
    EXPECT_TRUE(sweep.asked[1].nobody_writes);
    EXPECT_GT(sweep.asked[1].costs.write, 0);
  });
}

TEST(Decisions, ShareMemoryBetweenSlotsAndBlocksReadAhead) {
  alone(64 << 10, 0, [](Desk& desk) {
    desk.begin("async", 1000);
    const MemoryPlan& memory = desk.context.plan.memory;
    const std::int64_t before = memory.checkpoint_slots;
    ScriptedSweep& sweep = desk.script();
    desk.decisions.decide();
    EXPECT_EQ(memory.checkpoint_slots, before) << "that is not decided here";
    sweep.depth = 5;
    desk.decisions.decide();
    EXPECT_EQ(memory.prefetch_depth, 5);
    EXPECT_EQ(memory.checkpoint_slots, sweep.slots());
  });
}

// What came of a plan on each of two ranks.
std::array<Failure, 2> plans(const std::function<void(ScriptedSweep&, bool first)>& prepare) {
  std::array<Failure, 2> failures;
  ThreadRanks::run(2, [&](Ranks& ranks) {
    Desk desk(ranks, 64, 0);
    desk.begin("revolve", 100);
    ScriptedSweep& sweep = desk.script();
    sweep.answers = {Next::kPlan, Next::kAgree};
    prepare(sweep, ranks.rank() == 0);
    failures[static_cast<std::size_t>(ranks.rank())] =
        failure_from([&] { desk.decisions.decide(); });
    EXPECT_EQ(sweep.plans, 1);
    EXPECT_EQ(sweep.asked.size(), 1u) << "the plan is the answer";
  });
  return failures;
}

TEST(Decisions, CompareThePlansOfAllRanks) {
  for (const Failure& failure : plans([](ScriptedSweep&, bool) {})) {
    EXPECT_FALSE(failure) << failure.message;
  }
  for (const Failure& failure :
       plans([](ScriptedSweep&sweep, bool first) { sweep.print = first ? 1 : 2; })) {
    EXPECT_EQ(failure.message, "the plan differs between ranks: from 1 to 2");
  }
}

TEST(Decisions, AreThrownOnAllRanksWhereOneLacksTheMemory) {
  for (const Failure& failure : plans([](ScriptedSweep&sweep, bool first) {
         if (!first) sweep.no_plan = {ANADROME_ERR_MEMORY, "no memory"};
       })) {
    EXPECT_EQ(failure.message, "rank 1: no memory");
  }
}

TEST(Decisions, PlanARewoundSweepAnewWhereItWants) {
  alone(64, 0, [](Desk& desk) {
    desk.begin("revolve", 100);
    ScriptedSweep& sweep = desk.script();
    for (const std::int64_t step : {0, 10, 20}) sweep.list.append(step);
    desk.decisions.rewind(2);
    EXPECT_EQ(sweep.rewound_to, 2);
    EXPECT_EQ(sweep.plans, 0);
    EXPECT_EQ(desk.context.sweep.newest_anchor, 2);
    sweep.anew = true;
    sweep.no_plan = {ANADROME_ERR_MEMORY, "no memory"};
    EXPECT_THROW(desk.decisions.rewind(2), Error);
    EXPECT_TRUE(desk.meeting.agreed.empty());
    desk.context.plan.schedule = schedule::find_schedule("overlapped");
    EXPECT_THROW(desk.decisions.rewind(2), Error);
    ASSERT_EQ(desk.meeting.agreed.size(), 1u) << "a list is compared";
    EXPECT_EQ(desk.meeting.agreed[0].equal, sweep.print);
    EXPECT_EQ(desk.meeting.agreed[0].equal_name, "the plan");
  });
}

}  // namespace
}  // namespace anadrome::engine

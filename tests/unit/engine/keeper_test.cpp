// States, tapes and anchors in the places that a schedule gives them.
#include "engine/keeper.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "desk.h"
#include "faulty_file_system.h"
#include "packed_fields.h"

namespace anadrome::engine {
namespace {

using schedule::Kept;
using schedule::What;
using test::Fault;
using test::FaultyFileSystem;
using test::Operation;

constexpr std::int64_t kState = std::int64_t{64} << 10;

Kept slot(std::int64_t place, std::int64_t step) {
  return {What::kState, schedule::kRamTier, step, place, {}};
}
Kept anchor(std::int64_t number, std::int64_t step) {
  return {What::kState, schedule::kDiskTier, step, number, {}};
}

// ---- in memory ----

TEST(Keeper, RestoresWhatItKept) {
  alone(kState, 0, [](Desk& desk) {
    desk.begin("revolve", 10);
    for (std::int64_t step = 0; step < 3; ++step) {
      desk.step_to(step);
      desk.keeper.keep({slot(step, step)});
    }
    desk.keeper.restore({slot(1, 1)});
    EXPECT_TRUE(desk.is_at(1));
    desk.keeper.show(2);
    EXPECT_TRUE(desk.is_at(2));
    EXPECT_EQ(desk.context.sweep.kept, 3);
    EXPECT_EQ(desk.context.sweep.restored, 2);
  });
}

TEST(Keeper, UsesTheMemoryOfADroppedStateAgain) {
  alone(kState, 0, [](Desk& desk) {
    desk.options.checkpoints = 2;
    desk.begin("revolve", 100);
    ASSERT_EQ(desk.context.plan.memory.blocks * desk.context.plan.memory.layout.states(), 2);
    for (std::int64_t step = 0; step < 10; ++step) {
      desk.step_to(step);
      desk.keeper.keep({slot(step % 2, step)});
      if (step > 0) desk.keeper.drop({slot((step + 1) % 2, step - 1)});
    }
    desk.keeper.restore({slot(1, 9)});
    EXPECT_FALSE(desk.context.held.failure());
    EXPECT_TRUE(desk.is_at(9));
  });
}

TEST(Keeper, KeepsTapesInTheSlotsThatTheyNeed) {
  alone(kState, 3 * kState / 2, [](Desk& desk) {
    desk.begin("store_all", 4);
    ASSERT_EQ(desk.context.plan.kept_tape_slots(), 2);
    for (unsigned char step = 0; step < 4; ++step) {
      desk.tape.assign(desk.tape.size(), step);
      desk.tape.back() = 100;
      desk.keeper.keep({{What::kTape, schedule::kRamTier, step, 2 * step, {}}});
    }
    desk.keeper.restore({{What::kTape, schedule::kRamTier, 2, 4, {}}});
    EXPECT_EQ(desk.tape.front(), 2);
    EXPECT_EQ(desk.tape.back(), 100);
    desk.keeper.drop({{What::kTape, schedule::kRamTier, 2, 4, {}}});
    desk.keeper.restore({{What::kTape, schedule::kRamTier, 2, 4, {}}});
    EXPECT_EQ(desk.context.held.failure().status, ANADROME_ERR_INTERNAL);
  });
}

TEST(Keeper, HoldsWhatGoesWrongUntilTheRanksAgree) {
  alone(kState, 0, [](Desk& desk) {
    desk.begin("revolve", 10);
    desk.keeper.keep({slot(0, 0)});
    desk.keeper.drop({slot(0, 0)});
    EXPECT_NO_THROW(desk.keeper.restore({slot(0, 0)}));
    EXPECT_THROW(desk.meeting.agree(Call::kTurn), Error);
  });
}

TEST(Keeper, RefusesAStateThatIsLargerThanWasSaidOnAllRanks) {
  std::array<Failure, 2> refused;
  ThreadRanks::run(2, [&](Ranks& ranks) {
    store::Varying varying;
    varying.bytes = 40;
    Desk desk(ranks, 64, 0);
    desk.fields.add(varying.field("v", 200));
    const std::vector<double> said(8, 64 + 40);
    desk.context.measured.state_bytes().give(said);
    desk.begin("least_memory", 8);
    const Kept first = {
        What::kState, schedule::kRamTier, 0, 0, {0, desk.context.plan.divided->units}};
    desk.step_to(5);
    desk.keeper.keep({first});
    varying.bytes = 7;
    desk.step_to(6);
    desk.keeper.restore({first});
    EXPECT_TRUE(desk.is_at(5));
    EXPECT_EQ(varying.unpacked, 40u);
    if (ranks.rank() == 1) varying.bytes = 200;
    const std::int64_t units = (64 + 40) / desk.context.plan.divided->unit_bytes;
    const Kept small = {What::kState, schedule::kRamTier, 3, 0, {0, units}};
    refused[static_cast<std::size_t>(ranks.rank())] =
        failure_from([&] { desk.keeper.keep({small}); });
  });
  for (const Failure& failure : refused) {
    EXPECT_EQ(failure.status, ANADROME_ERR_ARGUMENT);
    EXPECT_NE(failure.message.find("rank 1: the state of step 3 takes "), std::string::npos)
        << failure.message;
  }
}

// ---- anchors ----

// A sweep with anchors at every step, some of which leave the memory.
struct Anchored {
  explicit Anchored(Desk& made, std::int64_t memory = 8 * kState, std::int64_t steps = 1000)
      : desk(made) {
    desk.options.memory = memory;
    desk.begin("async", steps);
    sweep = &desk.script();
  }
  void keep(std::int64_t number) {
    desk.step_to(number);
    desk.keeper.keep({anchor(number, number)});
    if (desk.keeper.write_is_due()) desk.keeper.write_due();
  }
  void keep_all(std::int64_t anchors) {
    for (std::int64_t number = 0; number < anchors; ++number) keep(number);
    desk.keeper.disk_tier()->flush();
    desk.meeting.agreed.clear();
    desk.step_to(-1);
  }
  bool brings_back(std::int64_t number) {
    desk.keeper.restore({anchor(number, number)});
    return desk.is_at(number) && !desk.context.held.failure();
  }
  std::int64_t blocks_written() const { return desk.keeper.disk_tier()->anchors_written(); }
  std::int64_t bytes_read() const { return desk.storage.transport()->totals().bytes_read; }

  FaultyFileSystem files;
  Desk& desk;
  SweepState& state = desk.context.sweep;
  ScriptedSweep* sweep;
};

void anchored(const std::function<void(Anchored&)>& body) {
  alone(kState, 0, [&](Desk& desk) {
    Anchored a(desk);
    body(a);
    desk.keeper.abandon();
  });
}

TEST(Keeper, BringsAnchorsBackFromDiskInFilesThatGrow) {
  anchored([](Anchored& a) {
    const std::int64_t room = a.desk.keeper.disk_tier()->room();
    a.keep_all(room + 4);
    EXPECT_GT(a.desk.keeper.disk_tier()->room(), room);
    for (std::int64_t number = room + 3; number >= 0; --number) {
      EXPECT_TRUE(a.brings_back(number)) << number;
    }
    EXPECT_GT(a.bytes_read(), room / 2 * kState);
  });
}

TEST(Keeper, WritesABlockUnlessTheRestIsReversedFromMemory) {
  anchored([](Anchored& a) {
    a.desk.step_to(0);
    a.desk.keeper.keep({anchor(0, 0)});
    EXPECT_TRUE(a.desk.keeper.write_is_due());
    EXPECT_EQ(a.blocks_written(), 0);
    a.desk.keeper.write_due();
    EXPECT_FALSE(a.desk.keeper.write_is_due());
    EXPECT_EQ(a.blocks_written(), 1);
    EXPECT_EQ(a.desk.meeting.commits, std::vector{Call::kAnchor});
    a.sweep->in_ram = true;
    a.keep(1);
    EXPECT_EQ(a.blocks_written(), 1);
    EXPECT_TRUE(a.brings_back(1)) << "it is in memory";
    a.desk.options.keep = true;
    a.keep(2);
    EXPECT_EQ(a.blocks_written(), 3) << "files for somebody else have every anchor";
  });
}

TEST(Keeper, AgreesOnceForABlockAndWritesItsRestForLaterReaders) {
  alone(kState, 0, [](Desk& desk) {
    Anchored a(desk, 40 * kState);
    ASSERT_EQ(desk.context.plan.memory.layout.states(), 2);
    a.keep_all(5);
    EXPECT_EQ(a.blocks_written(), 4);
    desk.keeper.write_last_block();
    EXPECT_EQ(a.blocks_written(), 4);
    desk.options.keep = true;
    desk.keeper.write_last_block();
    EXPECT_EQ(a.blocks_written(), 5);
    for (const std::int64_t number : {3, 2}) EXPECT_TRUE(a.brings_back(number));
    ASSERT_EQ(desk.meeting.agreed.size(), 1u);
    EXPECT_EQ(desk.meeting.agreed[0].call, Call::kRestore);
    EXPECT_TRUE(a.brings_back(1));
    EXPECT_EQ(desk.meeting.agreed.size(), 2u);
    desk.keeper.abandon();
  });
}

TEST(Keeper, MakesNoFilesForASweepThatFitsInMemory) {
  for (const bool keep : {false, true}) {
    alone(kState, 0, [&](Desk& desk) {
      desk.options.keep = keep;
      desk.begin("async", 4);
      EXPECT_EQ(desk.storage.space()->capacity() > 0, keep);
    });
  }
}

TEST(Keeper, GoesBackToTheAnchorBeforeOneThatIsLost) {
  anchored([](Anchored& a) {
    a.keep_all(12);
    a.files.arm(Operation::kRead, 1, Fault::kIoError, true);
    a.desk.keeper.restore({anchor(3, 3)});
    EXPECT_EQ(a.sweep->lost, std::vector<std::int64_t>{3});
    EXPECT_TRUE(a.desk.is_at(-1)) << "nothing is restored";
    EXPECT_EQ(a.state.anchors_lost, 1);
    a.files.disarm();
    EXPECT_TRUE(a.brings_back(2));
  });
}

TEST(Keeper, ReadsTheCopyOfTheFirstAnchorAndGivesUpWithoutIt) {
  anchored([](Anchored& a) {
    a.keep_all(12);
    std::filesystem::resize_file(a.desk.storage.space()->segment_of(0).path(), 0);
    EXPECT_TRUE(a.brings_back(0));
    EXPECT_TRUE(a.sweep->lost.empty());
    EXPECT_EQ(a.state.anchors_lost, 1);
  });
  anchored([](Anchored& a) {
    a.keep_all(12);
    a.files.arm(Operation::kRead, 1, Fault::kIoError, true);
    const Failure failure = failure_from([&] { a.desk.keeper.restore({anchor(0, 0)}); });
    EXPECT_EQ(failure.status, ANADROME_ERR_IO);
    EXPECT_NE(failure.message.find("nothing before it is kept"), std::string::npos);
  });
}

TEST(Keeper, AnchorsNoMoreOnceTheDiskIsFull) {
  anchored([](Anchored& a) {
    const std::int64_t room = a.desk.keeper.disk_tier()->room();
    a.keep_all(room);
    a.files.arm(Operation::kAllocate, 1, Fault::kNoSpace, true);
    a.keep(room);
    EXPECT_EQ(a.sweep->told_no_more, 1);
    EXPECT_EQ(a.state.disk_refused.status, ANADROME_ERR_NO_SPACE);
    EXPECT_EQ(a.desk.keeper.disk_tier()->room(), room);
    EXPECT_TRUE(a.brings_back(room)) << "its memory was not needed yet";
    a.desk.meeting.agreed.clear();
    a.keep(room + 1);
    EXPECT_TRUE(a.desk.meeting.agreed.empty()) << "there is nothing to write";
    EXPECT_TRUE(a.brings_back(1));
  });
}

TEST(Keeper, TellsTheOthersOfAWriteThatFoundNoRoomAtTheNextAnchor) {
  anchored([](Anchored& a) {
    a.keep_all(2);
    a.files.arm(Operation::kWrite, 1, Fault::kNoSpace, true);
    a.keep(2);
    a.desk.keeper.disk_tier()->flush();
    EXPECT_FALSE(a.state.no_more_anchors);
    a.keep(3);
    EXPECT_TRUE(a.state.no_more_anchors);
    EXPECT_EQ(a.blocks_written(), 3);
  });
}

TEST(Keeper, WritesAndReadsWhenThePlanSaysSo) {
  alone(kState, 0, [](Desk& desk) {
    desk.begin("overlapped", 50);
    desk.script();
    desk.step_to(9);
    desk.keeper.keep({anchor(0, 9)});
    EXPECT_FALSE(desk.keeper.write_is_due());
    desk.keeper.write({anchor(0, 9)});
    EXPECT_EQ(desk.meeting.agreed.size(), 1u);
    desk.keeper.disk_tier()->flush();
    desk.keeper.drop({anchor(0, 9)});
    desk.step_to(10);
    desk.keeper.read({anchor(0, 9)});
    desk.keeper.restore({anchor(0, 9)});
    EXPECT_TRUE(desk.is_at(9));
    EXPECT_EQ(desk.storage.transport()->totals().bytes_read, kState);
    EXPECT_FALSE(desk.context.held.failure());
    desk.keeper.abandon();
  });
}

}  // namespace
}  // namespace anadrome::engine

// SPDX-License-Identifier: BSD-2-Clause
// Memory in, a plan out.
#include "engine/plan/planning.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/byte_size.h"
#include "desk.h"
#include "has_part.h"
#include "schedule/stack/mixed.h"

namespace anadrome::engine {
namespace {

anadrome_status refusal(const std::function<void()>& body) { return failure_from(body).status; }

TEST(Planning, CountsTheSlotsOfKeptTapesAgainstTheOptionCheckpoints) {
  LoneDesk desk(kMiB, 4 * kMiB);
  desk.options.memory = 100 * kMiB;
  desk.options.checkpoints = 8;
  for (const char* name : {"mixed", "async"}) {
    const SweepPlan plan = desk.planned(name, 60);
    EXPECT_EQ(plan.kept_tape_slots(), 4) << name;
    EXPECT_EQ(plan.memory.checkpoint_slots, 8) << name;
  }
  EXPECT_EQ(desk.planned("mixed", 60).sweep->advances_remaining(),
            60 + schedule::mixed_advances(60, 8, 4, false));
  EXPECT_EQ(desk.planned("store_all", 20).memory.checkpoint_slots, 81) << "20 tapes and x_20";
}

// What lies beside large blocks must not take the room for one that small blocks would leave.
TEST(Planning, HasRoomInAnyMemoryThatIsNoLessThanTheLeast) {
  LoneDesk desk(16);
  desk.options.set("compress", "lz4");
  desk.options.memory = 1;
  std::int64_t least = 0;
  try {
    desk.planned("async", 100);
  } catch (const TooLittleMemory& error) {
    least = error.needed();
  }
  ASSERT_GT(least, 0);
  for (desk.options.memory = least; desk.options.memory < 40 * least;
       desk.options.memory += desk.options.memory / 16) {
    const MemoryPlan memory = desk.planned("async", 100).memory;
    EXPECT_LE(memory.blocks * memory.bytes_per_block + memory.buffer_bytes, desk.options.memory);
  }
}

TEST(Planning, CountsBothOfAProbesCopiesOfTheAdjointInTheMemory) {
  LoneDesk desk(kMiB);
  std::vector<unsigned char> lambda(3 * kMiB);
  desk.add("lambda", ANADROME_ROLE_ADJOINT, lambda);
  desk.fields.begin_sweep();
  desk.options.memory = 20 * kMiB;
  desk.options.set("compress", "round");
  const std::int64_t without = desk.planned("async", 100).memory.buffer_bytes;
  desk.options.probe = true;
  const MemoryPlan with = desk.planned("async", 100).memory;
  EXPECT_EQ(with.buffer_bytes - without, 6 * kMiB);
  EXPECT_LE(with.blocks * with.bytes_per_block + with.buffer_bytes, desk.options.memory);
}

// A state of 1 MiB of doubles.
struct DeskOfDoubles : LoneDesk {
  explicit DeskOfDoubles(std::int64_t tape_bytes) : LoneDesk(0, tape_bytes) {
    fields.add({"v", ANADROME_ROLE_STATE, ANADROME_FLOAT64, kMiB / 8, false, doubles.data(), {}});
    fields.begin_sweep();
    options.memory = 10 * kMiB + kMiB / 2;
    options.set("compress", "float32");
  }
  std::vector<double> doubles = std::vector<double>(kMiB / 8);
};

TEST(Planning, LeavesSlotsAsTheyAreWhereBitsMustNotDependOnWhatIsInMemory) {
  DeskOfDoubles desk(0), taped(kMiB / 4);
  EXPECT_FALSE(desk.planned("revolve", 10).memory.single) << "all fit";
  desk.options.checkpoints = 3;
  EXPECT_FALSE(desk.planned("async", 1000).memory.single) << "no more may be used";
  desk.options.checkpoints = -1;
  desk.options.interval = 5;
  EXPECT_FALSE(desk.planned("async", 1000).memory.single);
  EXPECT_TRUE(desk.planned("revolve", 1000).memory.single);
  desk.options.passes = 1;
  EXPECT_FALSE(desk.planned("revolve", 1000).memory.single);
  desk.options.passes = 0;
  desk.options.set("compress", "zfp");
  EXPECT_FALSE(desk.planned("revolve", 1000).memory.single);
  EXPECT_FALSE(taped.planned("mixed", 100).memory.single) << "tapes are kept";
  EXPECT_TRUE(taped.planned("revolve", 100).memory.single);
}

// Seconds of 1000 steps of 1 s, whose adjoints take 2 s, with `memory` times the memory.
double supposed(Desk& desk, const char* schedule, double memory,
                std::int64_t anchors_that_fit = -1) {
  Agreement::Output agreed;
  agreed.largest = {1, 2, 8, 8, 0, 0};
  agreed.smallest = 2;
  desk.context.notes.measured.take(agreed);
  Planning::Supposed supposed;
  supposed.memory = memory;
  supposed.steps = 1000;
  supposed.anchors_that_fit = anchors_that_fit;
  supposed.forward = 1;
  supposed.adjoint = 2;
  return desk.planning.forecast(desk.planned(schedule, 1000), supposed);
}

double seconds_of_revolve(std::int64_t slots) {
  return static_cast<double>(schedule::extra_advances(1001, slots)) + 2000;
}

TEST(Planning, TellsWhatMoreMemoryGainsRevolve) {
  LoneDesk desk(kMiB);
  desk.options.memory = 10 * kMiB + kMiB / 2;
  EXPECT_DOUBLE_EQ(supposed(desk, "revolve", 1), seconds_of_revolve(10));
  EXPECT_DOUBLE_EQ(supposed(desk, "revolve", 2), seconds_of_revolve(20));
  desk.options.checkpoints = 6;
  EXPECT_DOUBLE_EQ(supposed(desk, "revolve", 2), seconds_of_revolve(6));
}

// 50 intervals of 20 steps, the last one with TURN. Transfers are hidden.
TEST(Planning, TellsWhatMoreMemoryGainsAnIntervalThatIsGiven) {
  LoneDesk desk(kMiB);
  desk.options.memory = 4 * kMiB + kMiB / 2;
  desk.options.interval = 20;
  const auto expected = [](std::int64_t slots) {
    const auto again = static_cast<double>(schedule::extra_advances(20, slots));
    return 50 * (20 + again + 2 * 20);
  };
  const double now = supposed(desk, "async", 1), then = supposed(desk, "async", 2);
  EXPECT_NEAR(now, expected(3), 0.02 * now);
  EXPECT_NEAR(then, expected(7), 0.02 * then);
  EXPECT_LT(then, 0.9 * now);
}

TEST(Planning, TellsOfADiskThatIsFullWhatRevolveCosts) {
  LoneDesk desk(kMiB);
  desk.options.memory = 10 * kMiB + kMiB / 2;
  const double now = supposed(desk, "async", 1, 1);
  EXPECT_GT(now, 1.05 * supposed(desk, "async", 1));
  EXPECT_DOUBLE_EQ(now, seconds_of_revolve(10));
  EXPECT_DOUBLE_EQ(supposed(desk, "async", 2, 1), seconds_of_revolve(20));
}

TEST(Planning, MakesOfADiskThatIsFullWhatRevolveMakesOfTheMemory) {
  LoneDesk desk(kMiB);
  desk.options.memory = 10 * kMiB + kMiB / 2;
  SweepPlan plan = desk.planned("async", 1000);
  desk.planning.make_sweep(plan, true);
  EXPECT_EQ(plan.memory.checkpoint_slots, 10);
  std::int64_t advances = 0;
  for (;;) {
    const schedule::Action action = plan.sweep->next();
    if (std::holds_alternative<schedule::Done>(action)) break;
    const auto* const advance = std::get_if<schedule::Advance>(&action);
    if (advance != nullptr) advances += advance->last - advance->first;
  }
  EXPECT_EQ(advances, static_cast<std::int64_t>(schedule::extra_advances(1001, 10)));
}

TEST(Planning, SaysHowMuchMemoryOneStateNeeds) {
  LoneDesk desk(kMiB);
  desk.options.memory = 1000;
  const Failure failure = failure_from([&] { desk.planned("revolve", 64); });
  EXPECT_EQ(failure.status, ANADROME_ERR_MEMORY);
  desk.options.memory = test::number_after(failure.message, "at least ");
  EXPECT_EQ(desk.planned("revolve", 64).memory.blocks, 1);
  const std::string sum = ", 1.00 MiB for the state and " +
                          format_bytes(desk.options.memory - kMiB) + " for whole pages, ";
  EXPECT_TRUE(test::has_part(failure.message, sum));
  // E(65, 5) = 176 <= 3 * 64 < E(65, 4) = 204
  EXPECT_TRUE(test::has_part(failure.message, "with 5.00 MiB, 5 states, schedule=revolve"));
}

TEST(Planning, KeepsTapesWhereAScheduleCanAndTheyFit) {
  LoneDesk desk(kMiB, 2 * kMiB);
  desk.options.memory = 10 * kMiB;
  EXPECT_EQ(desk.planned("mixed", 100).kept_tape_slots(), 2);
  EXPECT_EQ(desk.planned("revolve", 100).kept_tape_slots(), 0);
  EXPECT_TRUE(desk.planned("store_all", 4).keeps_tapes);
  desk.options.memory = 9 * kMiB;
  EXPECT_FALSE(desk.planned("store_all", 4).keeps_tapes)
      << "4 tapes and x_4 take 9 states, and something to find them by";
}

TEST(Planning, RefusesWhatAScheduleCannotDo) {
  LoneDesk desk(kMiB);
  const auto refused = [&](const char* schedule, std::int64_t steps) {
    return refusal([&] { desk.planning.require_fit(desk.plan(schedule, steps)); });
  };
  const std::int64_t unknown = schedule::kUnknown;
  for (const schedule::Entry& entry : schedule::catalogue()) {
    EXPECT_EQ(refused(entry.name, unknown) != ANADROME_OK, entry.needs.steps) << entry.name;
  }
  EXPECT_EQ(refused("mixed", 10), ANADROME_ERR_UNSUPPORTED) << "no tape fields";
  desk.options.resume = true;
  EXPECT_EQ(refused("async", 10), ANADROME_OK);
  EXPECT_EQ(refused("revolve", 10), ANADROME_ERR_UNSUPPORTED);
  desk.options.keep = true;
  EXPECT_EQ(refused("async", 10), ANADROME_ERR_UNSUPPORTED);
}

}  // namespace
}  // namespace anadrome::engine

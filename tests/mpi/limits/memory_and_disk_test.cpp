// SPDX-License-Identifier: BSD-2-Clause
// The limits a caller sets hold, and what does not fit is refused on every rank with the number
// that would do.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "has_part.h"
#include "mpi_main.h"
#include "own_loop.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;
namespace fs = std::filesystem;

class Limits : public testing::Test {
 protected:
  Limits()
      : model_(MPI_COMM_WORLD,
               Counts{static_cast<std::size_t>(30 + 10 * rank()), 1, 2, 1000, 3000}),
        reference_(model_, 60) {}

  RunHandle opened(const std::string& schedule, std::int64_t memory, const RunOptions& more = {}) {
    return {model_, {{"schedule", schedule}, {"memory", std::to_string(memory) + "B"}}, more};
  }

  Outcome sweep(RunHandle& run, std::int64_t steps, bool unknown = false) {
    SweepDriver driver(run, model_, reference_);
    return driver.sweep(steps, unknown);
  }

  static void expect_exact(const Outcome& outcome) {
    EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
  }

  /// The least memory that a run with too little of it names.
  static std::int64_t named_least(RunHandle& run, std::int64_t steps) {
    EXPECT_EQ(anadrome_begin(run, steps), ANADROME_ERR_MEMORY);
    return number_after(anadrome_last_error(), "at least ");
  }

  CoupledModel model_;
  const Reference reference_;
};

// Where files leave no room for a state, Revolve may still have some: `auto` names the least of all
// that it may choose.
TEST_F(Limits, TheLeastMemoryIsNamedAndIsEnough) {
  for (const char* schedule : {"revolve", "async", "auto"}) {
    SCOPED_TRACE(schedule);
    const bool chooses = std::string(schedule) == "auto";
    const std::int64_t least = least_memory(model_, chooses ? "revolve" : schedule);
    EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, least));
    RunHandle run = opened(schedule, least - 1);
    EXPECT_EQ(named_least(run, 9), least);
    run.set("memory", std::to_string(least) + "B");
    expect_exact(sweep(run, 30));
    if (chooses) continue;
    expect_exact(sweep(run, 30, true));
    EXPECT_EQ(run.statistics().slots, 1);
  }
}

// A packed tape goes through a buffer, which may be larger than the memory.
TEST_F(Limits, TheLeastMemoryIsEnoughWhereTapesAreLarge) {
  const auto pack = [](void*, void*, std::size_t) { return 0; };
  const auto unpack = [](void*, const void*, std::size_t) { return 0; };
  RunHandle run = opened("async", 1);
  ASSERT_EQ(anadrome_add_packed(run, "tape", ANADROME_ROLE_TAPE, 1 << 20, pack, unpack, nullptr),
            ANADROME_OK);
  run.set("interval", "1");
  run.set("memory", std::to_string(named_least(run, 9)) + "B");
  EXPECT_EQ(anadrome_begin(run, 9), ANADROME_OK) << anadrome_last_error();
}

// Small states share blocks, as many as the memory suggests, and get no disk where it leaves too
// few of them in memory: of every rank the same, whose ever states are small or adjoint fields
// large.
TEST_F(Limits, PlansAreAlikeOnRanksWithDifferentStatesOrMemoryLeft) {
  for (const bool small : {true, false}) {
    std::vector<double> state(small ? 1 : rank() == 0 ? 1 << 18 : 100);
    for (std::int64_t memory = small ? 4 << 10 : 3 << 19; memory < (small ? 4 : 32) << 20;
         memory += small ? memory / 3 : 3 << 19) {
      SCOPED_TRACE(memory);
      RunHandle run(MPI_COMM_WORLD);
      std::vector<double> adjoint(small && rank() > 0 ? static_cast<std::size_t>(memory / 16) : 0);
      ASSERT_EQ(add_array(run, "u", state), ANADROME_OK);
      if (small) {
        ASSERT_EQ(add_array(run, "a", adjoint, ANADROME_ROLE_ADJOINT), ANADROME_OK);
      }
      run.set("memory", std::to_string(memory) + "B");
      run.set("resume", small ? "on" : "off");
      const anadrome_status status = anadrome_begin(run, small ? 100000 : 1000);
      ASSERT_TRUE(same_on_all(MPI_COMM_WORLD, status));
      if (status != ANADROME_OK) continue;
      EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, run.statistics().states_per_write));
      EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, run.statistics().checkpoint_slots));
    }
  }
}

TEST_F(Limits, StoreAllNamesTheMemoryThatItNeeds) {
  RunHandle run = opened("store_all", least_memory(model_, "revolve"));
  for (const std::int64_t steps : {2, 5, 37, 60}) {
    run.set("memory", std::to_string(least_memory(model_, "revolve")) + "B");
    EXPECT_EQ(anadrome_begin(run, steps), ANADROME_ERR_MEMORY);
    const std::int64_t needed = number_after(anadrome_last_error(), "set memory to ");
    EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, needed));
    run.set("memory", std::to_string(needed) + "B");
    expect_exact(sweep(run, steps));
    EXPECT_EQ(run.statistics().forward_steps_taken, steps);
  }
}

TEST_F(Limits, StoreAllWithUnknownStepsSaysWhenItsSlotsAreUsedUp) {
  RunHandle run = opened("store_all", 5 * least_memory(model_, "revolve"));
  const Outcome outcome = sweep(run, 60, true);
  EXPECT_EQ(outcome.status, ANADROME_ERR_MEMORY) << outcome.message;
  EXPECT_TRUE(outcome.exact);
  expect_exact(sweep(run, 4, true));
}

TEST_F(Limits, CheckpointsByNumber) {
  for (const char* schedule : {"revolve", "async", "auto"}) {
    RunHandle run = opened(schedule, 20 * least_memory(model_, "async"),
                           {{"checkpoints", "3"}, {"interval", "4"}});
    expect_exact(sweep(run, 30, schedule == std::string("async")));
    EXPECT_EQ(run.statistics().checkpoint_slots, 3);
    EXPECT_GT(run.statistics().forward_steps_taken, 30 + 20);
  }
}

TEST_F(Limits, MemoryBeyondTheMachineIsNotTouchedOrRefusedOnAllRanks) {
  for (const char* schedule : {"store_all", "revolve", "async"}) {
    for (const char* memory : {"1TiB", "7000PiB"}) {
      RunHandle run = opened(schedule, 1, {{"memory", memory}});
      expect_exact(sweep(run, 30));
      const Outcome outcome = sweep(run, 30, true);
      EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, outcome.status));
      EXPECT_TRUE(outcome.done || outcome.status == ANADROME_ERR_MEMORY) << outcome.message;
    }
  }
}

// What is counted is simulated; these are the files.
TEST_F(Limits, TheDiskOptionIsKept) {
  const std::int64_t memory = 3 * least_memory(model_, "async");
  const char *const layouts[] = {"shared", "node", "rank"}, *const intervals[] = {"auto", "1"};
  std::int64_t refused = 0, kept = 0;
  std::size_t number = 0;
  for (std::int64_t disk = std::int64_t{48} << 10; disk < std::int64_t{4} << 20; disk *= 2) {
    for (const char* layout : layouts) {
      const char* const interval = intervals[number % 2];
      const bool unknown = number++ % 4 > 1;
      SCOPED_TRACE(std::string(layout) + ", interval " + interval + ", disk " +
                   std::to_string(disk) + (unknown ? ", unknown" : ""));
      RunHandle run = opened(
          "async", memory,
          {{"layout", layout}, {"interval", interval}, {"disk", std::to_string(disk) + "B"}});
      std::int64_t most = 0;
      SweepDriver driver(run, model_, reference_);
      driver.before_action = [&](const anadrome_action&) {
        std::int64_t bytes = 0;
        for (const auto& file : fs::directory_iterator(directory() + "/anadrome"))
          bytes += static_cast<std::int64_t>(file.file_size());
        most = std::max(most, bytes);
      };
      const Outcome outcome = driver.sweep(60, unknown);
      EXPECT_LE(most, disk);
      EXPECT_LE(run.statistics().disk_bytes_reserved_all_ranks, disk);
      const bool too_small = outcome.status == ANADROME_ERR_NO_SPACE;
      ++(too_small ? refused : kept);
      if (too_small) {
        EXPECT_TRUE(has_part(outcome.message, "disk="));
        run.set("disk", "unlimited");
        expect_exact(sweep(run, 30));
      } else {
        expect_exact(outcome);
      }
    }
  }
  EXPECT_GT(kept, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace

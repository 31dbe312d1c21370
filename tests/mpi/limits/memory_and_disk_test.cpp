// SPDX-License-Identifier: BSD-2-Clause
// The limits a caller sets hold, and what does not fit is refused on every rank with the number
// that would do.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "has_part.h"
#include "mpi_main.h"
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

TEST_F(Limits, TheLeastMemoryIsNamedAndIsEnough) {
  for (const char* schedule : {"revolve", "async"}) {
    const std::int64_t least = least_memory(model_, schedule);
    EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, least));
    RunHandle run = opened(schedule, least - 1);
    EXPECT_EQ(anadrome_begin(run, 9), ANADROME_ERR_MEMORY);
    const std::string message = anadrome_last_error();
    EXPECT_TRUE(has_part(message, "at least " + std::to_string(least) + " bytes"));
    run.set("memory", std::to_string(least) + "B");
    expect_exact(sweep(run, 30));
    expect_exact(sweep(run, 30, true));
    EXPECT_EQ(run.statistics().slots, 1);
  }
}

// Where files leave no room for a state, Revolve may still have some.
TEST_F(Limits, AutoNamesTheLeastMemoryOfAllThatItMayChoose) {
  RunHandle run = opened("auto", 1);
  const std::int64_t least = named_least(run, 30);
  EXPECT_EQ(least, least_memory(model_, "revolve"));
  run.set("memory", std::to_string(least) + "B");
  expect_exact(sweep(run, 30));
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

// Small states share blocks, as many as the memory suggests: of every rank, whatever else it has.
TEST_F(Limits, BlocksAreAlikeWhereRanksHaveDifferentAmountsOfMemoryLeft) {
  for (std::int64_t memory = 4 << 10; memory < 4 << 20; memory += memory / 3) {
    SCOPED_TRACE(memory);
    RunHandle run(MPI_COMM_WORLD);
    std::vector<double> adjoint(rank() == 0 ? 0 : static_cast<std::size_t>(memory / 16));
    double state = 0;
    ASSERT_EQ(anadrome_add_field(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, &state, 1),
              ANADROME_OK);
    ASSERT_EQ(anadrome_add_field(run, "a", ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64, adjoint.data(),
                                 adjoint.size()),
              ANADROME_OK);
    run.set("memory", std::to_string(memory) + "B");
    run.set("resume", "on");
    const anadrome_status status = anadrome_begin(run, 100000);
    ASSERT_TRUE(same_on_all(MPI_COMM_WORLD, status));
    if (status != ANADROME_OK) continue;
    EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, run.statistics().states_per_write));
    EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, run.statistics().checkpoint_slots));
  }
}

// Small states get no disk where it leaves too few of them in memory; large ones do. Which they are
// is said by the largest of all ranks.
TEST_F(Limits, AutoChoosesTheSameWhereStatesAreSmallOnSomeRanksAlone) {
  std::vector<double> state(static_cast<std::size_t>(rank() == 0 ? 1 << 18 : 100));
  for (std::int64_t memory = 3 << 19; memory < 32 << 20; memory += 3 << 19) {
    SCOPED_TRACE(memory);
    RunHandle run(MPI_COMM_WORLD);
    ASSERT_EQ(anadrome_add_field(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, state.data(),
                                 state.size()),
              ANADROME_OK);
    run.set("memory", std::to_string(memory) + "B");
    const anadrome_status status = anadrome_begin(run, 1000);
    ASSERT_TRUE(same_on_all(MPI_COMM_WORLD, status));
    if (status != ANADROME_OK) continue;
    EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, run.statistics().checkpoint_slots));
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
  for (const bool unknown : {false, true}) {
    for (const char* schedule : {"revolve", "async", "auto"}) {
      RunHandle run = opened(schedule, 20 * least_memory(model_, "async"),
                             {{"checkpoints", "3"}, {"interval", "4"}});
      expect_exact(sweep(run, 30, unknown));
      EXPECT_EQ(run.statistics().checkpoint_slots, 3);
      EXPECT_GT(run.statistics().forward_steps_taken, 30 + 20);
    }
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

TEST_F(Limits, TheDiskOptionIsKept) {
  const std::int64_t memory = 3 * least_memory(model_, "async");
  std::int64_t refused = 0, kept = 0;
  for (const char* layout : {"shared", "node", "rank"}) {
    for (const char* interval : {"auto", "1", "2"}) {
      for (const bool unknown : {false, true}) {
        for (std::int64_t disk = std::int64_t{48} << 10; disk < std::int64_t{4} << 20; disk *= 2) {
          SCOPED_TRACE(std::string(layout) + ", interval " + interval + ", disk " +
                       std::to_string(disk) + (unknown ? ", unknown" : ""));
          RunHandle run = opened(
              "async", memory,
              {{"layout", layout}, {"interval", interval}, {"disk", std::to_string(disk) + "B"}});
          std::int64_t most = 0;
          SweepDriver driver(run, model_, reference_);
          driver.before_action = [&](const anadrome_action&) {
            std::int64_t bytes = 0;
            for (const auto& file : fs::directory_iterator(directory() + "/anadrome")) {
              bytes += static_cast<std::int64_t>(file.file_size());
            }
            most = std::max(most, bytes);
          };
          const Outcome outcome = driver.sweep(60, unknown);
          EXPECT_LE(most, disk);
          EXPECT_LE(run.statistics().disk_bytes_reserved_all_ranks, disk);
          if (outcome.status == ANADROME_ERR_NO_SPACE) {
            ++refused;
            EXPECT_TRUE(has_part(outcome.message, "disk="));
          } else {
            ++kept;
            expect_exact(outcome);
          }
        }
      }
    }
  }
  EXPECT_GT(kept, 0);
  EXPECT_GT(refused, 0);
}

TEST_F(Limits, ADiskTooSmallForOneStateIsRefusedAndAllOthersGoOn) {
  RunHandle run =
      opened("async", 2 * least_memory(model_, "async"), {{"interval", "1"}, {"disk", "4KiB"}});
  EXPECT_EQ(anadrome_begin(run, 30), ANADROME_ERR_NO_SPACE);
  EXPECT_TRUE(has_part(anadrome_last_error(), "disk=4096"));
  run.set("disk", "unlimited");
  expect_exact(sweep(run, 30));
}

}  // namespace

// SPDX-License-Identifier: BSD-2-Clause
// A run that goes on with more memory, or less, than it began with: its blocks are those of the
// process before, and those of its next sweep are its own.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "has_part.h"
#include "mpi_main.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

constexpr std::int64_t kSteps = 100;

// For a few states to a block, and for more.
constexpr const char *kLittle = "1200KiB", *kMuch = "3600KiB";

class OtherMemory : public testing::Test {
 protected:
  OtherMemory() : model_(MPI_COMM_WORLD, Counts{0, 0, 2000, 5600, 0}), reference_(model_, kSteps) {}

  RunHandle prepared(const char* memory) {
    return {model_,
            {{"schedule", "async"},
             {"interval", "1"},
             {"resume", "on"},
             {"checkpoint_interval", "1000"},
             {"memory", memory}}};
  }
  // By another process, forward at step 60 or later; with so many states to a block.
  std::int64_t leave_a_run(const char* memory) {
    RunHandle run = prepared(memory);
    SweepDriver driver(run, model_, reference_);
    driver.before_action = [&](const anadrome_action& action) {
      if (action.last >= 60) anadrome_request_stop(run);
    };
    EXPECT_EQ(driver.sweep(kSteps).status, ANADROME_STOPPED);
    return run.statistics().states_per_write;
  }
  void expect_to_end(RunHandle& run, std::int64_t states) {
    SweepDriver driver(run, model_, reference_);
    EXPECT_TRUE(driver.go_on(kSteps).done);
    EXPECT_EQ(run.statistics().states_per_write, states);
  }

  CoupledModel model_;
  const Reference reference_;
};

TEST_F(OtherMemory, IsThatOfTheNextSweep) {
  for (const auto& [first, second] : {std::pair{kLittle, kMuch}, {kMuch, kLittle}}) {
    SCOPED_TRACE(first);
    const std::int64_t states = leave_a_run(first);
    RunHandle run = prepared(second);
    expect_to_end(run, states);
    SweepDriver(run, model_, reference_).exact_sweep(kSteps);
    EXPECT_NE(run.statistics().states_per_write, states);
  }
}

TEST_F(OtherMemory, ThatIsTooLittleIsSaidAndLeavesTheRunForTheNextBegin) {
  const std::int64_t states = leave_a_run(kMuch);
  RunHandle run = prepared("100KiB");
  EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_MEMORY);
  const std::string message = anadrome_last_error();
  EXPECT_TRUE(has_part(message, "in blocks of " + std::to_string(states)));
  run.set("memory", std::to_string(number_after(message, "at least ")) + "B");
  expect_to_end(run, states);
}

}  // namespace

// SPDX-License-Identifier: BSD-2-Clause
// States of a few bytes: many of them share one block and one disk write.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "mpi_main.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

class SmallStates : public testing::Test {
 protected:
  SmallStates() : model_(MPI_COMM_WORLD, Counts{0, 1, 1, 0, 0}) { model_.couple_every = 64; }

  CoupledModel model_;  // 24 bytes
};

TEST_F(SmallStates, ComeBackFromDiskManyToAWrite) {
  struct Case {
    const char* memory;
    std::int64_t steps;
  };
  const Reference reference(model_, 20000);
  // Exchanged fields have their live states in buffers beside the pool.
  for (const auto& [interval, exchanged] :
       {std::pair("1", +kNoField), {"3", +kNoField}, {"1", +kAllFields}, {"1", +kInt64s}}) {
    model_.exchanged = exchanged;
    // The smaller memory holds few blocks.
    for (const auto& [memory, steps] : {Case{"512KiB", 20000}, Case{"130KiB", 7000}}) {
      for (const bool unknown : {false, true}) {
        SCOPED_TRACE(std::string("interval ") + interval + ", memory " + memory + ", exchanged " +
                     std::to_string(exchanged) + (unknown ? ", unknown steps" : ""));
        RunHandle run(model_, {{"schedule", "async"}, {"interval", interval}, {"memory", memory}});
        SweepDriver driver(run, model_, reference);
        driver.exact_sweep(steps, unknown);
        const anadrome_stats stats = run.statistics();
        EXPECT_GT(stats.states_per_write, 1);
        EXPECT_LT(stats.agreements, steps / 4) << "one for each block, none for each step";
        EXPECT_GE(stats.slots, 2 * stats.states_per_write);
        EXPECT_GT(stats.bytes_written, 0);
        EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
        EXPECT_EQ(stats.forward_steps_taken, stats.forward_steps_planned);
      }
    }
  }
}

TEST_F(SmallStates, ComeBackFromDiskWithAMeasuredInterval) {
  constexpr std::int64_t kSteps = 20000;
  const Reference reference(model_, kSteps);
  RunHandle run(model_, {{"schedule", "async"}, {"memory", "256KiB"}});
  SweepDriver driver(run, model_, reference);
  for (const bool unknown : {false, true}) {
    driver.exact_sweep(kSteps, unknown);
  }
}

// A run without any bytes is of little use, but nothing in it is undefined.
TEST(EmptyStates, GoThroughEverySchedule) {
  CoupledModel model(MPI_COMM_WORLD, Counts{});
  const Reference reference(model, 17);
  for (const char* schedule : {"store_all", "revolve", "async"}) {
    RunHandle run(MPI_COMM_WORLD);
    EXPECT_EQ(model.add_fields(run), ANADROME_OK);
    EXPECT_EQ(anadrome_add_field(run, "empty", ANADROME_ROLE_STATE, ANADROME_FLOAT64, nullptr, 0),
              ANADROME_OK);
    run.set("schedule", schedule);
    run.set("interval", "2");
    run.set("memory", "4KiB");
    SweepDriver driver(run, model, reference);
    driver.exact_sweep(17);
  }
}

}  // namespace

// SPDX-License-Identifier: BSD-2-Clause
// One run object, used over and over: other lengths, other options, sweeps left half-way.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "mpi_main.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

class ManySweeps : public testing::Test {
 protected:
  ManySweeps()
      : model_(MPI_COMM_WORLD, Counts{3, 1, 2, static_cast<std::size_t>(5 + rank()), 9}),
        reference_(model_, 60) {}

  static void expect_exact(const Outcome& outcome) {
    EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
  }

  // So many blocks on disk's terms; they hold at least as many states without disk.
  void set_blocks(RunHandle& run, std::int64_t blocks) {
    run.set("memory", std::to_string(blocks * least_memory(model_, "async")) + "B");
  }

  CoupledModel model_;
  const Reference reference_;
};

TEST_F(ManySweeps, OptionsMayChangeBetweenThem) {
  RunHandle run(MPI_COMM_WORLD);
  EXPECT_EQ(model_.add_fields(run), ANADROME_OK);
  SweepDriver driver(run, model_, reference_);
  const char* schedules[] = {"async", "revolve", "async", "store_all", "auto"};
  const char* layouts[] = {"shared", "rank", "node"};
  const char* intervals[] = {"1", "3", "auto", "7"};
  const char* transports[] = {"auto", "buffered", kTransports.back()};
  for (std::size_t i = 0; i < 24; ++i) {
    SCOPED_TRACE(i);
    run.set("schedule", schedules[i % 5]);
    run.set("layout", layouts[i % 3]);
    run.set("interval", intervals[i % 4]);
    run.set("transport", transports[i / 2 % 3]);
    set_blocks(run,
               schedules[i % 5] == std::string("store_all") ? 64 : 1 + static_cast<int>(i * 5 % 7));
    expect_exact(driver.sweep(static_cast<std::int64_t>(i * 17 % 61), i % 4 == 2));
  }
}

TEST_F(ManySweeps, ADirectoryOfItsOwnFollowsTheOption) {
  RunHandle run(model_, {{"schedule", "async"}, {"interval", "1"}});
  set_blocks(run, 2);
  SweepDriver driver(run, model_, reference_);
  for (const char* name : {"first", "second"}) {
    run.set("name", name);
    expect_exact(driver.sweep(17));
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TRUE(std::filesystem::exists(directory() + "/" + name));
    EXPECT_FALSE(std::filesystem::exists(directory() + "/first") && std::string(name) == "second");
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(ManySweeps, NobodyLooksForRanksOnceTheWatchdogIsOff) {
  RunHandle run(model_,
                {{"schedule", "revolve"}, {"directory", directory()}, {"watchdog", "1000"}});
  SweepDriver driver(run, model_, reference_);
  expect_exact(driver.sweep(20));
  run.set("watchdog", "0");
  expect_exact(driver.sweep(20));
  EXPECT_TRUE(std::filesystem::is_empty(directory()));
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(ManySweeps, TimesAreInOrderInTheMiddleOfASecondReverseSweep) {
  RunHandle run(model_, {{"schedule", "revolve"}});
  SweepDriver driver(run, model_, reference_);
  expect_exact(driver.sweep(17));
  driver.before_action = [&](const anadrome_action&) {
    const anadrome_stats stats = run.statistics();
    EXPECT_GE(stats.seconds_adjoint, 0);
    EXPECT_GE(stats.seconds_forward, 0);
    EXPECT_LE(stats.seconds_forward, stats.seconds_total);
  };
  expect_exact(driver.sweep_again());
}

}  // namespace

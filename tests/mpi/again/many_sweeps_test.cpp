// SPDX-License-Identifier: BSD-2-Clause
// One run object, used over and over: other lengths, other options, sweeps left half-way.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "mpi_main.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

struct Kind {
  const char* schedule;
  std::int64_t steps;
  bool unknown;  ///< n is told by finish_forward
  const char* interval;
  int rewinds;  ///< after the first; as `passes`: no write of an anchor is taken back
};

// Predictions, lost anchors and sweeps without a disk, one after another.
constexpr Kind kFirst = {"revolve", 60, false, "auto", 0};
constexpr Kind kKinds[] = {
    {"async", 50, true, "7", 0},      {"store_all", 20, false, "auto", 2},
    {"async", 60, false, "5", 1},     {"async", 40, false, "9", 0},
    {"revolve", 30, true, "auto", 0}, {"async", 45, false, "4", 0},
    {"revolve", 25, true, "auto", 0}, kFirst,
};

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

  anadrome_stats sweep(RunHandle& run, const Kind& kind) {
    run.set("schedule", kind.schedule);
    run.set("interval", kind.interval);
    run.set("passes", std::to_string(kind.rewinds));
    set_blocks(run, std::string(kind.schedule) == "store_all" ? 64 : 6);
    SweepDriver driver(run, model_, reference_);
    expect_exact(driver.sweep(kind.steps, kind.unknown));
    for (int i = 0; i < kind.rewinds; ++i) expect_exact(driver.sweep_again());
    return run.statistics();
  }

  CoupledModel model_;
  const Reference reference_;
};

void expect_same(const anadrome_stats& after, const anadrome_stats& fresh) {
  EXPECT_STREQ(after.schedule, fresh.schedule);
  EXPECT_STREQ(after.layout, fresh.layout);
  EXPECT_STREQ(after.transport, fresh.transport);
  EXPECT_EQ(after.steps, fresh.steps);
  EXPECT_EQ(after.phase, fresh.phase);
  EXPECT_EQ(after.slots, fresh.slots);
  EXPECT_EQ(after.checkpoint_slots, fresh.checkpoint_slots);
  EXPECT_EQ(after.prefetch_depth, fresh.prefetch_depth);
  EXPECT_EQ(after.interval, fresh.interval);
  EXPECT_EQ(after.anchors, fresh.anchors);
  EXPECT_EQ(after.anchors_lost, fresh.anchors_lost);
  EXPECT_EQ(after.writes_failed, fresh.writes_failed);
  EXPECT_EQ(after.states_per_write, fresh.states_per_write);
  EXPECT_EQ(after.forward_steps_taken, fresh.forward_steps_taken);
  EXPECT_EQ(after.forward_steps_planned, fresh.forward_steps_planned);
  EXPECT_EQ(after.forward_steps_remaining, fresh.forward_steps_remaining);
  EXPECT_EQ(after.adjoint_steps_taken, fresh.adjoint_steps_taken);
  EXPECT_EQ(after.states_kept, fresh.states_kept);
  EXPECT_EQ(after.states_restored, fresh.states_restored);
  EXPECT_EQ(after.direct_io, fresh.direct_io);
  EXPECT_EQ(after.predicted_at_step, fresh.predicted_at_step);
  EXPECT_EQ(after.seconds_predicted > 0, fresh.seconds_predicted > 0);
  // An adjoint step was measured before; a sweep without a prediction guessed nothing.
  EXPECT_EQ(after.adjoint_guessed, 0);
}

// What a run says of a sweep after others, of other kinds, is what a fresh run says of it.
TEST_F(ManySweeps, OfOtherKindsLeaveNothingBehind) {
  RunHandle used(model_, {{"name", "used"}});
  sweep(used, kFirst);  // it guesses what an adjoint step takes
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(std::string(kind.schedule) + " " + std::to_string(kind.steps));
    RunHandle fresh(model_, {{"name", "fresh"}});
    const anadrome_stats expected = sweep(fresh, kind);
    expect_same(sweep(used, kind), expected);
  }
}

TEST_F(ManySweeps, OptionsMayChangeBetweenThem) {
  const char* schedules[] = {"async", "revolve", "async", "store_all", "auto"};
  const char* layouts[] = {"shared", "rank", "node"};
  const char* intervals[] = {"1", "3", "auto", "7"};
  const char* transports[] = {"auto", "buffered", kTransports.back()};
  RunHandle run(model_, {});
  SweepDriver driver(run, model_, reference_);
  for (std::size_t i = 0; i < 12; ++i) {
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

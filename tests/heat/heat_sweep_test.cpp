// SPDX-License-Identifier: BSD-2-Clause
// The heat-equation example over every schedule, interval, layout, transport and way of stating the
// number of steps, on the ranks this program is started with. Each gradient must have the bits of
// the one computed on a single rank with every state kept.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "heat_job.h"
#include "mpi_main.h"

namespace {

using namespace anadrome::test;

using Choice = std::tuple<const char*, const char*, const char*, const char*, bool>;

class HeatSweep : public testing::TestWithParam<Choice> {};

TEST_P(HeatSweep, GivesTheSerialGradient) {
  const auto [schedule, interval, layout, transport, unknown] = GetParam();
  Job job(MPI_COMM_WORLD, schedule);
  job.set("interval", interval);
  job.set("layout", layout);
  job.set("transport", transport);
  job.options.steps_unknown = unknown;

  job.run();

  expect_exact_sweep(job);
  EXPECT_STREQ(job.result.stats.schedule, schedule);
}

std::string choice_name(const testing::TestParamInfo<Choice>& parameter) {
  const auto& [schedule, interval, layout, transport, unknown] = parameter.param;
  return std::string(schedule) + "_interval_" + interval + "_" + layout + "_" + transport +
         (unknown ? "_unknown" : "_known");
}

std::vector<const char*> transports() {
  std::vector<const char*> all = {direct_io(), "buffered"};
  if (kTransports.size() > 1) all.push_back(kTransports.back());
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, HeatSweep,
                         testing::Combine(testing::Values("store_all", "revolve", "async"),
                                          testing::Values("auto", "1", "4", "7"),
                                          testing::Values("shared", "node", "rank"),
                                          testing::ValuesIn(transports()), testing::Bool()),
                         choice_name);

class HeatSchedule : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, HeatSchedule, testing::Values("store_all", "revolve", "async"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST_P(HeatSchedule, GivesTheSameGradientInEverySweepOfARun) {
  Job job(MPI_COMM_WORLD, GetParam());
  job.options.repeat = 3;

  job.run();

  expect_exact_sweep(job);
}

// States below 1 MiB: in little memory they are handed over, in more they share blocks.
TEST_P(HeatSchedule, GivesTheSameGradientWithoutCopies) {
  for (const char* interval : {"1", "4", "auto"}) {
    if (std::string(interval) != "1" && std::string(GetParam()) != "async") continue;
    for (const int steps_unknown : {0, 1}) {
      for (const char* transport : kTransports) {
        Job job(MPI_COMM_WORLD, GetParam());
        job.set("interval", interval);
        job.set("transport", transport);
        job.options.zero_copy = 1;
        job.options.steps_unknown = steps_unknown;
        job.options.repeat = 2;

        job.run();

        expect_exact_sweep(job);
      }
    }
  }
}

// With 1 MiB or more on a rank each state has a block of its own in any memory.
TEST_P(HeatSchedule, GivesTheSameGradientWithoutCopiesOfLargeStates) {
  if (ranks() > 2) return;
  for (const int steps_unknown : {0, 1}) {
    for (const char* memory : {"5MiB", "64MiB"}) {
      if (std::string(GetParam()) == "store_all" && std::string(memory) == "5MiB") continue;
      Job job(MPI_COMM_WORLD, GetParam());
      job.options.cells_x = 512;
      job.options.cells_y = 264 * ranks();
      job.options.steps = 16;
      job.options.steps_unknown = steps_unknown;
      job.options.zero_copy = 1;
      job.set("memory", memory);
      job.set("interval", "2");

      job.run();

      expect_exact_gradient(job);
      EXPECT_EQ(job.result.stats.states_per_write, 1);
    }
  }
}

// The integrators, with and without the stages of a step as a tape, in little memory and in memory
// for the tape of every step. With unknown steps store_all keeps every tape, whether or not all
// fit.
TEST(HeatTape, GivesTheSerialGradientUnderEverySchedule) {
  for (const auto& [integrator, tape] : {std::pair{HEAT_EULER, 1}, {HEAT_RK4, 0}, {HEAT_RK4, 1}}) {
    for (const std::string schedule : {"store_all", "revolve", "async", "auto", "mixed"}) {
      for (const std::string memory : {"", "64MiB"}) {
        for (const int choice : {0, 1, 2, 3}) {
          const bool unknown = choice % 2 != 0, zero_copy = choice / 2 != 0;
          if (schedule == "mixed" && (tape == 0 || unknown)) continue;
          if (schedule == "store_all" && tape != 0 && unknown && memory.empty()) continue;
          SCOPED_TRACE(schedule + " memory=" + memory + " choice " + std::to_string(choice));
          Job job(MPI_COMM_WORLD, schedule);
          job.options.integrator = integrator;
          job.options.tape = tape;
          job.options.steps_unknown = unknown;
          job.options.zero_copy = zero_copy;
          job.options.repeat = 2;
          if (!memory.empty()) job.set("memory", memory);

          job.run();

          expect_exact_sweep(job);
        }
      }
    }
  }
}

TEST(HeatJob, AcceptsRanksWithoutCells) {
  for (const int zero_copy : {0, 1}) {
    for (const char* memory : {"", "64MiB"}) {
      Job job(MPI_COMM_WORLD, "async");
      job.options.cells_x = 40;
      job.options.cells_y = 1;
      job.options.zero_copy = zero_copy;
      if (*memory != '\0') job.set("memory", memory);

      job.run();

      expect_exact_gradient(job);
    }
  }
}

TEST(HeatJob, AcceptsSweepsOfNoneAndOfOneStep) {
  for (const std::int64_t steps : {0, 1})
    for (const int choice : {0, 1, 2, 3}) {
      Job job(MPI_COMM_WORLD, "async");
      job.options.steps = steps;
      job.options.steps_unknown = choice % 2;
      job.options.zero_copy = choice / 2;

      job.run();

      expect_exact_gradient(job);
    }
}

// A hot spot, of whose states only the cells that heat has reached are kept.
void spreading(const std::string& schedule) {
  Job job(MPI_COMM_WORLD, schedule);
  job.options.adaptive = 1;
  job.options.repeat = 2;
  job.set("memory", "4MiB");
  job.run();
  SCOPED_TRACE(schedule);
  expect_exact_gradient(job);
}

TEST(HeatAdaptive, GivesTheSerialGradientInEverySchedule) {
  for (const char* schedule : {"store_all", "revolve", "async"}) spreading(schedule);
}

TEST(HeatAdaptive, IsNotAStateThatIsExchanged) {
  Job job(MPI_COMM_WORLD, "revolve");
  job.options.adaptive = job.options.zero_copy = 1;
  EXPECT_EQ(job.run(), EXAMPLE_USAGE);
}

}  // namespace

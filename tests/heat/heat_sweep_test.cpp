// SPDX-License-Identifier: BSD-2-Clause
// The heat-equation example with every schedule, layout and transport, on the ranks this program is
// started with. Each gradient, of the second sweep of a run, must have the bits of the one computed
// on a single rank with every state kept. All combinations are simulated, of another model.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heat_job.h"
#include "mpi_main.h"

namespace {

using namespace anadrome::test;

struct Choice {
  const char *schedule, *interval, *layout, *transport;
  bool unknown = false;
  heat_integrator integrator = HEAT_EULER;
  int tape = 0, zero_copy = 0;
  const char* memory = "";  ///< empty: of six states
};

std::string text_of(const Choice& choice) {
  std::string text;
  for (const char* word : {choice.schedule, choice.interval, choice.layout, choice.transport})
    text += word + std::string("_");
  return text + (choice.unknown ? "unknown" : "known") + std::to_string(choice.integrator) +
         std::to_string(choice.tape) + std::to_string(choice.zero_copy) + choice.memory;
}

void expect_serial_gradient(const Choice& choice) {
  SCOPED_TRACE(text_of(choice));
  Job job(MPI_COMM_WORLD, choice.schedule);
  job.set("interval", choice.interval);
  job.set("layout", choice.layout);
  job.set("transport", choice.transport);
  if (*choice.memory != '\0') job.set("memory", choice.memory);
  job.options.steps_unknown = choice.unknown ? 1 : 0;
  job.options.integrator = choice.integrator;
  job.options.tape = choice.tape;
  job.options.zero_copy = choice.zero_copy;
  job.options.repeat = 2;

  job.run();

  expect_exact_sweep(job);
  EXPECT_TRUE(std::string(choice.schedule) == "auto" ||
              job.result.stats.schedule == std::string(choice.schedule));
}

TEST(HeatSweep, GivesTheSerialGradientInMemory) {
  for (const bool unknown : {false, true}) {
    for (const int zero_copy : {0, 1}) {
      for (const char* schedule : {"store_all", "revolve"}) {
        expect_serial_gradient(
            {schedule, "auto", "shared", "auto", unknown, HEAT_EULER, 0, zero_copy});
      }
    }
  }
}

// Every layout and transport, which a simulation does not have, each with some interval. With zero
// copies states are handed over in little memory, and share blocks in more.
TEST(HeatSweep, GivesTheSerialGradientFromDisk) {
  std::vector<const char*> transports = {direct_io(), "buffered"};
  if (kTransports.size() > 1) transports.push_back(kTransports.back());
  const char* const intervals[] = {"auto", "1", "4", "7"};
  std::size_t number = 0;
  for (const char* layout : {"shared", "node", "rank"}) {
    for (const char* transport : transports) {
      for (const int zero_copy : {0, 1}) {
        expect_serial_gradient({"async", intervals[number % 4], layout, transport,
                                number / 2 % 2 != 0, HEAT_EULER, 0, zero_copy,
                                zero_copy != 0 && number % 4 > 1 ? "64MiB" : ""});
        ++number;
      }
    }
  }
}

// With 1 MiB or more on a rank each state has a block of its own in any memory.
TEST(HeatSweep, GivesTheSameGradientWithoutCopiesOfLargeStates) {
  if (ranks() > 2) return;
  for (const char* schedule : {"store_all", "revolve", "async"}) {
    const bool all = std::string(schedule) == "store_all";
    Job job(MPI_COMM_WORLD, schedule);
    job.options.cells_x = 512;
    job.options.cells_y = 264 * ranks();
    job.options.steps = 16;
    job.options.steps_unknown = all ? 0 : 1;
    job.options.zero_copy = 1;
    job.set("memory", all ? "64MiB" : "5MiB");
    job.set("interval", "2");

    job.run();

    expect_exact_gradient(job);
    EXPECT_EQ(job.result.stats.states_per_write, 1);
  }
}

// The integrators, with and without the stages of a step as a tape, in little memory and in memory
// for the tape of every step. With unknown steps store_all keeps every tape, whether or not all
// fit.
TEST(HeatTape, GivesTheSerialGradientUnderEverySchedule) {
  int number = 0;
  for (const auto& [integrator, tape] : {std::pair{HEAT_EULER, 1}, {HEAT_RK4, 0}, {HEAT_RK4, 1}}) {
    for (const char* schedule : {"store_all", "revolve", "async", "auto", "mixed"}) {
      for (const char* memory : {"", "64MiB"}) {
        const bool mixed = std::string(schedule) == "mixed", little = *memory == '\0';
        if (mixed && tape == 0) continue;
        const bool needs_all = std::string(schedule) == "store_all" && tape != 0 && little;
        const bool unknown = !mixed && !needs_all && number++ % 2 != 0;
        expect_serial_gradient({schedule, "auto", "shared", "auto", unknown, integrator, tape,
                                number / 2 % 2, memory});
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
    for (const int choice : {0, 1}) {
      Job job(MPI_COMM_WORLD, "async");
      job.options.steps = steps;
      job.options.steps_unknown = job.options.zero_copy = choice;

      job.run();

      expect_exact_gradient(job);
    }
}

// A hot spot, of whose states only the cells that heat has reached are kept.
TEST(HeatAdaptive, GivesTheSerialGradientInEverySchedule) {
  for (const char* schedule : {"store_all", "revolve", "async"}) {
    SCOPED_TRACE(schedule);
    Job job(MPI_COMM_WORLD, schedule);
    job.options.adaptive = 1;
    job.options.repeat = 2;
    job.set("memory", "4MiB");
    job.run();
    expect_exact_gradient(job);
  }
}

TEST(HeatAdaptive, IsNotAStateThatIsExchanged) {
  Job job(MPI_COMM_WORLD, "revolve");
  job.options.adaptive = job.options.zero_copy = 1;
  EXPECT_EQ(job.run(), EXAMPLE_USAGE);
}

}  // namespace

// SPDX-License-Identifier: BSD-2-Clause
// The integrators of the heat-equation example, with and without the stages of a step as a tape:
// the bits of the gradient over the schedules.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <tuple>

#include "heat_job.h"
#include "mpi_main.h"

namespace {

using namespace anadrome::test;

using Choice = std::tuple<heat_integrator, bool>;
class HeatTape : public testing::TestWithParam<Choice> {
 protected:
  static Job job(const std::string& schedule) {
    Job job(MPI_COMM_WORLD, schedule);
    job.options.integrator = std::get<0>(GetParam());
    job.options.tape = std::get<1>(GetParam()) ? 1 : 0;
    return job;
  }

  // With unknown steps store_all keeps every tape, whether or not all of them will fit.
  static bool must_fit(const std::string& schedule) {
    return schedule == "store_all" && std::get<1>(GetParam());
  }
};

std::string choice_name(const testing::TestParamInfo<Choice>& parameter) {
  const auto& [integrator, tape] = parameter.param;
  return std::string(integrator == HEAT_RK4 ? "rk4" : "euler") + (tape ? "_tape" : "_recomputed");
}

INSTANTIATE_TEST_SUITE_P(All, HeatTape,
                         testing::Values(Choice{HEAT_EULER, true}, Choice{HEAT_RK4, false},
                                         Choice{HEAT_RK4, true}),
                         choice_name);

// In little memory, and in memory for the tape of every step.
TEST_P(HeatTape, GivesTheSerialGradientUnderEverySchedule) {
  for (const char* schedule : {"store_all", "revolve", "async", "auto"})
    for (const char* memory : {"", "64MiB"})
      for (const bool unknown : {false, true}) {
        if (unknown && *memory == '\0' && must_fit(schedule)) continue;
        Job sweep = job(schedule);
        sweep.options.steps_unknown = unknown;
        if (*memory != '\0') sweep.set("memory", memory);

        sweep.run();

        SCOPED_TRACE(std::string(schedule) + " memory=" + memory +
                     " unknown=" + std::to_string(unknown));
        expect_exact_sweep(sweep);
      }
}

TEST_P(HeatTape, GivesTheSerialGradientWithAnyAnchors) {
  for (const char* interval : {"1", "4"})
    for (const char* transport : kTransports) {
      Job sweep = job("async");
      sweep.set("interval", interval);
      sweep.set("transport", transport);
      sweep.options.repeat = 2;

      sweep.run();

      SCOPED_TRACE(std::string("interval=") + interval + " transport=" + transport);
      expect_exact_sweep(sweep);
    }
}

TEST_P(HeatTape, GivesTheSerialGradientWithoutCopiesOfStates) {
  for (const char* schedule : {"store_all", "revolve", "async"})
    for (const bool unknown : {false, true}) {
      if (unknown && must_fit(schedule)) continue;
      Job sweep = job(schedule);
      sweep.options.zero_copy = 1;
      sweep.options.steps_unknown = unknown;
      sweep.options.repeat = 2;

      sweep.run();

      SCOPED_TRACE(std::string(schedule) + " unknown=" + std::to_string(unknown));
      expect_exact_sweep(sweep);
    }
}

TEST_P(HeatTape, GivesTheSerialGradientWhereStatesAndTapesNest) {
  for (const char* schedule : {"mixed", "async"}) {
    if (schedule == std::string("mixed") && !std::get<1>(GetParam())) continue;
    for (const int zero_copy : {0, 1})
      for (const char* layout : {"shared", "rank"}) {
        Job sweep = job(schedule);
        sweep.options.zero_copy = zero_copy;
        sweep.options.repeat = 2;
        sweep.set("layout", layout);

        sweep.run();

        SCOPED_TRACE(std::string(schedule) + " zero_copy=" + std::to_string(zero_copy) + " " +
                     layout);
        expect_exact_sweep(sweep);
      }
  }
}

TEST_P(HeatTape, AcceptsRanksWithoutCellsAndFewSteps) {
  for (const std::int64_t steps : {0, 1, 30})
    for (const int zero_copy : {0, 1}) {
      Job sweep = job("async");
      sweep.options.cells_x = 40;
      sweep.options.cells_y = 1;
      sweep.options.steps = steps;
      sweep.options.zero_copy = zero_copy;

      sweep.run();

      expect_exact_gradient(sweep);
    }
}

}  // namespace

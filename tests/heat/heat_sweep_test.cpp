// The heat-equation example over every schedule, interval, layout, transport and way of stating the
// number of steps, on the ranks this program is started with. Each gradient must have the bits of
// the one computed with every state kept, and of the one computed on a single rank.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <tuple>

#include "heat_job.h"
#include "mpi_main.h"

namespace {

using anadrome::test::direct_io;
using anadrome::test::directory;
using anadrome::test::expect_exact_gradient;
using anadrome::test::Job;
using anadrome::test::kSteps;

using Choice = std::tuple<const char*, const char*, const char*, const char*, const char*, bool>;

class HeatSweep : public testing::TestWithParam<Choice> {};

TEST_P(HeatSweep, GivesTheSerialGradient) {
  const auto [schedule, interval, layout, direct, transport, unknown] = GetParam();
  Job job(MPI_COMM_WORLD, schedule);
  job.set("interval", interval);
  job.set("layout", layout);
  job.set("direct", direct);
  job.set("transport", transport);
  job.options.steps_unknown = unknown;

  job.run();

  expect_exact_gradient(job);
  EXPECT_STREQ(job.result.stats.schedule, schedule);
}

std::string choice_name(const testing::TestParamInfo<Choice>& parameter) {
  const auto& [schedule, interval, layout, direct, transport, unknown] = parameter.param;
  std::string name = std::string(schedule) + "_interval_" + interval + "_" + layout + "_direct_" +
                     direct + "_" + transport + (unknown ? "_unknown" : "_known");
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, HeatSweep,
                         testing::Combine(testing::Values("store_all", "revolve", "async"),
                                          testing::Values("auto", "1", "4", "7"),
                                          testing::Values("shared", "node", "rank"),
                                          testing::Values(direct_io(), "off"),
                                          testing::Values("direct", "mpio"), testing::Bool()),
                         choice_name);

class HeatSchedule : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, HeatSchedule, testing::Values("store_all", "revolve", "async"),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST_P(HeatSchedule, GivesTheSameGradientInEverySweepOfARun) {
  Job job(MPI_COMM_WORLD, GetParam());
  job.options.repeat = 3;

  job.run();

  expect_exact_gradient(job);
}

TEST_P(HeatSchedule, GivesTheSameGradientWithCallbacks) {
  for (const int unknown : {0, 1}) {
    Job job(MPI_COMM_WORLD, GetParam());
    job.options.callbacks = 1;
    job.options.steps_unknown = unknown;

    job.run();

    expect_exact_gradient(job);
  }
}

// States below 1 MiB: in little memory they are handed over, in more they share blocks.
TEST_P(HeatSchedule, GivesTheSameGradientWithoutCopies) {
  for (const char* interval : {"1", "4", "auto"}) {
    if (std::string(interval) != "1" && std::string(GetParam()) != "async") continue;
    for (const int callbacks : {0, 1}) {
      for (const char* transport : {"direct", "mpio"}) {
        Job job(MPI_COMM_WORLD, GetParam());
        job.set("interval", interval);
        job.set("transport", transport);
        job.options.zero_copy = 1;
        job.options.callbacks = callbacks;
        job.options.steps_unknown = callbacks;
        job.options.repeat = 2;

        job.run();

        expect_exact_gradient(job);
      }
    }
  }
}

// With 1 MiB or more on a rank each state has a block of its own in any memory.
TEST_P(HeatSchedule, GivesTheSameGradientWithoutCopiesOfLargeStates) {
  if (anadrome::test::ranks() > 2) return;
  for (const int steps_unknown : {0, 1}) {
    for (const char* memory : {"5MiB", "64MiB"}) {
      if (std::string(GetParam()) == "store_all" && std::string(memory) == "5MiB") continue;
      Job job(MPI_COMM_WORLD, GetParam());
      job.options.cells_x = 512;
      job.options.cells_y = 264 * anadrome::test::ranks();
      job.options.steps = 16;
      job.options.steps_unknown = steps_unknown;
      job.options.zero_copy = 1;
      job.set("memory", memory);
      job.set("interval", "2");

      job.run();

      EXPECT_EQ(job.result.exit_code, HEAT_FINE) << job.result.message;
      EXPECT_EQ(job.result.verified, 1);
      EXPECT_EQ(job.result.stats.states_per_write, 1);
      EXPECT_LE(job.result.stats.peak_library_bytes, job.result.stats.memory_bytes);
    }
  }
}

TEST_P(HeatSchedule, GivesTheSameGradientWithCostlierSteps) {
  Job job(MPI_COMM_WORLD, GetParam());
  job.options.work = 5;

  job.run();

  expect_exact_gradient(job);
}

TEST_P(HeatSchedule, LeavesNoFilesBehind) {
  Job job(MPI_COMM_WORLD, GetParam());

  job.run();

  EXPECT_EQ(job.result.exit_code, HEAT_FINE) << job.result.message;
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_TRUE(std::filesystem::is_empty(directory()));
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(HeatGradient, PassesTheTaylorTest) {
  Job job(MPI_COMM_WORLD, "async");
  job.options.taylor = 1;

  job.run();

  EXPECT_EQ(job.result.exit_code, HEAT_FINE) << job.result.message;
  EXPECT_GE(job.result.taylor.slope_count, 2);
  for (int s = 0; s < job.result.taylor.slope_count; ++s)
    EXPECT_NEAR(job.result.taylor.slopes[s], 2.0, 0.1);
}

TEST(HeatGradient, PassesTheDotProductTest) {
  Job job(MPI_COMM_WORLD, "async");
  job.options.dot_test = 1;

  job.run();

  EXPECT_EQ(job.result.exit_code, HEAT_FINE) << job.result.message;
  EXPECT_GE(job.result.dot_test_error, 0.0);
  EXPECT_LE(job.result.dot_test_error, 1e-12);
}

TEST(HeatGradient, AcceptsRanksWithoutCells) {
  for (const int zero_copy : {0, 1}) {
    for (const char* memory : {"", "64MiB"}) {
      Job job(MPI_COMM_WORLD, "async");
      job.options.cells_x = 40;
      job.options.cells_y = 1;
      job.options.zero_copy = zero_copy;
      if (*memory != '\0') job.set("memory", memory);

      job.run();

      EXPECT_EQ(job.result.exit_code, HEAT_FINE) << job.result.message;
      EXPECT_EQ(job.result.verified, 1);
    }
  }
}

TEST(HeatGradient, AcceptsSweepsOfNoneAndOfOneStep) {
  for (const std::int64_t steps : {0, 1})
    for (const int choice : {0, 1, 2, 3}) {
      Job job(MPI_COMM_WORLD, "async");
      job.options.steps = steps;
      job.options.steps_unknown = choice % 2;
      job.options.zero_copy = choice / 2;

      job.run();

      EXPECT_EQ(job.result.exit_code, HEAT_FINE) << job.result.message;
      EXPECT_EQ(job.result.verified, 1);
    }
}

// A hot spot, of whose states only the cells that heat has reached are kept: two sweeps, the first
// of which measures.
heat_result spreading(MPI_Comm comm, const std::string& schedule) {
  Job job(comm, schedule);
  job.options.adaptive = 1;
  job.options.repeat = 2;
  job.set("memory", "4MiB");
  job.run();
  EXPECT_EQ(job.result.exit_code, HEAT_FINE) << job.result.message;
  EXPECT_EQ(job.result.verified, 1);
  EXPECT_LE(job.result.stats.peak_library_bytes, job.result.stats.memory_bytes);
  return job.result;
}

TEST(HeatAdaptive, GivesTheSerialGradientInEverySchedule) {
  std::uint64_t hash = 0;
  if (anadrome::test::rank() == 0) hash = spreading(MPI_COMM_SELF, "store_all").gradient_hash;
  MPI_Bcast(&hash, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  for (const char* schedule : {"revolve", "async", "uneven", "least_memory", "offload"}) {
    EXPECT_EQ(spreading(MPI_COMM_WORLD, schedule).gradient_hash, hash) << schedule;
  }
}

TEST(HeatAdaptive, TakesLessMemoryThanEqualStates) {
  Job equal(MPI_COMM_WORLD, "least_memory");
  equal.set("memory", "4MiB");
  equal.run();
  EXPECT_EQ(equal.result.exit_code, HEAT_FINE) << equal.result.message;
  EXPECT_LT(spreading(MPI_COMM_WORLD, "least_memory").all.peak_library_bytes,
            equal.result.all.peak_library_bytes);
}

TEST(HeatAdaptive, IsNotAStateThatIsExchanged) {
  Job job(MPI_COMM_WORLD, "revolve");
  job.options.adaptive = job.options.zero_copy = 1;
  EXPECT_EQ(job.run(), HEAT_USAGE);
}

TEST(HeatVerify, FindsOneWronglyRestoredState) {
  for (const std::int64_t step : {std::int64_t{0}, kSteps / 2, kSteps - 1}) {
    for (const int zero_copy : {0, 1}) {
      Job job(MPI_COMM_WORLD, "async");
      job.options.wrong_state = step;
      job.options.zero_copy = zero_copy;

      job.run();

      EXPECT_EQ(job.result.exit_code, HEAT_WRONG);
      EXPECT_EQ(job.result.verified, 0);
      EXPECT_GT(job.result.difference.values, 0);
    }
  }
}

TEST(HeatErrors, AnUnknownOptionIsAUsageError) {
  Job job(MPI_COMM_WORLD, "async");
  job.set("memroy", "1GiB");

  job.run();

  EXPECT_EQ(job.result.exit_code, HEAT_USAGE);
  EXPECT_EQ(job.result.status, ANADROME_ERR_ARGUMENT);
  EXPECT_NE(std::string(job.result.message).find("memory"), std::string::npos)
      << job.result.message;
}

TEST(HeatErrors, TooLittleMemoryIsALibraryErrorOnEveryRank) {
  Job job(MPI_COMM_WORLD, "async");
  job.set("memory", "1B");

  job.run();

  EXPECT_EQ(job.result.exit_code, HEAT_LIBRARY_ERROR);
  EXPECT_EQ(job.result.status, ANADROME_ERR_MEMORY) << job.result.message;
}

}  // namespace

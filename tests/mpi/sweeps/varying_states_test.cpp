// SPDX-License-Identifier: BSD-2-Clause
// States whose size changes from step to step and differs between ranks, as on an adaptive mesh.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "mpi_main.h"
#include "schedule/uneven.h"
#include "varying_model.h"

namespace {

using namespace anadrome::test;

constexpr std::int64_t kSteps = 40;

void prepare(RunHandle& run, VaryingModel& model, const std::string& schedule,
             std::int64_t memory) {
  run.set("schedule", schedule);
  run.set("memory", std::to_string(memory) + "B");
  EXPECT_EQ(model.add_fields(run), ANADROME_OK) << anadrome_last_error();
}

anadrome_status say_sizes(RunHandle& run, const VaryingModel& model) {
  const std::vector<double> seconds(static_cast<std::size_t>(kSteps), 1.0);
  const std::vector<std::int64_t> bytes = model.bytes(kSteps);
  return anadrome_set_step_costs(run, kSteps, seconds.data(), bytes.data());
}

void expect_planned_and_within_memory(const RunHandle& run, const VaryingModel& model) {
  const anadrome_stats stats = run.statistics();
  EXPECT_EQ(stats.forward_steps_taken, model.advances);
  EXPECT_EQ(stats.forward_steps_planned, model.advances);
  EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
}

// The number of bytes that ERR_MEMORY says would do.
std::int64_t said_to_be_needed() {
  const std::string message = anadrome_last_error(), before = "at least ";
  const auto at = message.find(before);
  EXPECT_NE(at, std::string::npos) << message;
  return at == std::string::npos ? 0 : std::atoll(message.c_str() + at + before.size());
}

TEST(VaryingStates, AreThereInPasses) {
  using Case = std::pair<const char*, std::int64_t>;
  for (const auto& [schedule, memory] :
       {Case{"revolve", 64 << 10}, Case{"async", 64 << 10}, Case{"uneven", 64 << 10},
        Case{"least_memory", 256 << 10}, Case{"offload", 1 << 20}}) {
    SCOPED_TRACE(schedule);
    VaryingModel model;
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model, schedule, memory);
    run.set("passes", "3");
    if (schedule == std::string("offload")) run.set("checkpoints", "4");
    EXPECT_EQ(say_sizes(run, model), ANADROME_OK);
    for (int sweep = 0; sweep < 2; ++sweep) {
      EXPECT_EQ(model.sweep(run, kSteps, false), ANADROME_OK) << anadrome_last_error();
      for (const anadrome_direction direction :
           {ANADROME_PASS_FORWARD, ANADROME_PASS_REVERSE, ANADROME_PASS_FORWARD}) {
        EXPECT_EQ(model.pass(run, kSteps, direction), ANADROME_OK) << anadrome_last_error();
        EXPECT_EQ(model.visited, direction == ANADROME_PASS_FORWARD ? kSteps : 0);
      }
      EXPECT_LE(run.statistics().peak_library_bytes, memory);
    }
  }
}

// Their places overlap those of a pass.
TEST(VaryingStates, HaveNoPassesThatWereNotAnnouncedWhereEachHasItsOwnSize) {
  VaryingModel model;
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model, "uneven", 32 << 10);
  EXPECT_EQ(say_sizes(run, model), ANADROME_OK);
  EXPECT_EQ(model.sweep(run, kSteps, false), ANADROME_OK) << anadrome_last_error();
  EXPECT_EQ(model.pass(run, kSteps, ANADROME_PASS_FORWARD), ANADROME_ERR_UNSUPPORTED);
  EXPECT_NE(std::string(anadrome_last_error()).find("set passes"), std::string::npos);
}

TEST(VaryingStates, ComeBackInEverySchedule) {
  using Case = std::tuple<const char*, std::int64_t, bool>;
  for (const auto& [schedule, memory, unknown] :
       {Case{"store_all", 1 << 20, false}, Case{"revolve", 16 << 10, false},
        Case{"revolve", 16 << 10, true}, Case{"async", 64 << 10, false},
        Case{"async", 64 << 10, true}, Case{"hrevolve", 64 << 10, false},
        Case{"overlapped", 512 << 10, false}, Case{"uneven", 32 << 10, false}}) {
    SCOPED_TRACE(schedule);
    VaryingModel model;
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model, schedule, memory);
    EXPECT_EQ(model.sweep(run, kSteps, unknown), ANADROME_OK) << anadrome_last_error();
    EXPECT_LE(run.statistics().peak_library_bytes, run.statistics().memory_bytes);
  }
}

TEST(VaryingStates, ThatOutgrowTheirFieldAreAnErrorOnAllRanks) {
  for (const char* schedule : {"revolve", "async"}) {
    VaryingModel model;
    if (rank() == ranks() - 1) model.outgrows_at = 9;
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model, schedule, 128 << 10);
    EXPECT_EQ(model.sweep(run, kSteps), ANADROME_ERR_ARGUMENT) << schedule;
    EXPECT_NE(std::string(anadrome_last_error()).find("'cells' takes"), std::string::npos)
        << anadrome_last_error();
  }
}

TEST(VaryingStates, AreOfStateFieldsWithAllCallbacks) {
  VaryingModel model;
  RunHandle run(MPI_COMM_WORLD);
  EXPECT_EQ(anadrome_add_varying(run, "x", ANADROME_ROLE_TAPE, 8, VaryingModel::size,
                                 VaryingModel::pack, VaryingModel::unpack, &model),
            ANADROME_ERR_UNSUPPORTED);
  EXPECT_EQ(anadrome_add_varying(run, "x", ANADROME_ROLE_STATE, 8, nullptr, VaryingModel::pack,
                                 VaryingModel::unpack, &model),
            ANADROME_ERR_ARGUMENT);
}

// Up to 800 kB, about 20 of 40 of their full size in 8 MiB.
constexpr std::int64_t kMemory = 8 << 20, kTable = (kSteps + 2) * 320 + kMemory / 8;
constexpr std::int64_t kManyCells = 100'000;

// The planner plans for the largest size of each state on any rank.
TEST(StackedStates, TakeAsFewStepsAsTheirSizesAllow) {
  VaryingModel model(kManyCells);
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model, "uneven", kMemory);
  ASSERT_EQ(say_sizes(run, model), ANADROME_OK) << anadrome_last_error();
  ASSERT_EQ(model.sweep(run, kSteps), ANADROME_OK) << anadrome_last_error();
  expect_planned_and_within_memory(run, model);
  anadrome::schedule::UnevenSteps steps;
  steps.costs.assign(kSteps, 1);
  steps.state_bytes = model.bytes(kSteps);
  for (std::int64_t& bytes : steps.state_bytes) bytes += 16;  // with a length, and padded
  MPI_Allreduce(MPI_IN_PLACE, steps.state_bytes.data(), kSteps, MPI_INT64_T, MPI_MAX,
                MPI_COMM_WORLD);
  steps.bytes = kMemory - kTable;
  steps.turn_is_a_step = true;
  steps.table_bytes = kMemory / 8;
  EXPECT_EQ(model.advances, anadrome::schedule::UnevenPlanner(steps).cost());
  steps.state_bytes.assign(kSteps, 8 * kManyCells + 24);
  EXPECT_LT(model.advances, anadrome::schedule::UnevenPlanner(steps).cost()) << "equal slots";
}

TEST(StackedStates, AreMeasuredOnTheFirstSweepForTheNext) {
  for (const std::string schedule : {"uneven", "least_memory"}) {
    SCOPED_TRACE(schedule);
    VaryingModel model(kManyCells);
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model, schedule, kMemory);
    ASSERT_EQ(model.sweep(run, kSteps), ANADROME_OK) << anadrome_last_error();
    expect_planned_and_within_memory(run, model);
    const std::int64_t advances = model.advances;
    const std::int64_t peak = run.statistics().peak_library_bytes;
    for (int sweep = 0; sweep < 2; ++sweep) {
      ASSERT_EQ(model.sweep(run, kSteps), ANADROME_OK) << anadrome_last_error();
      expect_planned_and_within_memory(run, model);
      if (schedule == "uneven") {
        EXPECT_LT(model.advances, advances);
      } else {
        EXPECT_LT(run.statistics().peak_library_bytes, peak);
      }
    }
    EXPECT_EQ(anadrome_rewind(run), ANADROME_OK) << anadrome_last_error();
  }
}

TEST(StackedStates, ThatAreLargerThanWasSaidAreAnErrorOnAllRanks) {
  VaryingModel model;
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model, "uneven", 40 << 10);
  model.divisor = 2;
  ASSERT_EQ(say_sizes(run, model), ANADROME_OK);
  model.divisor = 1;
  EXPECT_EQ(model.sweep(run, kSteps), ANADROME_ERR_ARGUMENT);
  EXPECT_NE(std::string(anadrome_last_error()).find("set_step_costs left"), std::string::npos)
      << anadrome_last_error();
  EXPECT_LE(run.statistics().peak_library_bytes, 40 << 10);
  model.divisor = 2;
  EXPECT_EQ(model.sweep(run, kSteps), ANADROME_OK) << "the run goes on with a new sweep";
}

TEST(StackedStates, ThatOutgrowTheSweepBeforeAreMeasuredAgain) {
  VaryingModel model;
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model, "least_memory", 40 << 10);
  model.divisor = 2;
  ASSERT_EQ(model.sweep(run, kSteps), ANADROME_OK) << anadrome_last_error();
  model.divisor = 1;
  EXPECT_EQ(model.sweep(run, kSteps), ANADROME_ERR_ARGUMENT);
  EXPECT_NE(std::string(anadrome_last_error()).find("begin again"), std::string::npos);
  for (int sweep = 0; sweep < 2; ++sweep) {
    EXPECT_EQ(model.sweep(run, kSteps), ANADROME_OK) << anadrome_last_error();
  }
}

TEST(StackedStates, AreSaidOfFieldsThatCanHaveThem) {
  VaryingModel model;
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model, "uneven", 40 << 10);
  const double seconds[] = {1, 1};
  const std::int64_t too_small[] = {8, 7}, too_large[] = {8, 8 * 250 + 9};
  EXPECT_EQ(anadrome_set_step_costs(run, 2, seconds, too_small), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_set_step_costs(run, 2, seconds, too_large), ANADROME_ERR_ARGUMENT);
}

TEST(LeastMemory, SaysHowMuchItNeedsAndTakesNoMore) {
  VaryingModel model;
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model, "least_memory", 12 << 10);
  ASSERT_EQ(say_sizes(run, model), ANADROME_OK);
  ASSERT_EQ(model.sweep(run, kSteps), ANADROME_ERR_MEMORY);
  const std::int64_t needed = said_to_be_needed();
  run.set("memory", std::to_string(needed - 1) + "B");
  EXPECT_EQ(model.sweep(run, kSteps), ANADROME_ERR_MEMORY);
  run.set("memory", std::to_string(needed) + "B");
  ASSERT_EQ(model.sweep(run, kSteps), ANADROME_OK) << anadrome_last_error();
  expect_planned_and_within_memory(run, model);
  EXPECT_LE(model.advances, 2 * kSteps);
}

TEST(LeastMemory, OfEqualStatesIsAboutTheRootOfTwiceTheSteps) {
  for (const bool tape : {false, true}) {
    CoupledModel model(MPI_COMM_WORLD, Counts{5, 3, 1, 9, 4}, tape);
    const Reference reference(model, kSteps);
    RunHandle run(MPI_COMM_WORLD);
    ASSERT_EQ(model.add_fields(run), ANADROME_OK);
    run.set("schedule", "least_memory");
    run.set("memory", "6KiB");
    SweepDriver driver(run, model, reference);
    ASSERT_EQ(driver.sweep(kSteps).status, ANADROME_ERR_MEMORY);
    run.set("memory", std::to_string(said_to_be_needed()) + "B");
    const Outcome outcome = driver.sweep(kSteps);
    EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
    EXPECT_EQ(run.statistics().checkpoint_slots, 8);
    EXPECT_LE(outcome.advances, 2 * kSteps + (tape ? kSteps : 0));
    EXPECT_EQ(run.statistics().forward_steps_planned, outcome.advances);
  }
}

}  // namespace

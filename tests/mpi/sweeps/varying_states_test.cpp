// SPDX-License-Identifier: BSD-2-Clause
// States whose size changes from step to step and differs between ranks, as on an adaptive mesh.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "mpi_main.h"
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

TEST(VaryingStates, AreThereInPasses) {
  using Case = std::pair<const char*, std::int64_t>;
  for (const auto& [schedule, memory] : {Case{"revolve", 64 << 10}, Case{"async", 64 << 10}}) {
    SCOPED_TRACE(schedule);
    VaryingModel model;
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model, schedule, memory);
    run.set("passes", "3");
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

TEST(VaryingStates, ComeBackInEverySchedule) {
  using Case = std::tuple<const char*, std::int64_t, bool>;
  for (const auto& [schedule, memory, unknown] :
       {Case{"store_all", 1 << 20, false}, Case{"revolve", 16 << 10, false},
        Case{"revolve", 16 << 10, true}, Case{"async", 64 << 10, false},
        Case{"async", 64 << 10, true}}) {
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

}  // namespace

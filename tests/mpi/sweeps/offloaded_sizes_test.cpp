// SPDX-License-Identifier: BSD-2-Clause
// schedule=offload with states whose size changes: the first sweep measures steps and sizes, the
// next ones keep, write and compute again in a memory without slots.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "faulty_file_system.h"
#include "mpi_main.h"
#include "schedule/revolve.h"
#include "varying_model.h"

namespace {

using namespace anadrome::test;

constexpr std::int64_t kSteps = 40, kCells = 20'000;  // up to 160 kB
constexpr std::int64_t kLargest = 168 << 10;
// The plan's part of the memory: schedules, sizes.
constexpr std::int64_t kTable = 42 * (17 * 1024 + 64);

class OffloadedSizes : public testing::Test {
 protected:
  OffloadedSizes() { model_.step_seconds = 5e-4; }

  void prepare(RunHandle& run, std::int64_t largest_states) {
    ASSERT_EQ(model_.add_fields(run), ANADROME_OK) << anadrome_last_error();
    run.set("schedule", "offload");
    run.set("direct", "off");
    run.set("memory", std::to_string(kTable + largest_states * kLargest) + "B");
  }

  void expect_swept(const RunHandle& run, anadrome_status status) {
    ASSERT_EQ(status, ANADROME_OK) << anadrome_last_error();
    const anadrome_stats stats = run.statistics();
    EXPECT_EQ(stats.forward_steps_taken, model_.advances);
    EXPECT_EQ(stats.forward_steps_planned, model_.advances);
    EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
    EXPECT_STREQ(stats.schedule, "offload");
  }

  VaryingModel model_{kCells};
};

// Every state that comes back is compared in the model.
TEST_F(OffloadedSizes, ComeBackInEverySweep) {
  for (const char* transport : {"direct", "mpio"}) {
    for (const std::int64_t states : {1, 2, 3, 9}) {
      SCOPED_TRACE(std::string(transport) + ", " + std::to_string(states) + " of the largest");
      RunHandle run(MPI_COMM_WORLD);
      prepare(run, states);
      run.set("transport", transport);
      for (int sweep = 0; sweep < 3; ++sweep) {
        expect_swept(run, model_.sweep(run, kSteps));
        const std::int64_t advances = model_.advances;
        ASSERT_EQ(model_.sweep_again(run, kSteps), ANADROME_OK) << anadrome_last_error();
        EXPECT_EQ(run.statistics().forward_steps_taken, advances + model_.advances);
      }
    }
  }
}

// Equal slots hold two states, the memory about four: with a disk that takes as long as all steps,
// it is the memory that saves steps.
TEST_F(OffloadedSizes, TakeFewerStepsThanEqualSlots) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, 2);
  run.set("bandwidth_limit", "1MB/s");
  expect_swept(run, model_.sweep(run, kSteps));
  expect_swept(run, model_.sweep(run, kSteps));
  const auto revolve = static_cast<std::int64_t>(anadrome::schedule::extra_advances(kSteps + 1, 2));
  EXPECT_LT(model_.advances, revolve);
}

// Steps that are dear and a disk that is fast: states are written, and as many bytes as they have.
TEST_F(OffloadedSizes, AreWrittenAsLargeAsTheyAre) {
  model_.step_seconds = 5e-3;
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, 3);
  expect_swept(run, model_.sweep(run, kSteps));
  const anadrome_stats full = run.statistics();
  expect_swept(run, model_.sweep(run, kSteps));
  const anadrome_stats own = run.statistics();
  EXPECT_GT(own.bytes_written, 0);
  EXPECT_GT(own.anchors, 1);
  EXPECT_LT(own.bytes_written / own.anchors, full.bytes_written / full.anchors * 9 / 10);
}

TEST_F(OffloadedSizes, FindAPlanForASmallDisk) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, 2);
  run.set("disk", std::to_string(900 + 700 * ranks()) + "KiB");
  for (int sweep = 0; sweep < 3; ++sweep) expect_swept(run, model_.sweep(run, kSteps));
}

TEST_F(OffloadedSizes, ThatOutgrowTheSweepBeforeAreMeasuredAgain) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, 3);
  model_.divisor = 2;
  expect_swept(run, model_.sweep(run, kSteps));
  model_.divisor = 1;
  EXPECT_EQ(model_.sweep(run, kSteps), ANADROME_ERR_ARGUMENT);
  EXPECT_NE(std::string(anadrome_last_error()).find("begin again"), std::string::npos)
      << anadrome_last_error();
  for (int sweep = 0; sweep < 2; ++sweep) expect_swept(run, model_.sweep(run, kSteps));
}

// Measured sizes of states say nothing about a field that they did not have.
TEST_F(OffloadedSizes, AreMeasuredAgainWithAnotherField) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, 6);
  expect_swept(run, model_.sweep(run, kSteps));
  std::vector<double> wide(kCells / 2);
  const auto count = static_cast<std::int64_t>(wide.size());
  ASSERT_EQ(
      anadrome_add_field(run, "wide", ANADROME_ROLE_STATE, ANADROME_FLOAT64, wide.data(), count),
      ANADROME_OK);
  for (int sweep = 0; sweep < 2; ++sweep) expect_swept(run, model_.sweep(run, kSteps));
}

// A transfer that fails, comes back wrong or never got there: the states are right, or all ranks
// have the same error. And the run goes on with a new sweep.
TEST_F(OffloadedSizes, BearAFailingDisk) {
  model_.step_seconds = 2e-3;  // worth a transfer on any disk
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, 3);
  run.set("warnings", "off");
  ASSERT_EQ(model_.sweep(run, kSteps), ANADROME_OK) << anadrome_last_error();
  std::int64_t hits = 0, made_good = 0;
  using Case = std::pair<Operation, Fault>;
  for (const auto& [operation, fault] :
       {Case{Operation::kRead, Fault::kIoError}, Case{Operation::kRead, Fault::kFlippedBit},
        Case{Operation::kWrite, Fault::kIoError}, Case{Operation::kWrite, Fault::kLost},
        Case{Operation::kWrite, Fault::kTorn}, Case{Operation::kWrite, Fault::kNoSpace}}) {
    for (const std::int64_t at : {1, 4}) {
      for (const bool lasting : {false, true}) {
        SCOPED_TRACE(std::string(to_string(fault)) + " at " + to_string(operation) + " " +
                     std::to_string(at) + (lasting ? " and later" : ""));
        FaultyFileSystem files;
        if (rank() == 0) files.arm(operation, at, fault, lasting);
        const anadrome_status status = model_.sweep(run, kSteps);
        EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, status)) << anadrome_last_error();
        EXPECT_TRUE(status == ANADROME_OK || status == ANADROME_ERR_IO ||
                    status == ANADROME_ERR_CORRUPT || status == ANADROME_ERR_NO_SPACE)
            << anadrome_last_error();
        int hit = files.hit() ? 1 : 0;
        MPI_Allreduce(MPI_IN_PLACE, &hit, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        hits += hit;
        made_good += hit == 1 && status == ANADROME_OK ? 1 : 0;
      }
    }
  }
  EXPECT_GT(hits, 12);
  EXPECT_GT(made_good, hits / 3) << "of " << hits;
  EXPECT_EQ(model_.sweep(run, kSteps), ANADROME_OK) << anadrome_last_error();
}

}  // namespace

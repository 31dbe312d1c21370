// SPDX-License-Identifier: BSD-2-Clause
// Faults of one rank's files, and callbacks that wait for those of other ranks. Whatever else goes
// wrong with a file on some rank is simulated (docs/design/simulation.md).
#include <gtest/gtest.h>

#include <string>

#include "faulty_file_system.h"
#include "mpi_main.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

constexpr std::int64_t kSteps = 20;

// A rank that could not write x_0 keeps it in memory, and has none for other anchors: its callbacks
// are called all the same, for those of the others wait for them.
TEST(FaultsInLittleMemory, LeaveNoCallbackWaitingForThoseOfOtherRanks) {
  CoupledModel model(MPI_COMM_WORLD, Counts{3, 0, 2, 0, 9});
  const Reference reference(model, kSteps);
  const std::int64_t least = least_memory(model, "async");
  model.callbacks_meet = true;
  for (const Fault fault : {Fault::kIoError, Fault::kNoSpace}) {
    for (const std::int64_t at : {1, 2, 4}) {
      SCOPED_TRACE(std::string(to_string(fault)) + " from write " + std::to_string(at) + " on");
      RunHandle run(model, {{"schedule", "async"},
                            {"interval", "1"},
                            {"transport", "buffered"},
                            {"memory", std::to_string(least) + "B"}});
      FaultyFileSystem files;
      files.only_in("/segment-");
      if (rank() == ranks() - 1) files.arm(Operation::kWrite, at, fault, true);
      SweepDriver driver(run, model, reference);
      const Outcome outcome = driver.sweep(kSteps);
      files.disarm();
      EXPECT_TRUE(outcome.exact) << outcome.message;
      EXPECT_TRUE(outcome.done || outcome.status == ANADROME_ERR_IO ||
                  outcome.status == ANADROME_ERR_NO_SPACE)
          << outcome.message;
      EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, outcome.status));
    }
  }
}

}  // namespace

// SPDX-License-Identifier: BSD-2-Clause
// Bytes that change on the disk under a sweep cost steps, not the gradient: what cannot be read
// back is recomputed from an earlier state, on all ranks alike. Whatever else goes wrong with a
// file is simulated (docs/design/simulation.md).
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "faulty_file_system.h"
#include "mpi_main.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;
namespace fs = std::filesystem;

constexpr std::int64_t kSteps = 40;

class Healing : public testing::Test {
 protected:
  // All pages but those of HDF5, which the direct transport does not read.
  static void damage_every_anchor() {
    if (rank() != 0) return;
    constexpr off_t kPage = 4096, kMetadata = 8 * kPage;
    const std::vector<char> garbage(kPage, 'x');
    for (const fs::directory_entry& entry : fs::directory_iterator(directory() + "/anadrome")) {
      if (!entry.path().filename().string().starts_with("segment-0")) continue;
      const int file = ::open(entry.path().c_str(), O_WRONLY);
      ASSERT_GE(file, 0);
      const auto end = static_cast<off_t>(fs::file_size(entry.path()));
      for (off_t at = kMetadata; at + kPage <= end; at += kPage)
        EXPECT_EQ(::pwrite(file, garbage.data(), kPage, at), kPage);
      ::close(file);
    }
  }

  /// What was healed.
  std::int64_t sweep(const char* interval, const char* transport, bool damaged) {
    RunHandle run(model_, {{"schedule", "async"},
                           {"interval", interval},
                           {"transport", transport},
                           {"memory", std::to_string(memory_) + "B"}});
    SweepDriver driver(run, model_, reference_);
    driver.before_action = [&](const anadrome_action& action) {
      if (action.kind != ANADROME_TURN) return;
      MPI_Barrier(MPI_COMM_WORLD);
      if (damaged) damage_every_anchor();  // most are written: there is no memory for so many
      MPI_Barrier(MPI_COMM_WORLD);
    };
    driver.exact_sweep(kSteps);
    return run.statistics().anchors_lost;
  }

  CoupledModel model_{MPI_COMM_WORLD, Counts{3, 0, 2, 0, 9}};
  const Reference reference_{model_, kSteps};
  const std::int64_t memory_ = 3 * least_memory(model_, "async");
};

TEST_F(Healing, OfEveryAnchorAndOfNoneWithoutDamage) {
  for (const char* transport : kTransports) {
    const char* const interval = transport == kTransports.front() ? "1" : "4";
    SCOPED_TRACE(transport);
    EXPECT_GT(sweep(interval, transport, true), 0);
    EXPECT_EQ(sweep(interval, transport, false), 0);
  }
}

// A rank that could not write x_0 keeps it in memory, and has none for other anchors: its callbacks
// are called all the same, for those of the others wait for them.
TEST_F(Healing, LeavesNoCallbackWaitingForThoseOfOtherRanks) {
  model_.callbacks_meet = true;
  for (const Fault fault : {Fault::kIoError, Fault::kNoSpace}) {
    for (const std::int64_t at : {1, 2, 4}) {
      SCOPED_TRACE(std::string(to_string(fault)) + " from write " + std::to_string(at) + " on");
      RunHandle run(model_, {{"schedule", "async"},
                             {"interval", "1"},
                             {"transport", "buffered"},
                             {"memory", std::to_string(memory_ / 3) + "B"}});
      FaultyFileSystem files;
      files.only_in("/segment-");
      if (rank() == ranks() - 1) files.arm(Operation::kWrite, at, fault, true);
      const Outcome outcome = SweepDriver(run, model_, reference_).sweep(kSteps);
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

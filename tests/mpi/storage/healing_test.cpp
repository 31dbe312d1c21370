// SPDX-License-Identifier: BSD-2-Clause
// Bytes that change on the disk under a sweep cost steps, not the gradient: what cannot be read
// back is recomputed from an earlier state, on all ranks alike.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "mpi_main.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;
namespace fs = std::filesystem;

constexpr std::int64_t kSteps = 40;
constexpr std::int64_t kPage = 4096;

struct Setup {
  const char* schedule;
  const char* interval;
  const char* transport;
};

class Healing : public testing::TestWithParam<Setup> {
 protected:
  Healing() : model_(MPI_COMM_WORLD, Counts{3, 0, 2, 0, 9}), reference_(model_, kSteps) {
    memory_ = 3 * least_memory(model_, "async");
  }

  // A page of each given number in every state file, in this rank's eyes one after the other.
  static void damage(std::int64_t first, std::int64_t pages, const std::string& only = "") {
    if (rank() != 0) return;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory() + "/anadrome")) {
      const std::string name = entry.path().filename();
      if (name.rfind("segment-", 0) != 0 || name.find(only) == std::string::npos) continue;
      const int file = ::open(entry.path().c_str(), O_WRONLY);
      ASSERT_GE(file, 0);
      const std::vector<char> garbage(kPage, 'x');
      const auto end = static_cast<std::int64_t>(fs::file_size(entry.path())) / kPage;
      for (std::int64_t p = first; p < std::min(first + pages, end); ++p) {
        EXPECT_EQ(::pwrite(file, garbage.data(), kPage, p * kPage), kPage);
      }
      ::close(file);
    }
  }

  /// Damage once the states are on disk; what was healed.
  template <class Damage>
  std::int64_t sweep(const Damage& spoil) {
    RunHandle run(MPI_COMM_WORLD);
    EXPECT_EQ(model_.add_fields(run), ANADROME_OK);
    run.set("schedule", GetParam().schedule);
    run.set("interval", GetParam().interval);
    run.set("transport", GetParam().transport);
    run.set("warnings", "off");
    run.set("memory", std::to_string(memory_) + "B");
    SweepDriver driver(run, model_, reference_);
    driver.before_action = [&](const anadrome_action& action) {
      // Late enough for the writes to be over, early enough for the reads.
      if (action.kind == ANADROME_ADVANCE && slow_) ::usleep(1000);
      if (action.kind != ANADROME_TURN) return;
      ::usleep(5000);
      MPI_Barrier(MPI_COMM_WORLD);
      spoil();
      MPI_Barrier(MPI_COMM_WORLD);
    };
    const Outcome outcome = driver.sweep(kSteps);
    EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
    return run.statistics().anchors_lost;
  }

  CoupledModel model_;
  const Reference reference_;
  std::int64_t memory_ = 0;
  bool slow_ = false;  ///< steps take so long that states on disk pay
};

constexpr std::int64_t kMetadataPages = 8;  // of HDF5, which the direct transport does not read

TEST_P(Healing, OfOnePage) {
  std::int64_t healed = 0;
  for (std::int64_t page = kMetadataPages; page < kMetadataPages + 64; page += 3) {
    SCOPED_TRACE("page " + std::to_string(page));
    healed += sweep([&] { damage(page, 1, "segment-0"); });
  }
  const bool always_on_disk = std::string(GetParam().interval) != "auto";
  EXPECT_GE(healed, always_on_disk ? 1 : 0);
}

TEST_P(Healing, OfEveryAnchor) {
  slow_ = true;
  const std::int64_t healed = sweep([] { damage(kMetadataPages, 1 << 20, "segment-0"); });
  EXPECT_GT(healed, 0);
}

TEST_P(Healing, NothingIsLostWithoutDamage) {
  EXPECT_EQ(sweep([] {}), 0);
}

std::string name_of(const testing::TestParamInfo<Setup>& info) {
  return std::string(info.param.schedule) + "_" + info.param.interval + "_" + info.param.transport;
}

INSTANTIATE_TEST_SUITE_P(All, Healing,
                         testing::Values(Setup{"async", "1", "direct"},
                                         Setup{"async", "2", "direct"}, Setup{"async", "4", "mpio"},
                                         Setup{"async", "auto", "direct"}),
                         name_of);

}  // namespace

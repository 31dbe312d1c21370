// SPDX-License-Identifier: BSD-2-Clause
// Processes that were killed between two commits leave files that not all journals name.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "mpi_main.h"

namespace {

using namespace anadrome::test;
namespace fs = std::filesystem;

// A run whose number of steps is unknown makes its files as it goes on: for 16, 16, 32, .. anchors.
struct Life {
  static constexpr std::int64_t kSteps = 150;
  std::string layout;
  anadrome_status status = ANADROME_OK;
  std::string message;
  std::int64_t resumed_at = 0;
  std::vector<double> adjoint = std::vector<double>(300, 0);
  anadrome_stats stats = {};

  /// Asks to be stopped where x_k is live and k is `stop_at` or more; commits then alone.
  void live(std::int64_t stop_at) {
    anadrome_run* run = nullptr;
    anadrome_open(MPI_COMM_WORLD, &run);
    for (const auto& [key, value] : {std::pair{"schedule", "async"},
                                     {"interval", "1"},
                                     {"resume", "on"},
                                     {"checkpoint_interval", "1000"},
                                     {"memory", "64KiB"},
                                     {"layout", layout.c_str()},
                                     {"directory", directory().c_str()}}) {
      EXPECT_EQ(anadrome_set(run, key, value), ANADROME_OK);
    }
    std::vector<double> x(adjoint.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1e-3 * static_cast<double>(i);
    anadrome_add_field(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, x.data(), x.size());
    status = anadrome_begin(run, ANADROME_STEPS_UNKNOWN);
    anadrome_phase phase = ANADROME_PHASE_IDLE;
    anadrome_resumed(run, &phase, &resumed_at);
    anadrome_action action{};
    while (status == ANADROME_OK && (status = anadrome_next(run, &action)) == ANADROME_OK &&
           action.kind != ANADROME_DONE) {
      if (action.kind == ANADROME_ADVANCE) {
        for (std::int64_t k = action.first; k < std::min(action.last, kSteps); ++k) {
          for (double& value : x) value += 0.01 * value * (1 - value) + 1e-5;
        }
        const bool forward = action.again == 0;
        if (forward && action.last >= kSteps) anadrome_finish_forward(run, kSteps);
        if (forward && action.last >= stop_at && rank() == 0) anadrome_request_stop(run);
      }
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (action.kind == ANADROME_TURN) adjoint[i] = x[i];
        if (action.kind == ANADROME_ADJOINT) adjoint[i] *= 1.01 - 0.02 * x[i];
      }
    }
    if (status != ANADROME_OK) message = anadrome_last_error();
    stats.size = sizeof stats;
    anadrome_statistics(run, &stats);
    EXPECT_EQ(anadrome_close(&run), ANADROME_OK) << anadrome_last_error();
  }
  static Life of(const std::string& layout, std::int64_t stop_at) {
    Life life;
    life.layout = layout;
    life.live(stop_at);
    return life;
  }
};

class FilesOfAKilledRun : public testing::TestWithParam<const char*> {
 protected:
  static fs::path file(const char* format, int number) {
    char name[40];
    std::snprintf(name, sizeof name, format, number);
    return fs::path(directory()) / "anadrome" / name;
  }
  fs::path segment(int number) const {
    if (layout != "rank") return file("segment-%05d.h5", number);
    char name[40];
    std::snprintf(name, sizeof name, "segment-%05d-rank-%06d.h5", number, rank());
    return fs::path(directory()) / "anadrome" / name;
  }
  Life until(std::int64_t stop_at) const {
    Life life = Life::of(layout, stop_at);
    EXPECT_EQ(life.status, ANADROME_STOPPED) << life.message;
    return life;
  }
  void expect_right(const Life& life) const {
    ASSERT_EQ(life.status, ANADROME_OK) << life.message;
    EXPECT_EQ(life.adjoint, whole.adjoint);
    EXPECT_EQ(life.stats.anchors_lost, 0);
    EXPECT_EQ(life.stats.writes_failed, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TRUE(fs::is_empty(directory()));
    MPI_Barrier(MPI_COMM_WORLD);
  }

  const std::string layout = GetParam();
  const Life whole = Life::of(layout, Life::kSteps + 1);
};

TEST_P(FilesOfAKilledRun, ThatNoJournalNamesAreRemoved) {
  until(20);
  ASSERT_TRUE(fs::exists(segment(1)));
  ASSERT_FALSE(fs::exists(segment(2)));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0 || layout == "rank") {
    for (const int number : {2, 3}) fs::copy_file(segment(0), segment(number));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const Life last = Life::of(layout, Life::kSteps + 1);
  EXPECT_GE(last.resumed_at, 20);
  expect_right(last);
}

TEST_P(FilesOfAKilledRun, ThatSomeJournalsNameAreMadeAgain) {
  until(20);
  const fs::path journal = file("journal-%06d", ranks() - 1);
  const auto with_two_files = fs::file_size(journal);
  until(70);
  ASSERT_TRUE(fs::exists(segment(3)));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == ranks() - 1) fs::resize_file(journal, with_two_files);  // of this rank alone
  MPI_Barrier(MPI_COMM_WORLD);
  const Life second = until(50);
  EXPECT_GE(second.resumed_at, 20);
  EXPECT_LT(second.resumed_at, 40);
  // The journals name some files twice now.
  const Life last = Life::of(layout, Life::kSteps + 1);
  EXPECT_GE(last.resumed_at, 50);
  expect_right(last);
}

INSTANTIATE_TEST_SUITE_P(All, FilesOfAKilledRun, testing::Values("shared", "rank"),
                         [](const auto& layout) { return std::string(layout.param); });

}  // namespace

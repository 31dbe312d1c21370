// SPDX-License-Identifier: BSD-2-Clause
// Processes that were killed between two commits leave files that not all journals name.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "mpi_main.h"
#include "stopped_life.h"

namespace {

using namespace anadrome::test;
namespace fs = std::filesystem;

struct Life : StoppedLife {
  static Life of(const std::string& layout, std::int64_t stop_at) {
    Life life;
    life.live(stop_at, {{"layout", layout}, {"directory", directory()}});
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

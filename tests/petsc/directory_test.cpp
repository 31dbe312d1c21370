// SPDX-License-Identifier: BSD-2-Clause
// The remains of a trajectory's files, and of other files where they were.
#include <anadrome/petsc.h>
#include <gtest/gtest.h>
#include <petsc/private/tsimpl.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "mpi_main.h"
#include "oscillators.h"

namespace {

using namespace anadrome::test;
namespace fs = std::filesystem;

const std::string to_disk =
    "-ts_type cn -ts_trajectory_type anadrome -ts_trajectory_anadrome_memory 4MiB "
    "-ts_trajectory_stride 3 ";

// `work` on rank 0, between two barriers.
void on_one_rank(const std::function<void()>& work) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) work();
  MPI_Barrier(MPI_COMM_WORLD);
}

void forward_and_back(Oscillators& model) {
  model.start();
  EXPECT_EQ(model.solve(2), 0);
  (void)model.adjoint();
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

TEST(Files, AreGoneWithTheDirectoryThatWasMadeForThem) {
  {
    Oscillators model(to_disk + "-ts_trajectory_dirname made");
    forward_and_back(model);
    EXPECT_TRUE(fs::exists("made"));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  on_one_rank([] { EXPECT_TRUE(fs::is_empty(directory())); });
  on_one_rank([] { fs::create_directory("mine"); });
  { Oscillators model(to_disk + "-ts_trajectory_dirname mine"); }  // and is never used
  on_one_rank([] { EXPECT_TRUE(fs::remove("mine")); });
}

// PETSc removes all that is in -ts_trajectory_dirname.
TEST(Files, OfOthersInTheSameDirectoryStay) {
  for (const std::string where : {"", "-ts_trajectory_anadrome_directory . "}) {
    on_one_rank([] {
      fs::create_directory("mine");
      std::ofstream("mine/results") << "years of work";
    });
    {
      Oscillators model(to_disk + where + "-ts_trajectory_dirname mine");
      forward_and_back(model);
    }
    on_one_rank([] {
      EXPECT_EQ(fs::file_size("mine/results"), 13U);
      EXPECT_EQ(entries("mine"), 1U);
      fs::remove_all("mine");
      EXPECT_TRUE(fs::is_empty(directory()));
    });
  }
}

TEST(Files, OfTwoTrajectoriesLiveInOneDirectory) {
  {
    Oscillators second(to_disk + "-ts_trajectory_dirname both");
    {
      Oscillators first(to_disk + "-ts_trajectory_dirname both");
      EXPECT_EQ(first.solve(2), 0);
      EXPECT_EQ(second.solve(2), 0);
      (void)first.adjoint();
    }
    (void)second.adjoint();
  }
  on_one_rank([] {
    EXPECT_TRUE(!fs::exists("both") || fs::is_empty("both"));
    fs::remove_all("both");
  });
}

TEST(Files, StayIfAsked) {
  const std::string later = "before a later sweep";
  for (const std::string& asked : {std::string("-ts_trajectory_keep_files"),
                                   std::string("-ts_trajectory_anadrome_keep on"), later}) {
    {
      Oscillators model(to_disk + "-ts_trajectory_dirname kept " + (asked == later ? "" : asked));
      forward_and_back(model);
      if (asked == later) {
        EXPECT_EQ(TSTrajectorySetKeepFiles(model.trajectory(), PETSC_TRUE), 0);
        forward_and_back(model);
      }
    }
    on_one_rank([&] {
      EXPECT_TRUE(fs::exists("kept") && !fs::is_empty("kept")) << asked;
      fs::remove_all("kept");
    });
  }
}

TEST(Files, AreWhereTheDirectoryWasAtTheFirstStep) {
  const auto go_to = [](const std::string& path) { fs::current_path(directory() + path); };
  on_one_rank([] { fs::create_directory(directory() + "/elsewhere"); });
  for (const std::string& method : {to_disk, std::string("-ts_type cn -ts_trajectory_type anadrome "
                                                         "-ts_trajectory_anadrome_keep on ")}) {
    for (const std::string place :
         {"-ts_trajectory_dirname kept ", "-ts_trajectory_anadrome_directory ./ "}) {
      Oscillators model(method + place +
                        "-ts_trajectory_anadrome_report report.txt "
                        "-ts_trajectory_anadrome_trace trace.json");
      model.start();
      EXPECT_EQ(model.solve(1), 0);
      go_to("/elsewhere");
      EXPECT_EQ(model.solve(2), 0);
      (void)model.adjoint();
      go_to("");
    }
    on_one_rank([] {
      EXPECT_TRUE(fs::remove("report.txt") && fs::remove("trace.json"));
      EXPECT_TRUE(fs::is_empty("elsewhere"));
    });
  }
  on_one_rank([] {
    EXPECT_EQ(fs::remove_all("kept") > 0, true) << "keep=on left nothing";
    for (const auto& left : std::vector<fs::path>(fs::directory_iterator("."), {}))
      fs::remove_all(left);
  });
}

TEST(Files, ADirectoryThatCannotBeMadeIsAnErrorOnEveryRank) {
  const CaughtErrors caught;
  Oscillators model(to_disk + "-ts_trajectory_dirname nowhere/at/all");
  EXPECT_NE(model.solve(2), 0);
  EXPECT_NE(caught.message().find("nowhere/at/all: No such file or directory"), std::string::npos)
      << caught.message();
}

TEST(Files, ThatWereChangedAreAnErrorOnEveryRank) {
  {
    const CaughtErrors caught;
    Oscillators model(
        "-ts_type cn -ts_trajectory_type anadrome -ts_trajectory_anadrome_memory 64KiB "
        "-ts_trajectory_stride 3 -ts_trajectory_anadrome_checkpoints 2 -ts_trajectory_dirname "
        "hurt");
    EXPECT_EQ(model.solve(30), 0);
    on_one_rank([&] {
      for (const auto& entry : fs::recursive_directory_iterator("hurt")) {
        if (entry.path().extension() != ".h5") continue;
        std::fstream stream(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
        stream.seekp(8192);
        stream << std::string(fs::file_size(entry.path()) - 8192, 'x');
      }
    });
    model.turn();
    EXPECT_NE(model.back(), 0);
    const std::string said = caught.message();
    EXPECT_NE(said.find("ANADROME_ERR_CORRUPT: "), std::string::npos) << said;
    EXPECT_NE(said.find("its checksum differs"), std::string::npos) << said;
    EXPECT_NE(model.back(), 0);  // nor does the rest of it come as if nothing had been
  }
  on_one_rank([] { fs::remove_all("hurt"); });
}

}  // namespace

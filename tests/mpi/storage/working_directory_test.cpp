// SPDX-License-Identifier: BSD-2-Clause
// A program that changes its working directory: what a relative path meant at begin, it means until
// close.
#include <anadrome/store.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "mpi_main.h"
#include "short_sweep.h"

namespace {

using namespace anadrome::test;
namespace fs = std::filesystem;

class WorkingDirectory : public ShortSweep {
 protected:
  void SetUp() override {
    fs::create_directories(directory() + "/begin/scratch");
    fs::create_directories(directory() + "/elsewhere");
    MPI_Barrier(MPI_COMM_WORLD);
    go_to("begin");
  }
  void TearDown() override {
    fs::current_path(before_);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) {
      EXPECT_TRUE(fs::is_empty(directory() + "/elsewhere"));
      for (const char* name : {"begin", "elsewhere"}) fs::remove_all(directory() + "/" + name);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  static void go_to(const char* name) { fs::current_path(directory() + "/" + name); }
  static fs::path begin(const std::string& path) { return directory() + "/begin/" + path; }
  RunHandle prepared_here(RunOptions more = {}) {
    more.push_back({"directory", "scratch"});
    return prepared(more);
  }
  // Elsewhere from the first action on that `when` says.
  void expect_exact_sweep(RunHandle& run, anadrome_action_kind when) {
    SweepDriver driver(run, model_, reference_);
    driver.before_action = [when](const anadrome_action& action) {
      if (action.kind == when) go_to("elsewhere");
    };
    const Outcome outcome = driver.sweep(kSteps);
    EXPECT_TRUE(outcome.status == ANADROME_OK && outcome.exact) << outcome.message;
  }

 private:
  fs::path before_ = fs::current_path();
};

TEST_F(WorkingDirectory, MayChangeBetweenAnyCallsAndNoFileIsLeftUnlessItStays) {
  for (const auto when : {ANADROME_ADVANCE, ANADROME_TURN, ANADROME_ADJOINT}) {
    go_to("begin");
    const bool keep = when == ANADROME_ADJOINT;
    RunHandle run = prepared_here(
        {{"report", "report.txt"}, {"trace", "trace.json"}, {"keep", keep ? "on" : "off"}});
    expect_exact_sweep(run, when);
    expect_exact_sweep(run, when);  // another begin, elsewhere
    EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
    EXPECT_EQ(fs::exists(begin("scratch/anadrome/states.h5")), keep);
    EXPECT_EQ(fs::is_empty(begin("scratch")), !keep);
    if (rank() == 0) {
      EXPECT_TRUE(fs::remove(begin("report.txt")) && fs::remove(begin("trace.json")));
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(WorkingDirectory, HasNothingToDoWithCommits) {
  {
    RunHandle run = prepared_here({{"resume", "on"}, {"checkpoint_interval", "0"}});
    SweepDriver driver(run, model_, reference_);
    driver.begin_and_stop(kSteps, false, [](const anadrome_action& action) {
      go_to("elsewhere");
      return action.first == kSteps / 2;
    });
  }
  go_to("begin");
  RunHandle run = prepared_here({{"resume", "on"}});
  EXPECT_GT(expect_to_go_on(run, model_, reference_, kSteps), 0);
}

TEST_F(WorkingDirectory, HasNothingToDoWithAStore) {
  anadrome_store* store = nullptr;
  ASSERT_EQ(anadrome_store_open(MPI_COMM_WORLD, "memory=1MiB directory=scratch keep=on", &store),
            ANADROME_OK)
      << anadrome_last_error();
  go_to("elsewhere");
  std::string object(100'000, 'x');
  const anadrome_part part{"part", ANADROME_BYTE, object.size(), object.data()};
  for (std::int64_t key = 0; key < 40; ++key) {
    EXPECT_EQ(anadrome_store_put(store, key, 1, &part), ANADROME_OK) << anadrome_last_error();
  }
  EXPECT_EQ(anadrome_store_close(&store), ANADROME_OK) << anadrome_last_error();
  EXPECT_FALSE(fs::is_empty(begin("scratch")));
}

}  // namespace

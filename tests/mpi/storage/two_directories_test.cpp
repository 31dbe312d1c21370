// SPDX-License-Identifier: BSD-2-Clause
// directory=FAST,HOME: the same bits. What fails on either disk is simulated.
#include <anadrome/anadrome.h>
#include <anadrome/store.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "faulty_file_system.h"
#include "has_part.h"
#include "mpi_main.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;
namespace fs = std::filesystem;

constexpr std::int64_t kSteps = 60;

class TwoDirectories : public ::testing::Test {
 protected:
  TwoDirectories() : model_(MPI_COMM_WORLD, Counts{0, 0, 2000, 0, 0}), reference_(model_, kSteps) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) {
      fs::create_directories(fast());
      fs::create_directories(home());
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~TwoDirectories() override {
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TRUE(fs::is_empty(fast()));
    EXPECT_TRUE(fs::is_empty(home()));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) {
      fs::remove_all(fast());
      fs::remove_all(home());
      EXPECT_TRUE(fs::is_empty(directory())) << "other tests look at it";
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  static std::string fast() { return directory() + "/fast"; }
  static std::string home() { return directory() + "/home"; }

  static RunHandle prepared(CoupledModel& model, const RunOptions& more) {
    return {model,
            {{"schedule", "async"},
             {"directory", fast() + "," + home()},
             {"memory", "160KiB"}},  // of blocks of 16 KiB
            more};
  }

  Outcome sweep(
      RunHandle& run, bool unknown = false, const std::function<void()>& first = [] {}) {
    SweepDriver driver(run, model_, reference_);
    bool begins = true;
    driver.before_action = [&](const anadrome_action&) {
      if (std::exchange(begins, false)) first();
    };
    return driver.sweep(kSteps, unknown);
  }

  static void expect_exact(const RunHandle& run, const Outcome& outcome) {
    EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
    const anadrome_stats stats = run.statistics();
    EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
    EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, outcome.advances));
  }

  CoupledModel model_;
  const Reference reference_;
};

// The limits are far below what any disk of today takes, so the shares are those of the limits.
const std::pair<std::string, std::string> kRates = {"bandwidth_limit", "40MB/s,10MB/s"};

TEST_F(TwoDirectories, ShareTheStatesByTheirRates) {
  RunHandle run = prepared(model_, {{"interval", "1"}, {"bandwidth_limit", "40MB/s,20MB/s"}});
  std::uintmax_t in_fast = 0, at_home = 0;
  SweepDriver driver(run, model_, reference_);
  const auto bytes_in = [](const std::string& path) {
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (entry.path().extension() == ".h5") bytes += entry.file_size();
    }
    return bytes;
  };
  driver.before_action = [&](const anadrome_action& action) {
    if (action.kind == ANADROME_TURN) {
      in_fast = bytes_in(fast());
      at_home = bytes_in(home());
    }
  };
  const Outcome outcome = driver.sweep(kSteps);
  expect_exact(run, outcome);
  EXPECT_GT(run.statistics().anchors, kSteps / 2);
  EXPECT_GT(in_fast, 0u);
  EXPECT_GT(at_home, 0u);
}

TEST_F(TwoDirectories, ComeAndGoFromSweepToSweep) {
  RunHandle run = prepared(model_, {{"interval", "2"}});
  const std::string both = fast() + "," + home(), other = home() + "," + fast();
  const std::vector<RunOptions> sweeps = {
      {kRates},
      {{"directory", home()}, {"bandwidth_limit", "10MB/s"}},
      {{"directory", both}, kRates, {"disk", "300KiB,300KiB"}, {"layout", "shared,node"}},
      {{"disk", "0B,unlimited"}, {"interval", "1"}},
      {{"disk", "unlimited,0B"}, {"interval", "auto"}},
      {{"directory", other}, {"disk", "unlimited"}, {"layout", "rank"}},
      {{"schedule", "revolve"}},
      {{"schedule", "async"}, {"interval", "auto"}},
      {{"directory", fast()}, {"bandwidth_limit", "none"}, {"memory", "60KiB"}},
      {{"directory", both}, {"memory", "40KiB"}, {"disk", "1MiB,600KiB"}, {"interval", "1"}},
      {{"memory", "250KiB"}, {"checkpoints", "2"}},
      {{"schedule", "auto"}, {"disk", "unlimited"}}};
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    SCOPED_TRACE(i);
    bool both_limited = false;
    for (const auto& [key, value] : sweeps[i]) {
      run.set(key, value);
      both_limited = both_limited || value == "300KiB,300KiB";
    }
    for (const bool unknown : {false, true}) {
      expect_exact(run, sweep(run, unknown));
      EXPECT_TRUE(!both_limited || run.statistics().disk_bytes_reserved_all_ranks <= 600 * 1024);
    }
  }
}

TEST_F(TwoDirectories, KeepStatesBesideTapes) {
  CoupledModel tape(MPI_COMM_WORLD, Counts{0, 0, 2000, 0, 0}, true);
  const Reference reference(tape, kSteps);
  for (const char* codec : {"off", "lz4"}) {
    RunHandle run =
        prepared(tape, {{"interval", "3"}, {"compress", codec}, {"memory", "400KiB"}, kRates});
    SweepDriver driver(run, tape, reference);
    EXPECT_TRUE(driver.sweep(kSteps).exact) << codec;
  }
}

// What was under way to the fast directory fails after all ranks know that it takes no more.
TEST_F(TwoDirectories, GoOnAtHomeThoughMoreWritesToTheFastOneFail) {
  for (const Fault fault : {Fault::kNoSpace, Fault::kIoError}) {
    SCOPED_TRACE(to_string(fault));
    RunHandle run = prepared(
        model_, {{"interval", "1"}, {"transport", "buffered"}, {"bandwidth_limit", "4MB/s,4MB/s"}});
    FaultyFileSystem files;
    files.only_in(fast() + "/");
    const Outcome outcome = sweep(run, false, [&] {
      files.delay_writes(std::chrono::milliseconds(4));
      if (rank() == ranks() - 1) files.arm(Operation::kWrite, 1, fault, true);
    });
    files.disarm();
    expect_exact(run, outcome);
    EXPECT_GT(run.statistics().states_written, kSteps / 2);
  }
}

// The copy of the first state, without which no commit counts, is made by the begin that has room.
TEST_F(TwoDirectories, MakeTheCopyThatHadNoRoom) {
  const RunOptions resumes = {
      {"interval", "1"}, {"resume", "on"}, {"checkpoint_interval", "0"}, kRates};
  {
    FaultyFileSystem files;  // of the transfers that a stop leaves under way, too
    RunHandle run = prepared(model_, resumes);
    files.only_in("/segment-copy");
    if (rank() == 0) files.arm(Operation::kAllocate, 1, Fault::kNoSpace, true);
    EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_NO_SPACE) << anadrome_last_error();
    files.disarm();
    SweepDriver driver(run, model_, reference_);
    driver.before_action = [&](const anadrome_action& action) {
      if (action.kind == ANADROME_ADVANCE && action.first == kSteps / 2) anadrome_request_stop(run);
    };
    EXPECT_EQ(driver.sweep(kSteps).status, ANADROME_STOPPED);
  }
  RunHandle run = prepared(model_, resumes);
  EXPECT_GT(expect_to_go_on(run, model_, reference_, kSteps), 0);
  EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
  RunHandle last = prepared(model_, {kRates});  // starts over, and leaves nothing
  expect_exact(last, sweep(last));
}

// The command that the summary prints gives the rates of home alone.
TEST_F(TwoDirectories, NeedNoRoomInTheFastOneWhereHomeIsSlow) {
  const std::string report = directory() + "/report";
  RunHandle run = prepared(model_, {{"memory", "80KiB"},
                                    {"interval", "4"},
                                    {"disk", "0B,unlimited"},
                                    {"bandwidth_limit", "none,3MB/s"},
                                    {"report", report}});
  for (int i = 0; i < 2; ++i) expect_exact(run, sweep(run));
  run.close();
  if (rank() != 0) return;
  std::ifstream file(report);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_TRUE(has_part(text, "--write-rate"));
  EXPECT_FALSE(has_part(text, "--disk 0,"));  // plan wants two rates with that
  fs::remove(report);
}

// Kept files that a run of this name left are there still, and a directory need not be.
TEST_F(TwoDirectories, AreComparedBeforeAnythingIsTouched) {
  {
    RunHandle run = prepared(model_, {{"directory", home()}, {"interval", "1"}, {"keep", "on"}});
    expect_exact(run, sweep(run));
  }
  const std::string to_be = home() + "/not/yet";
  for (const std::string& both : {home() + "/," + home(), to_be + "/," + to_be}) {
    RunHandle run = prepared(model_, {{"directory", both}});
    EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_ARGUMENT);
    EXPECT_TRUE(has_part(anadrome_last_error(), "are the same"));
  }
  EXPECT_TRUE(fs::exists(home() + "/anadrome/states.h5"));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) fs::remove_all(home() + "/anadrome");
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(TwoDirectories, AreRefusedWhereTheyMakeNoSense) {
  const std::vector<std::pair<RunOptions, std::string>> mistakes = {
      {{{"directory", home()}, {"layout", "node,shared"}}, "directory=FAST,HOME"},
      {{{"directory", home()}, {"disk", "1GiB,1GiB"}}, "directory=FAST,HOME"},
      {{{"directory", home() + "," + home()}}, "are the same"},
      {{{"directory", home() + "/../home," + home()}}, "are the same"},
      {{{"disk", "1GiB"}}, "disk=FAST,HOME"},
      {{{"keep", "on"}}, "keep=on"},
      {{{"resume", "on"}, {"disk", "unlimited,0B"}}, "resume=on"},
      {{{"transport", "mpio"}}, "transport=mpio"},
      {{{"directory", fast() + "/not/there," + home()}}, "not/there"}};
  for (const auto& [settings, words] : mistakes) {
    RunHandle run = prepared(model_, settings);
    EXPECT_NE(anadrome_begin(run, kSteps), ANADROME_OK) << words;
    EXPECT_TRUE(has_part(anadrome_last_error(), words));
  }
  if (ranks() > 1) {
    RunHandle differs =
        prepared(model_, {{"directory", rank() == 0 ? home() : fast() + "," + home()}});
    EXPECT_EQ(anadrome_begin(differs, kSteps), ANADROME_ERR_ARGUMENT);
    EXPECT_TRUE(has_part(anadrome_last_error(), "differs between ranks"));
  }
  anadrome_store* store = nullptr;
  for (const std::string& more : {std::string(), std::string(" disk=1MiB,1MiB")}) {
    const std::string both = "directory=" + fast() + "," + home() + more;
    EXPECT_EQ(anadrome_store_open(MPI_COMM_WORLD, both.c_str(), &store), ANADROME_ERR_UNSUPPORTED);
  }
  RunHandle run(MPI_COMM_WORLD);
  EXPECT_NE(anadrome_set(run, "directory", "a,b,c"), ANADROME_OK);
  EXPECT_NE(anadrome_set(run, "directory", ",b"), ANADROME_OK);
}

}  // namespace

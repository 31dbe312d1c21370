// SPDX-License-Identifier: BSD-2-Clause
// directory=FAST,HOME: the same bits, whatever becomes of either.
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

  using Settings = std::vector<std::pair<std::string, std::string>>;

  void prepare(RunHandle& run, CoupledModel& model, const Settings& more = {}) {
    EXPECT_EQ(model.add_fields(run), ANADROME_OK);
    run.set("schedule", "async");
    run.set("directory", fast() + "," + home());
    run.set("memory", "160KiB");  // of blocks of 16 KiB
    run.set("warnings", "off");
    for (const auto& [key, value] : more) run.set(key, value);
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

TEST_F(TwoDirectories, BringBackEveryState) {
  struct Kind {
    const char *interval, *layout;
    bool unknown = false;
  };
  for (const Kind& kind : {Kind{"1", "shared"}, Kind{"auto", "shared"}, Kind{"1", "node,rank"},
                           Kind{"auto", "rank,shared"}, Kind{"2", "node", true},
                           Kind{"auto", "shared", true}, Kind{"auto", "shared,shared"}}) {
    SCOPED_TRACE(std::string(kind.interval) + ", " + kind.layout);
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model_, {{"interval", kind.interval}, {"layout", kind.layout}, kRates});
    expect_exact(run, sweep(run, kind.unknown));
  }
}

TEST_F(TwoDirectories, ShareTheStatesByTheirRates) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model_, {{"interval", "1"}, {"bandwidth_limit", "40MB/s,20MB/s"}});
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

TEST_F(TwoDirectories, ServeOneSweepAfterTheOther) {
  {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model_, {{"interval", "2"}, kRates});
    for (int i = 0; i < 3; ++i) expect_exact(run, sweep(run));
    SweepDriver driver(run, model_, reference_);
    driver.adopt(kSteps);
    const Outcome outcome = driver.sweep_again();
    EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
  }
  RunHandle passes(MPI_COMM_WORLD);
  prepare(passes, model_, {{"interval", "2"}, {"passes", "4"}, kRates});
  SweepDriver again(passes, model_, reference_);
  EXPECT_TRUE(again.sweep(kSteps).exact);
  for (const anadrome_direction direction : {ANADROME_PASS_FORWARD, ANADROME_PASS_REVERSE,
                                             ANADROME_PASS_FORWARD, ANADROME_PASS_REVERSE}) {
    const Outcome outcome = again.pass(direction);
    EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
  }
}

TEST_F(TwoDirectories, ComeAndGoFromSweepToSweep) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model_, {{"interval", "2"}});
  const std::string both = fast() + "," + home(), other = home() + "," + fast();
  const std::vector<Settings> sweeps = {
      {kRates},
      {{"directory", home()}, {"bandwidth_limit", "10MB/s"}},
      {{"directory", both}, kRates, {"disk", "300KiB,300KiB"}, {"layout", "shared,node"}},
      {{"disk", "0B,unlimited"}},
      {{"disk", "unlimited,0B"}, {"interval", "auto"}},
      {{"directory", other}, {"disk", "unlimited"}, {"layout", "rank"}},
      {{"schedule", "revolve"}},
      {{"schedule", "async"}, {"interval", "auto"}},
      {{"directory", fast()}, {"bandwidth_limit", "none"}, {"memory", "60KiB"}},
      {{"directory", both}, {"memory", "40KiB"}, {"disk", "1MiB,600KiB"}, {"interval", "1"}},
      {{"anchors", "5"}, {"memory", "250KiB"}, {"checkpoints", "2"}},
      {{"schedule", "auto"}, {"anchors", "unlimited"}, {"disk", "unlimited"}}};
  for (std::size_t i = 0; i < sweeps.size(); ++i) {
    SCOPED_TRACE(i);
    for (const auto& [key, value] : sweeps[i]) run.set(key, value);
    for (const bool unknown : {false, true, false}) expect_exact(run, sweep(run, unknown));
  }
}

TEST_F(TwoDirectories, KeepFieldsOfEveryKind) {
  const std::vector<std::pair<const char*, std::pair<Counts, unsigned>>> kinds = {
      {"packed", {Counts{3, 0, 2, 0, 900}, kNoField}},
      {"exchanged", {Counts{300, 40, 2, 9, 0}, kAllFields}},
      {"small", {Counts{1, 0, 1, 0, 0}, kNoField}}};
  for (const auto& [name, kind] : kinds) {
    SCOPED_TRACE(name);
    CoupledModel model(MPI_COMM_WORLD, kind.first);
    model.exchanged = kind.second;
    const Reference reference(model, kSteps);
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model, {{"interval", "1"}, kRates});
    SweepDriver driver(run, model, reference);
    driver.exact_sweep(kSteps);
  }
  CoupledModel tape(MPI_COMM_WORLD, Counts{0, 0, 2000, 0, 0}, true);
  const Reference reference(tape, kSteps);
  for (const char* codec : {"off", "lz4"}) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, tape, {{"interval", "3"}, {"compress", codec}, {"memory", "400KiB"}, kRates});
    SweepDriver driver(run, tape, reference);
    EXPECT_TRUE(driver.sweep(kSteps).exact) << codec;
  }
}

// On one rank: a directory that takes nothing from some moment on, gives nothing back, or is full.
TEST_F(TwoDirectories, GoOnWithoutEitherAsFarAsCanBe) {
  struct Trouble {
    Operation operation;
    Fault fault;
  };
  for (const std::string& where : {fast(), home()}) {
    for (const Trouble& trouble :
         {Trouble{Operation::kWrite, Fault::kIoError}, Trouble{Operation::kWrite, Fault::kNoSpace},
          Trouble{Operation::kRead, Fault::kIoError}, Trouble{Operation::kRead, Fault::kFlippedBit},
          Trouble{Operation::kAllocate, Fault::kNoSpace}}) {
      for (const std::int64_t at : {1, 2, 9}) {
        SCOPED_TRACE(where + ": " + to_string(trouble.fault) + " at " +
                     to_string(trouble.operation) + " " + std::to_string(at));
        RunHandle run(MPI_COMM_WORLD);
        prepare(run, model_, {{"interval", "1"}, {"direct", "off"}, kRates});
        FaultyFileSystem files;
        files.only_in(where + "/");
        const Outcome outcome = sweep(run, false, [&] {
          if (rank() == ranks() - 1) files.arm(trouble.operation, at, trouble.fault, true);
        });
        files.disarm();
        expect_exact(run, outcome);
        EXPECT_LE(outcome.advances, 12 * kSteps);
      }
    }
  }
}

// What was under way to the fast directory fails after all ranks know that it takes no more.
TEST_F(TwoDirectories, GoOnAtHomeThoughMoreWritesToTheFastOneFail) {
  for (const Fault fault : {Fault::kNoSpace, Fault::kIoError}) {
    SCOPED_TRACE(to_string(fault));
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model_,
            {{"interval", "1"}, {"direct", "off"}, {"bandwidth_limit", "4MB/s,4MB/s"}});
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
  const Settings resumes = {
      {"interval", "1"}, {"resume", "on"}, {"checkpoint_interval", "0"}, kRates};
  {
    FaultyFileSystem files;  // of the transfers that a stop leaves under way, too
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model_, resumes);
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
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model_, resumes);
  EXPECT_GT(expect_to_go_on(run, model_, reference_, kSteps), 0);
  EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
  RunHandle last(MPI_COMM_WORLD);  // starts over, and leaves nothing
  prepare(last, model_, {kRates});
  expect_exact(last, sweep(last));
}

TEST_F(TwoDirectories, KeepToTheRoomOfEach) {
  for (const char* disk : {"300KiB,unlimited", "unlimited,300KiB", "300KiB,300KiB", "0B,300KiB",
                           "300KiB,0B", "unlimited,unlimited"}) {
    SCOPED_TRACE(disk);
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model_, {{"interval", "1"}, {"layout", "shared,shared"}, {"disk", disk}, kRates});
    const Outcome outcome = sweep(run);
    expect_exact(run, outcome);
    const anadrome_stats stats = run.statistics();
    const bool both_limited = std::string(disk).find("unlimited") == std::string::npos;
    EXPECT_TRUE(!both_limited || stats.disk_bytes_reserved_all_ranks <= 600 * 1024)
        << stats.disk_bytes_reserved_all_ranks;
  }
}

// The command that the summary prints gives the rates of home alone.
TEST_F(TwoDirectories, NeedNoRoomInTheFastOneWhereHomeIsSlow) {
  const std::string report = directory() + "/report";
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, model_,
          {{"memory", "80KiB"},
           {"interval", "4"},
           {"disk", "0B,unlimited"},
           {"bandwidth_limit", "none,3MB/s"},
           {"report", report}});
  for (int i = 0; i < 2; ++i) expect_exact(run, sweep(run));
  run.close();
  if (rank() != 0) return;
  std::ifstream file(report);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NE(text.find("--write-rate"), std::string::npos) << text;
  EXPECT_EQ(text.find("--disk 0,"), std::string::npos) << text;  // plan wants two rates with that
  fs::remove(report);
}

// Kept files that a run of this name left are there still, and a directory need not be.
TEST_F(TwoDirectories, AreComparedBeforeAnythingIsTouched) {
  {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model_, {{"directory", home()}, {"interval", "1"}, {"keep", "on"}});
    expect_exact(run, sweep(run));
  }
  const std::string to_be = home() + "/not/yet";
  for (const std::string& both : {home() + "/," + home(), to_be + "/," + to_be}) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model_, {{"directory", both}});
    EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_ARGUMENT);
    EXPECT_NE(std::string(anadrome_last_error()).find("are the same"), std::string::npos);
  }
  EXPECT_TRUE(fs::exists(home() + "/anadrome/states.h5"));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) fs::remove_all(home() + "/anadrome");
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(TwoDirectories, AreRefusedWhereTheyMakeNoSense) {
  const std::vector<std::pair<Settings, std::string>> mistakes = {
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
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, model_, settings);
    EXPECT_NE(anadrome_begin(run, kSteps), ANADROME_OK) << words;
    EXPECT_NE(std::string(anadrome_last_error()).find(words), std::string::npos)
        << anadrome_last_error();
  }
  if (ranks() > 1) {
    RunHandle differs(MPI_COMM_WORLD);
    prepare(differs, model_, {{"directory", rank() == 0 ? home() : fast() + "," + home()}});
    EXPECT_EQ(anadrome_begin(differs, kSteps), ANADROME_ERR_ARGUMENT);
    EXPECT_NE(std::string(anadrome_last_error()).find("differs between ranks"), std::string::npos)
        << anadrome_last_error();
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

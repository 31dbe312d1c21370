// SPDX-License-Identifier: BSD-2-Clause
// The run's private directory: who may see it, what it must not follow or touch, and what it takes
// over.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include "forwarding_file_system.h"
#include "has_part.h"
#include "mpi_main.h"
#include "short_sweep.h"
#include "store/directory/lock_record.h"

namespace {

using namespace anadrome::test;
namespace fs = std::filesystem;

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

class Directory : public ShortSweep {
 protected:
  void expect_refused(RunHandle& run, anadrome_status status, const std::string& part) {
    EXPECT_EQ(anadrome_begin(run, 20), status) << anadrome_last_error();
    EXPECT_TRUE(has_part(anadrome_last_error(), part));
  }

  // Rank 0 does it, between two moments at which no rank does anything else.
  static void alone(const std::function<void()>& act) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) act();
    MPI_Barrier(MPI_COMM_WORLD);
  }

  static fs::path run_directory() { return fs::path(directory()) / "anadrome"; }

  static void lock_by_another_host(std::int64_t seconds_ago) {
    anadrome::store::LockRecord record = anadrome::store::new_lock_record("0123");
    record.holder.host = "node017";
    record.holder.machine = "another";
    record.heartbeat -= seconds_ago;
    const std::string lock = run_directory() / "lock";
    write_lock(anadrome::store::File::open(lock, O_RDWR | O_CREAT), record);
  }
};

TEST_F(Directory, ThatIsMissingOrCannotBeWrittenIsNamedOnAllRanks) {
  alone([] { std::ofstream(directory() + "/file") << "text"; });
  for (const std::string& where : {directory() + "/missing/too", directory() + "/file",
                                   std::string("/proc"), std::string("/proc/self/fd")}) {
    for (const char* layout : {"shared", "rank"}) {
      RunHandle run = prepared({{"layout", layout}, {"directory", where}});
      expect_refused(run, ANADROME_ERR_IO,
                     where == "/proc" ? "no directory can be made there" : where);
      run.set("directory", directory());
      expect_exact_sweep(run);
    }
  }
  alone([] { fs::remove(directory() + "/file"); });
}

class FilesInMemory final : public ForwardingFileSystem {
 public:
  bool in_memory(const std::string&) override { return rank() == ranks() - 1; }
};

TEST_F(Directory, ThatIsInMemoryOnOneRankIsSaidOnceForAll) {
  const FilesInMemory files;
  RunHandle run = prepared({{"layout", "rank"}});
  testing::internal::CaptureStderr();
  expect_exact_sweep(run);
  const std::string said = testing::internal::GetCapturedStderr();
  const std::string whose = ranks() > 1 ? "rank " + std::to_string(ranks() - 1) + ": " : "";
  const std::string expected =
      "anadrome: " + whose + run_directory().string() + " is in memory (tmpfs or ramfs): ";
  EXPECT_EQ(said.starts_with(expected), rank() == 0) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), rank() == 0 ? 1 : 0) << said;
}

TEST_F(Directory, IsForItsUserAlone) {
  alone([] { umask(0); });
  for (const char* layout : {"shared", "node", "rank"}) {
    RunHandle run = prepared({{"layout", layout}});
    expect_exact_sweep(run);
    EXPECT_EQ(mode_of(run_directory()), 0700U);
    int files = 0;
    for (const auto& file : fs::directory_iterator(run_directory())) {
      EXPECT_EQ(mode_of(file.path()), 0600U) << file.path();
      ++files;
    }
    EXPECT_GE(files, 2);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  alone([] { umask(022); });
}

// By another user, where the directory above it is everybody's.
TEST_F(Directory, ThatIsSwappedForALinkWhileTheRunWorksLeadsNowhere) {
  const fs::path away = directory() + "/away", victim = directory() + "/victim";
  for (const bool keep : {false, true}) {
    alone([&] { fs::create_directory(victim); });
    RunHandle run = prepared(
        {{"watchdog", "1000"}, {"checkpoint_interval", "0"}, {keep ? "keep" : "resume", "on"}});
    if (keep) run.set("transport", kTransports.back());
    SweepDriver driver(run, model_, reference_);
    bool swapped = false;
    driver.before_action = [&](const anadrome_action& action) {
      if (swapped || action.kind != ANADROME_ADVANCE || action.first < 3) return;
      swapped = true;
      alone([&] {
        fs::rename(run_directory(), away);
        fs::create_directory_symlink(victim, run_directory());
      });
    };
    const Outcome outcome = driver.sweep(kSteps, true);  // whose length is unknown: its files grow
    EXPECT_TRUE(swapped && outcome.done && outcome.exact) << outcome.message;
    EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TRUE(fs::is_empty(victim));
    EXPECT_TRUE(fs::is_symlink(run_directory()));
    EXPECT_EQ(fs::exists(away / "states.h5"), keep);
    EXPECT_EQ(fs::exists(away), keep);
    alone([&] {
      for (const fs::path& path : {away, victim, run_directory()}) fs::remove_all(path);
    });
  }
}

TEST_F(Directory, IsNotKeptWhereAnotherFileTookThePlaceOfASegment) {
  RunHandle run = prepared({{"keep", "on"}});
  expect_exact_sweep(run);
  const fs::path segment = run_directory() / "segment-00000.h5";
  alone([&] {
    fs::remove(segment);
    std::ofstream(segment) << "mine";
  });
  EXPECT_EQ(run.close(), ANADROME_ERR_IO) << anadrome_last_error();
  alone([&] {
    EXPECT_EQ(fs::file_size(segment), 4U);
    fs::remove_all(run_directory());
  });
}

TEST_F(Directory, OfALiveRunOnAnotherHostIsBusyOnAllRanksUntilItsHeartbeatIsOld) {
  const auto leave = [](std::int64_t seconds_ago) {
    alone([&] {
      fs::create_directory(run_directory());
      lock_by_another_host(seconds_ago);
    });
  };
  RunHandle run = prepared();
  leave(5);
  expect_refused(run, ANADROME_ERR_BUSY, "on node017");
  leave(500);
  expect_exact_sweep(run);
}

// By a run on a host from which this one seemed dead, between two of its sweeps.
TEST_F(Directory, ThatAnotherRunTookOverIsLeftAloneByTheNextBegin) {
  RunHandle run = prepared({{"resume", "on"}});
  expect_exact_sweep(run);
  const fs::path journal = run_directory() / "journal-000000";
  alone([&] {
    lock_by_another_host(0);
    std::ofstream(journal) << "text";
  });
  MPI_Barrier(MPI_COMM_WORLD);
  expect_refused(run, ANADROME_ERR_BUSY, "node017");
  EXPECT_EQ(fs::file_size(journal), 4U);
  EXPECT_EQ(run.close(), ANADROME_ERR_BUSY) << anadrome_last_error();
  EXPECT_EQ(fs::file_size(journal), 4U);
  alone([] { fs::remove_all(run_directory()); });
}

// As node-local disks are, where a run of that name died on the second node.
TEST_F(Directory, ThatIsNotTheSameForAllRanksIsRefusedAndLeftAlone) {
  if (ranks() == 1) return expect_no_files();
  const std::string own = directory() + "/of-rank-" + std::to_string(std::min(rank(), 1));
  const fs::path dead = fs::path(directory()) / "of-rank-1/anadrome";
  alone([&] {
    fs::create_directory(own);
    fs::create_directories(dead);
    for (const char* name : {"lock", "segment-00000.h5", "journal-000001"}) {
      std::ofstream(dead / name) << "text";
    }
  });
  {
    RunHandle run = prepared({{"directory", own}});
    expect_refused(run, ANADROME_ERR_ARGUMENT, "rank 1: directory is not the same");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_TRUE(fs::is_empty(directory() + "/of-rank-0"));
  for (const char* name : {"lock", "segment-00000.h5", "journal-000001"}) {
    EXPECT_EQ(fs::file_size(dead / name), 4U) << name;
  }
  alone([] {
    for (const char* of : {"/of-rank-0", "/of-rank-1"}) fs::remove_all(directory() + of);
  });
}

}  // namespace

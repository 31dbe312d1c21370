// SPDX-License-Identifier: BSD-2-Clause
#include "tool/runs/run_listing.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "faulty_file_system.h"
#include "files_of_a_run.h"
#include "forwarding_file_system.h"
#include "store/directory/run_directory.h"
#include "temporary_directory.h"

namespace anadrome::tool {
namespace {

using store::FileKind, store::Leftovers, store::RunDirectory;
using store::put_file_of_run, store::TemporaryDirectory;

class RunListing : public testing::Test {
 protected:
  // A directory as a killed run leaves it.
  std::string dead(const std::string& name) const {
    std::filesystem::create_directory(parent / name);
    for (const char* file : {"lock", "segment-00000.h5", "journal-000000"})
      put_file_of_run(parent / name, file, "0123");
    return parent / name;
  }
  void put(const std::string& file, const std::string& text) const {
    std::ofstream(parent / file) << text;
  }
  static anadrome_status status_of(const std::function<void()>& body) {
    return failure_from(body).status;
  }

  const TemporaryDirectory parent;
};

class ReadOnlyDisk final : public test::ForwardingFileSystem {
 public:
  int open(const std::string& path, int flags, mode_t mode) override {
    return (flags & O_ACCMODE) == O_RDONLY ? real_.open(path, flags, mode) : -EROFS;
  }
};

TEST_F(RunListing, WritesNothingAndKeepsNoLock) {
  dead("b");
  {
    const ReadOnlyDisk disk;
    EXPECT_EQ(list_runs(parent.path()).size(), 1u);
  }
  EXPECT_EQ(list_runs(parent / "b").size(), 1u);
  EXPECT_NO_THROW(RunDirectory::create(parent.path(), "b", "new"));
}

TEST_F(RunListing, LeavesOutWhatIsNoRun) {
  std::filesystem::create_directory(parent / "empty");
  put("file", "x");
  dead("mixed");
  put("mixed/thesis.tex", "x");
  for (const char* name : {"journal-", "journal-1x", "segment-1", "xsegment-00000.h5"}) {
    std::filesystem::create_directory(parent / "other");
    put("other/lock", "x");
    put(std::string("other/") + name, "x");
    EXPECT_TRUE(list_runs(parent / "other").empty()) << name;
    std::filesystem::remove_all(parent / "other");
  }
  dead("real");
  std::filesystem::create_directory_symlink(parent / "real", parent / "link");
  const std::vector<ListedRun> runs = list_runs(parent.path());
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].path, parent / "real");
  for (const char* name : {"link", "file"})
    EXPECT_EQ(status_of([&] { list_runs(parent / name); }), ANADROME_ERR_ARGUMENT) << name;
}

TEST_F(RunListing, RemovesDeadRunsAndKeptOnesThatAreAsTheyWereSeen) {
  remove_dead_run(list_runs(dead("k"))[0]);
  EXPECT_TRUE(parent.empty());
  const auto kept = [&] {
    std::filesystem::create_directory(parent / "k");
    put_file_of_run(parent / "k", "journal-000000", "1");
    put_file_of_run(parent / "k", "segment-00000.h5", "1");
    return list_runs(parent / "k")[0];
  };
  remove_kept_run(kept());
  EXPECT_TRUE(parent.empty());
  const ListedRun seen = kept();
  EXPECT_EQ(status_of([&] { remove_dead_run(seen); }), ANADROME_ERR_ARGUMENT);
  std::filesystem::resize_file(parent / "k/segment-00000.h5", std::size_t{1} << 20);
  EXPECT_EQ(status_of([&] { remove_kept_run(seen); }), ANADROME_ERR_BUSY);
  EXPECT_EQ(list_runs(parent / "k")[0].state, RunState::kKept) << "no lock was left";
  RunDirectory live = RunDirectory::create(parent.path(), "k", "1", Leftovers::kTakeOver);
  EXPECT_EQ(status_of([&] { remove_kept_run(seen); }), ANADROME_ERR_BUSY);
  EXPECT_EQ(status_of([&] { remove_dead_run(list_runs(parent / "k")[0]); }), ANADROME_ERR_BUSY);
  EXPECT_TRUE(std::filesystem::exists(parent / "k/journal-000000"));
}

// Whoever may write to the directory above swaps what was seen for another run, or a link to one.
TEST_F(RunListing, RemovesTheRunThatItSawAndNoneThatHasItsNameNow) {
  const std::string path = dead("b"), other = dead("c");
  for (const bool is_kept : {false, true}) {
    if (is_kept) std::filesystem::remove(path + "/lock"), std::filesystem::remove(other + "/lock");
    const ListedRun seen = list_runs(path)[0];
    std::filesystem::rename(path, parent / "away");
    std::filesystem::create_directory_symlink(other, path);
    const auto remove = [&] { is_kept ? remove_kept_run(seen) : remove_dead_run(seen); };
    EXPECT_EQ(status_of(remove), ANADROME_ERR_ARGUMENT);
    std::filesystem::remove(path);
    std::filesystem::rename(other, path);
    EXPECT_EQ(status_of(remove), ANADROME_ERR_BUSY);
    EXPECT_TRUE(std::filesystem::exists(path + "/segment-00000.h5"));
    std::filesystem::rename(path, other);
    std::filesystem::rename(parent / "away", path);
  }
}

TEST_F(RunListing, LeavesAllWhereOneFileIsSomebodyElses) {
  const std::string path = dead("b");
  put("b/states.h5", "mine");
  const ListedRun seen = list_runs(path)[0];
  EXPECT_EQ(file_of_nobody(seen), "states.h5");
  EXPECT_EQ(status_of([&] { remove_dead_run(seen); }), ANADROME_ERR_ARGUMENT);
  EXPECT_TRUE(std::filesystem::exists(path + "/segment-00000.h5"));
}

// What a run or clean may find beside its own files, under names of theirs: no byte of it is lost.
TEST_F(RunListing, LosesNoByteOfTheFilesOfTheirUsers) {
  const std::vector<std::string> used = {"lock",
                                         "states.h5",
                                         "journal-000000",
                                         "journal-2025",
                                         "adjoint-000000",
                                         "adjoint-000007",
                                         "segment-00000.h5",
                                         "segment-00001.h5",
                                         "segment-copy.h5",
                                         "segment-left.h5",
                                         "heartbeats-abc",
                                         "objects-rank-000000.h5",
                                         "notes.txt"};
  int removed = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    std::mt19937_64 random(seed);
    const std::string path = parent / "run";
    std::filesystem::create_directory(path);
    std::map<std::string, std::string> mine;
    const std::uint64_t of_ten = random() % 4;
    for (const std::string& name : used) {
      if (random() % 2 == 0) continue;
      // The journal beside it would say that it is the run's.
      const bool named_by_journal = name == "adjoint-000000";
      if (random() % 10 < of_ten && !named_by_journal) {
        mine[name] = "mine " + std::to_string(random());
        put("run/" + name, mine[name]);
      } else if (store::kind_of(name) != FileKind::kNone &&
                 store::kind_of(name) != FileKind::kHeartbeats) {
        put_file_of_run(path, name, "0123");
      }
    }
    for (int act = 0; act < 3; ++act) {
      failure_from([&] {
        const std::uint64_t what = random() % 4;
        for (const ListedRun& run : list_runs(parent.path())) {
          if (what == 0) remove_dead_run(run);
          if (what == 1) remove_kept_run(run);
        }
        if (what < 2) return;
        RunDirectory run = RunDirectory::create(
            parent.path(), "run", "new", what == 2 ? Leftovers::kRemove : Leftovers::kTakeOver);
        if (random() % 2 == 0) {  // while it runs
          mine["segment-00003.h5"] = "mine, too";
          put("run/segment-00003.h5", mine["segment-00003.h5"]);
        }
        put_file_of_run(path, "segment-00004.h5", "new");
        random() % 3 == 0 ? run.keep() : run.remove();
      });
    }
    for (const auto& [name, bytes] : mine) {
      std::ifstream in(path + "/" + name);
      const std::string left{std::istreambuf_iterator<char>(in), {}};
      ASSERT_EQ(left, bytes) << "seed " << seed << ": " << name;
    }
    removed += std::filesystem::exists(path) ? 0 : 1;
    std::filesystem::remove_all(path);
  }
  EXPECT_GE(removed, 60);  // most trees have a file of the user's, or one that nothing vouches for
}

TEST_F(RunListing, RemovesARunWithNoFileOpenAndItsLockWhenAllElseIsGone) {
  test::KeepsWhatIsOpen open_files;
  const std::string path = dead("b");
  test::FaultyFileSystem files;
  for (std::int64_t at = 1; at <= 2; ++at) {
    files.arm(test::Operation::kUnlink, at, test::Fault::kIoError);
    EXPECT_EQ(status_of([&] { remove_dead_run(list_runs(path)[0]); }), ANADROME_ERR_IO);
    EXPECT_TRUE(std::filesystem::exists(path + "/lock"));
  }
  files.disarm();
  remove_dead_run(list_runs(path)[0]);
  EXPECT_TRUE(parent.empty());
}

}  // namespace
}  // namespace anadrome::tool

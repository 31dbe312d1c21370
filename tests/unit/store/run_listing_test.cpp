// SPDX-License-Identifier: BSD-2-Clause
#include "store/run_listing.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "faulty_file_system.h"
#include "store/format.h"
#include "store/run_directory.h"
#include "temporary_directory.h"

namespace anadrome::store {
namespace {

class RunListing : public testing::Test {
 protected:
  // A directory as a killed run leaves it.
  std::string dead(const std::string& name) const {
    std::filesystem::create_directory(parent / name);
    put(name + "/lock", "0123");
    put(name + "/segment-00000.h5", "bytes");
    put(name + "/journal-000000", "more");
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

TEST_F(RunListing, TellsLiveDeadAndKeptRuns) {
  RunDirectory live = RunDirectory::create(parent.path(), "c", "4567");
  dead("b");
  std::filesystem::create_directory(parent / "a");
  put("a/states.h5", "kept");
  const std::vector<ListedRun> runs = list_runs(parent.path());
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].path, parent / "a");
  EXPECT_EQ(runs[0].state, RunState::kKept);
  EXPECT_EQ(runs[1].state, RunState::kDead);
  EXPECT_EQ(runs[1].lock.run_id, "0123");
  ASSERT_EQ(runs[1].files.size(), 2u);
  EXPECT_EQ(runs[1].files[0].name, "journal-000000");
  EXPECT_EQ(runs[1].files[1].bytes, 5);
  EXPECT_EQ(runs[2].state, RunState::kLive);
  EXPECT_EQ(runs[2].lock.holder.pid, ::getpid());
  live.remove();
}

TEST_F(RunListing, JudgesRunsOfOtherHostsByTheirHeartbeat) {
  const std::string path = dead("b");
  const auto beat = [&](std::int64_t seconds_ago) {
    LockRecord record = new_lock_record("0123");
    record.holder.machine = "another";
    record.holder.host = "node017";
    record.heartbeat -= seconds_ago;
    write_lock(File::open(path + "/lock", O_RDWR), record);
  };
  beat(5);
  EXPECT_EQ(list_runs(path)[0].state, RunState::kLive);
  const Failure refused = failure_from([&] { remove_dead_run(path); });
  EXPECT_EQ(refused.status, ANADROME_ERR_BUSY);
  EXPECT_NE(refused.message.find("on node017"), std::string::npos) << refused.message;
  beat(500);
  EXPECT_EQ(list_runs(path)[0].state, RunState::kDead);
  remove_dead_run(path);
  EXPECT_TRUE(parent.empty());
}

TEST_F(RunListing, DoesNotKeepTheLockThatItAskedFor) {
  const std::string path = dead("b");
  put("b/segment-00000.h5", std::string("\x89HDF ") + kFormatAttribute);
  EXPECT_EQ(list_runs(path).size(), 1u);
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
  EXPECT_EQ(status_of([&] { list_runs(parent / "link"); }), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(status_of([&] { list_runs(parent / "file"); }), ANADROME_ERR_ARGUMENT);
}

TEST_F(RunListing, RemovesKeptRunsThatAreAsTheyWereSeen) {
  const auto kept = [&] {
    std::filesystem::create_directory(parent / "k");
    put("k/journal-000000", "more");
    put("k/segment-00000.h5", "bytes");
    return list_runs(parent / "k")[0];
  };
  remove_kept_run(kept());
  EXPECT_TRUE(parent.empty());

  const ListedRun seen = kept();
  put("k/segment-00000.h5", "other bytes");
  EXPECT_EQ(status_of([&] { remove_kept_run(seen); }), ANADROME_ERR_BUSY);
  EXPECT_EQ(list_runs(parent / "k")[0].state, RunState::kKept) << "no lock was left";
  put("k/segment-00000.h5", std::string("\x89HDF ") + kFormatAttribute);
  RunDirectory live = RunDirectory::create(parent.path(), "k", "1", {Leftovers::kTakeOver});
  EXPECT_EQ(status_of([&] { remove_kept_run(seen); }), ANADROME_ERR_BUSY);
  EXPECT_TRUE(std::filesystem::exists(parent / "k/journal-000000"));
}

TEST_F(RunListing, RemovesDeadRunsOnly) {
  const std::string path = dead("b");
  remove_dead_run(path);
  EXPECT_TRUE(parent.empty());

  RunDirectory live = RunDirectory::create(parent.path(), "c", "1");
  EXPECT_EQ(status_of([&] { remove_dead_run(parent / "c"); }), ANADROME_ERR_BUSY);
  put("c/states.h5", "x");
  live.keep();
  EXPECT_EQ(status_of([&] { remove_dead_run(parent / "c"); }), ANADROME_ERR_ARGUMENT);
  EXPECT_TRUE(std::filesystem::exists(parent / "c/states.h5"));

  dead("d");
  put("d/thesis.tex", "mine");
  EXPECT_EQ(status_of([&] { remove_dead_run(parent / "d"); }), ANADROME_ERR_ARGUMENT);
  EXPECT_TRUE(std::filesystem::exists(parent / "d/segment-00000.h5"));
}

TEST_F(RunListing, KeepsTheLockUntilAllElseIsGone) {
  const std::string path = dead("b");
  test::FaultyFileSystem files;
  for (std::int64_t at = 1; at <= 2; ++at) {
    files.arm(test::Operation::kUnlink, at, test::Fault::kIoError);
    EXPECT_EQ(status_of([&] { remove_dead_run(path); }), ANADROME_ERR_IO);
    EXPECT_TRUE(std::filesystem::exists(path + "/lock"));
  }
  files.disarm();
  remove_dead_run(path);
  EXPECT_TRUE(parent.empty());
}

}  // namespace
}  // namespace anadrome::store

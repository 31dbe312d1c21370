// SPDX-License-Identifier: BSD-2-Clause
// A run with two directories goes on where ranks do not know of the same states in the fast one.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <string>

#include "forwarding_file_system.h"
#include "mpi_main.h"
#include "stopped_life.h"

namespace {

using namespace anadrome;
using namespace anadrome::test;
namespace fs = std::filesystem;

std::string fast() { return directory() + "/fast"; }
std::string home() { return directory() + "/home"; }

// What this rank writes to the fast directory cannot be synced, from some open descriptor on.
class UnsyncedFast final : public ForwardingFileSystem {
 public:
  int open(const std::string& path, int flags, mode_t mode) override {
    const int descriptor = ForwardingFileSystem::open(path, flags, mode);
    if (descriptor >= 0 && descriptor < kMost)
      fast_[descriptor] = path.find("/fast/anadrome/segment") != std::string::npos;
    return descriptor;
  }
  int sync(int descriptor) override {
    const bool fails = descriptor >= 0 && descriptor < kMost && fast_[descriptor];
    return fails ? -EIO : ForwardingFileSystem::sync(descriptor);
  }

 private:
  static constexpr int kMost = 1024;
  std::atomic<bool> fast_[kMost] = {};
};

struct Life : StoppedLife {
  /// `where`: directories.
  void live(std::int64_t stop_at, const std::string& where, const char* transport = "direct") {
    const bool two = where.find(',') != std::string::npos;
    StoppedLife::live(stop_at, {{"warnings", "off"},
                                {"transport", transport},
                                {"bandwidth_limit", two ? "none,200kB/s" : "none"},
                                {"directory", where}});
  }
  static Life until(std::int64_t stop_at) {
    Life life;
    life.live(stop_at, fast() + "," + home());
    EXPECT_EQ(life.status, stop_at > kSteps ? ANADROME_OK : ANADROME_STOPPED) << life.message;
    return life;
  }
  static Life whole() { return until(kSteps + 1); }
};

class Places : public testing::Test {
 protected:
  void SetUp() override {
    if (rank() == 0) {
      for (const std::string& path : {fast(), home()}) fs::create_directory(path);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void TearDown() override {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) {
      for (const std::string& path : {fast(), home()}) {
        EXPECT_TRUE(fs::is_empty(path)) << path;
        fs::remove_all(path);
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  void expect_right(const Life& life, const Life& right) {
    EXPECT_EQ(life.status, ANADROME_OK) << life.message;
    EXPECT_EQ(life.adjoint, right.adjoint);
  }
};

TEST_F(Places, AreTheSameOnAllRanksAlsoWhereOneKnowsOfFewerStates) {
  const Life right = Life::whole();
  for (const bool again : {false, true}) {
    SCOPED_TRACE(again);
    const auto stop = [](std::int64_t at) {
      if (rank() < ranks() - 1) return Life::until(at);
      const UnsyncedFast files;
      return Life::until(at);
    };
    stop(40);
    if (again) stop(80);
    const Life last = Life::whole();
    EXPECT_GE(last.resumed_at, again ? 80 : 40);
    EXPECT_GT(last.stats.anchors_lost, 0);
    expect_right(last, right);
  }
}

// Home has fewer states than were kept, so their places are not those of their numbers.
TEST_F(Places, AreFoundByRunsThatGoOnAtHomeAlone) {
  const Life right = Life::whole();
  const std::string both = fast() + "," + home();
  for (const std::string& last_where : {home(), both}) {
    SCOPED_TRACE(last_where);
    Life::until(40);
    Life middle;
    middle.live(80, home());
    EXPECT_EQ(middle.status, ANADROME_STOPPED) << middle.message;
    EXPECT_GE(middle.resumed_at, 40);
    Life last;
    last.live(Life::kSteps + 1, last_where);
    EXPECT_GE(last.resumed_at, 80);
    EXPECT_LT(last.stats.anchors_lost, 45);
    expect_right(last, right);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) fs::remove_all(fast() + "/anadrome");  // nobody names it any more
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// Collective transfers want every state in one place on all ranks.
TEST_F(Places, AreNotForTransfersOfAllRanksAtOnce) {
  const Life right = Life::whole();
  if (rank() < ranks() - 1) {
    Life::until(40);
  } else {
    const UnsyncedFast files;
    Life::until(40);
  }
  Life refused;
  refused.live(Life::kSteps + 1, home(), "mpio");
  EXPECT_EQ(refused.status, ANADROME_ERR_UNSUPPORTED) << refused.message;
  EXPECT_NE(refused.message.find("transport=direct"), std::string::npos) << refused.message;
  Life last;
  last.live(Life::kSteps + 1, home());
  EXPECT_GE(last.resumed_at, 40);
  expect_right(last, right);
  if (rank() == 0) fs::remove_all(fast() + "/anadrome");  // nobody names it any more
}

// Whatever was there, a run without them, or with new ones, does not take it for its own.
TEST_F(Places, OfALostDirectoryAreEmpty) {
  const Life right = Life::whole();
  const auto lose = [] {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) fs::remove_all(fast() + "/anadrome");
    MPI_Barrier(MPI_COMM_WORLD);
  };
  Life::until(40);
  lose();
  Life::until(80);
  const Life kept = Life::whole();
  EXPECT_GE(kept.resumed_at, 80);
  EXPECT_GT(kept.stats.anchors_lost, 0);
  EXPECT_LT(kept.stats.anchors_lost, 45);  // those from 40 on are there
  expect_right(kept, right);
  Life::until(40);
  lose();
  Life::until(80);
  lose();
  const Life last = Life::whole();
  EXPECT_GT(last.stats.anchors_lost, 45);
  expect_right(last, right);
}

}  // namespace

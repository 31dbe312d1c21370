// SPDX-License-Identifier: BSD-2-Clause
// A run with two directories goes on where ranks do not know of the same states in the fast one.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "forwarding_file_system.h"
#include "has_part.h"
#include "mpi_main.h"
#include "own_loop.h"
#include "sweep_driver.h"

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

// The life of a process with a run that commits when it is stopped, and goes on with what an
// earlier process left. How many steps there are it does not say beforehand, so files are made as
// it goes on: for 16, 16, 32, .. anchors.
struct Life {
  static constexpr std::int64_t kSteps = 150;
  anadrome_status status = ANADROME_OK;
  std::string message;
  std::int64_t resumed_at = 0;
  std::vector<double> adjoint = std::vector<double>(300, 0);
  anadrome_stats stats = {};

  /// Asks to be stopped where x_k is live and k is `stop_at` or more; commits then alone. `where`:
  /// directories.
  void live(std::int64_t stop_at, const std::string& where, const char* transport = "auto") {
    RunHandle run(MPI_COMM_WORLD);
    const bool two = where.find(',') != std::string::npos;
    for (const auto& [key, value] : std::vector<std::pair<const char*, std::string>>{
             {"schedule", "async"},
             {"interval", "1"},
             {"resume", "on"},
             {"checkpoint_interval", "1000"},
             {"memory", "64KiB"},
             {"transport", transport},
             {"bandwidth_limit", two ? "none,200kB/s" : "none"},
             {"directory", where}}) {
      run.set(key, value);
    }
    std::vector<double> x(adjoint.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1e-3 * static_cast<double>(i);
    add_array(run, "x", x);
    const anadrome_status begun = anadrome_begin(run, ANADROME_STEPS_UNKNOWN);
    anadrome_phase phase = ANADROME_PHASE_IDLE;
    anadrome_resumed(run, &phase, &resumed_at);
    status = follow(run, begun, [&](anadrome_action action) {
      const bool forward = action.kind == ANADROME_ADVANCE && action.again == 0;
      if (forward && action.last >= stop_at && rank() == 0) anadrome_request_stop(run);
      if (forward && action.last >= kSteps) anadrome_finish_forward(run, action.last = kSteps);
      take_steps(action, [&](std::int64_t) {
        for (double& value : x) value += 0.01 * value * (1 - value) + 1e-5;
      });
      for (std::size_t i = 0; i < x.size(); ++i) {
        if (action.kind == ANADROME_TURN) adjoint[i] = x[i];
        if (action.kind == ANADROME_ADJOINT) adjoint[i] *= 1.01 - 0.02 * x[i];
      }
    });
    if (status != ANADROME_OK) message = anadrome_last_error();
    stats = run.statistics();
    EXPECT_EQ(run.close(), ANADROME_OK) << anadrome_last_error();
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
  EXPECT_TRUE(has_part(refused.message, "transport=mpio"));
  Life last;
  last.live(Life::kSteps + 1, home());
  EXPECT_GE(last.resumed_at, 40);
  expect_right(last, right);
  if (rank() == 0) fs::remove_all(fast() + "/anadrome");  // nobody names it any more
}

}  // namespace

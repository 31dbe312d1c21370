// SPDX-License-Identifier: BSD-2-Clause
// The interval between anchors follows the measured times, on all ranks alike.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "coupled_model.h"
#include "faulty_file_system.h"
#include "mpi_main.h"
#include "sweep_driver.h"

namespace anadrome::test {
namespace {

using std::chrono::microseconds;

class Replanning : public ::testing::Test {
 protected:
  Replanning() : model_(MPI_COMM_WORLD, Counts{0, 0, 40000, 0, 0}), reference_(model_, kSteps) {
    EXPECT_EQ(model_.add_fields(run_), ANADROME_OK);
    run_.set("schedule", "async");
    run_.set("memory", "2MiB");  // too little for the rest to be reversed from memory
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  }

  struct Intervals {
    std::int64_t early = 0;  // after a quarter of the steps
    // From there to TURN. A fast disk is judged by the smallest, a slow one by the largest: the
    // machine may hold up one write, or let one pass early.
    std::int64_t smallest = 0;
    std::int64_t largest = 0;
  };

  // A sweep in which a step takes 1 ms, and rank 0's writes `before` and then `after` longer.
  Intervals intervals(microseconds before, microseconds after) {
    FaultyFileSystem files;
    SweepDriver driver(run_, model_, reference_);
    Intervals seen;
    auto& [early, smallest, largest] = seen;
    if (rank_ == 0) files.delay_writes(before);
    driver.before_action = [&](const anadrome_action& action) {
      const anadrome_stats stats = run_.statistics();
      if (action.kind != ANADROME_ADVANCE || action.again != 0) return;
      if (early > 0) {
        smallest = std::min(smallest, stats.interval);
        largest = std::max(largest, stats.interval);
      } else if (action.first >= kSteps / 4) {
        early = smallest = stats.interval;
        if (rank_ == 0) files.delay_writes(after);
      }
      step_slowly(action);
    };
    driver.exact_sweep(kSteps);
    const anadrome_stats stats = run_.statistics();
    EXPECT_EQ(stats.forward_steps_taken, stats.forward_steps_planned);
    EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
    EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, early));
    EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, smallest));
    EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, largest));
    return seen;
  }

  static constexpr std::int64_t kSteps = 2000;
  static void step_slowly(const anadrome_action& action) {
    constexpr microseconds kStep{1000};
    std::this_thread::sleep_for((action.last - action.first) * kStep);
  }
  static constexpr microseconds kSlow{40000};  // some 40 steps

  CoupledModel model_;
  const Reference reference_;
  RunHandle run_{MPI_COMM_WORLD};
  int rank_ = 0;
};

TEST_F(Replanning, SpreadsAnchorsWhenOneRanksDiskBecomesSlow) {
  const Intervals seen = intervals(microseconds(0), kSlow);
  EXPECT_GE(seen.largest, 2 * seen.early);
  EXPECT_GE(seen.largest, 5);
}

TEST_F(Replanning, MovesAnchorsTogetherWhenTheDiskBecomesFast) {
  const Intervals seen = intervals(kSlow, microseconds(0));
  EXPECT_GE(seen.early, 5);
  EXPECT_LE(2 * seen.smallest, seen.early);
}

TEST_F(Replanning, StartsALaterSweepFromTheTimesOfTheOneBefore) {
  intervals(kSlow, kSlow);
  std::int64_t first_anchors = -1, planned = -1;
  FaultyFileSystem files;
  if (rank_ == 0) files.delay_writes(kSlow);
  SweepDriver driver(run_, model_, reference_);
  driver.before_action = [&](const anadrome_action& action) {
    if (action.kind == ANADROME_ADVANCE && first_anchors < 0) {
      // No step was measured in this sweep, and the interval is known.
      first_anchors = run_.statistics().interval;
      planned = run_.statistics().forward_steps_planned;
    }
    if (action.kind == ANADROME_ADVANCE && action.again == 0) step_slowly(action);
  };
  driver.exact_sweep(kSteps);
  EXPECT_GE(planned, kSteps);
  EXPECT_TRUE(first_anchors == 0 || first_anchors >= 5) << "0: all from memory";
  EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, first_anchors));
  EXPECT_GT(run_.statistics().seconds_predicted, 0);
  EXPECT_EQ(run_.statistics().adjoint_guessed, 0);
}

}  // namespace
}  // namespace anadrome::test

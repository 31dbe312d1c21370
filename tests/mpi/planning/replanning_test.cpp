// SPDX-License-Identifier: BSD-2-Clause
// The interval between anchors follows the measured times, on all ranks alike.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
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
    // From there to TURN. Of a fast disk this is judged: the last one is long where the machine
    // held up one write.
    std::int64_t smallest = 0;
    std::int64_t at_turn = 0;
  };

  // A sweep in which a step takes `step`, and rank 0's writes `before` and then `after` longer.
  Intervals intervals(microseconds before, microseconds after) {
    FaultyFileSystem files;
    SweepDriver driver(run_, model_, reference_);
    Intervals seen;
    auto& [early, smallest, at_turn] = seen;
    if (rank_ == 0) files.delay_writes(before);
    driver.before_action = [&](const anadrome_action& action) {
      const anadrome_stats stats = run_.statistics();
      if (action.kind == ANADROME_TURN) at_turn = stats.interval;
      if (action.kind != ANADROME_ADVANCE || action.again != 0) return;
      if (early > 0) {
        smallest = std::min(smallest, stats.interval);
      } else if (action.first >= kSteps / 4) {
        early = smallest = stats.interval;
        if (rank_ == 0) files.delay_writes(after);
      }
      std::this_thread::sleep_for((action.last - action.first) * kStep);
    };
    const Outcome outcome = driver.sweep(kSteps);
    EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
    const anadrome_stats stats = run_.statistics();
    EXPECT_EQ(stats.forward_steps_taken, stats.forward_steps_planned);
    EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
    EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, early));
    EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, smallest));
    EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, at_turn));
    return seen;
  }

  static constexpr std::int64_t kSteps = 1000;
  static constexpr microseconds kStep{1000};
  static constexpr microseconds kSlow{40000};  // some 40 steps

  CoupledModel model_;
  const Reference reference_;
  RunHandle run_{MPI_COMM_WORLD};
  int rank_ = 0;
};

TEST_F(Replanning, SpreadsAnchorsWhenOneRanksDiskBecomesSlow) {
  const Intervals seen = intervals(microseconds(0), kSlow);
  EXPECT_GE(seen.at_turn, 2 * seen.early);
  EXPECT_GE(seen.at_turn, 5);
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
    if (action.kind == ANADROME_ADVANCE && action.again == 0) {
      std::this_thread::sleep_for((action.last - action.first) * kStep);
    }
  };
  const Outcome outcome = driver.sweep(kSteps);
  EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
  EXPECT_GE(planned, kSteps);
  EXPECT_TRUE(first_anchors == 0 || first_anchors >= 5) << "0: all from memory";
  EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, first_anchors));
  EXPECT_GT(run_.statistics().seconds_predicted, 0);
  EXPECT_EQ(run_.statistics().adjoint_guessed, 0);
}

TEST_F(Replanning, PredictsNoSecondsWhereStatesReplaceEachOtherOnDisk) {
  constexpr std::int64_t kFew = 60;
  const Reference reference(model_, kFew);
  SweepDriver driver(run_, model_, reference);
  const auto predicted = [&](const char* schedule) {
    run_.set("schedule", schedule);
    const Outcome outcome = driver.sweep(kFew);
    EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
    return run_.statistics().seconds_predicted;
  };
  EXPECT_GT(predicted("revolve"), 0);
  for (const char* schedule : {"double", "hrevolve", "disk_revolve", "overlapped"})
    EXPECT_EQ(predicted(schedule), 0) << schedule;
}

// Writes become slow once the first sweep was planned: the second one's plan knows it, and says so.
TEST(Offload, SaysWhichTimesItsPlanIsMadeFor) {
  constexpr std::int64_t kSteps = 40, kPlanned = 10;
  CoupledModel model(MPI_COMM_WORLD, Counts{0, 0, 40000, 0, 0});
  const Reference reference(model, kSteps);
  RunHandle run(MPI_COMM_WORLD);
  EXPECT_EQ(model.add_fields(run), ANADROME_OK);
  run.set("schedule", "offload");
  run.set("memory", std::to_string((kSteps + 2) * 17 * 1024 + (4 << 20)) + "B");
  run.set("report", directory() + "/offload.txt");
  FaultyFileSystem files;
  SweepDriver driver(run, model, reference);
  driver.before_action = [&](const anadrome_action& action) {
    if (action.kind != ANADROME_ADVANCE) return;
    if (action.first >= kPlanned && rank() == 0) files.delay_writes(microseconds(20000));
    std::this_thread::sleep_for((action.last - action.first) * microseconds(1000));
  };
  // The number after `words`; -1: the plan's times held, and nothing is said.
  const auto said = [&](const std::string& words) {
    std::ifstream file(directory() + "/offload.txt");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto at = text.find(words);
    return at == std::string::npos ? -1 : std::stod(text.substr(at + words.size()));
  };
  EXPECT_TRUE(driver.sweep(kSteps).exact);
  const double took = rank() == 0 ? said("and they took ") : -1;
  EXPECT_TRUE(driver.sweep(kSteps).exact);
  const double made_for = rank() == 0 ? said("made for writes of ") : -1;
  if (took > 0 && made_for > 0) {
    EXPECT_NEAR(made_for, took, took / 2);
  }
}

}  // namespace
}  // namespace anadrome::test

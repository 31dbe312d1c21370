// SPDX-License-Identifier: BSD-2-Clause
// schedule=undo without residuals: states every few steps; those between are nearly right, and the
// run says how nearly.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "has_part.h"
#include "models.h"
#include "own_loop.h"
#include "sweep_driver.h"

namespace anadrome::test {
namespace {

class UndoDrifts : public testing::Test {
 protected:
  UndoDrifts() {
    model_->begin_anew();
    for (std::int64_t k = 0; k < kSteps; ++k) {
      states_.push_back(model_->numbers());
      model_->advance(k, false);
    }
    states_.push_back(model_->numbers());
    objective_ = model_->objective;
  }
  void prepare(RunHandle& run, const char* interval) {
    model_->add_to(run);
    run.set("schedule", "undo");
    run.set("compress", "lossy");
    run.set("interval", interval);
    run.set("audit", "off");
    run.set("memory", "4MiB");
  }
  struct Found {
    anadrome_status status = ANADROME_OK;
    std::string message;
    double most = 0;  ///< difference of any state
    std::int64_t exact = 0, adjoints = 0, retreats = 0, actions = 0;
    anadrome_phase phase = ANADROME_PHASE_IDLE;
    std::int64_t step = 0;
  };
  double difference(std::int64_t step) {
    const std::vector<double> now = model_->numbers(), &right = states_[std::size_t(step)];
    double most = 0;
    for (std::size_t i = 0; i < now.size(); ++i) most = std::max(most, std::abs(now[i] - right[i]));
    return most;
  }
  Found sweep(RunHandle& run, std::int64_t stop_at = -1) {
    Found found;
    found.status = anadrome_begin(run, kSteps);
    EXPECT_EQ(anadrome_resumed(run, &found.phase, &found.step), ANADROME_OK);
    if (found.phase == ANADROME_PHASE_IDLE) model_->begin_anew();
    std::int64_t expected = found.phase == ANADROME_PHASE_REVERSE ? found.step : kSteps;
    found.status = follow(run, found.status, [&](const anadrome_action& action) {
      if (found.actions++ == stop_at && rank() == 0) anadrome_request_stop(run);
      EXPECT_TRUE(action.kind != ANADROME_ADVANCE || difference(action.first) == 0);
      take_steps(action, [&](std::int64_t k) { model_->advance(k, false); });
      if (action.kind == ANADROME_TURN) {
        EXPECT_EQ(action.first, kSteps);
        model_->spoil();
      } else if (action.kind == ANADROME_RETREAT) {
        ++found.retreats;
        model_->undo(action.first);
      } else if (action.kind == ANADROME_ADJOINT) {
        EXPECT_EQ(action.first, --expected);
        const double apart = difference(action.first);
        found.most = std::max(found.most, apart);
        found.exact += apart == 0 ? 1 : 0;
        ++found.adjoints;
        model_->spoil();
      }
    });
    if (found.status != ANADROME_OK) found.message = anadrome_last_error();
    return found;
  }

  std::unique_ptr<UndoneModel> model_ = wave();
  std::vector<std::vector<double>> states_;
  double objective_ = 0;
};

// Drifts are compared with magnitudes of all ranks, which are gathered at blocks.
TEST_F(UndoDrifts, ARankThatLeavesIsNamed) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "5");
  anadrome_status status = anadrome_begin(run, kSteps);
  model_->begin_anew();
  const bool leaves = ranks() > 1 && rank() == ranks() - 1;
  if (!leaves) {
    status = follow(run, status, [&](const anadrome_action& action) {
      take_steps(action, [&](std::int64_t k) { model_->advance(k, false); });
      if (action.kind == ANADROME_RETREAT) model_->undo(action.first);
    });
  }
  EXPECT_EQ(status, ranks() > 1 && !leaves ? ANADROME_ERR_PEER : ANADROME_OK);
}

TEST_F(UndoDrifts, StatesBetweenAreNearlyRight) {
  for (const char* interval : {"2", "7", "40", "100"}) {
    SCOPED_TRACE(interval);
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, interval);
    const Found found = sweep(run);
    EXPECT_EQ(found.status, ANADROME_OK) << found.message;
    EXPECT_EQ(found.adjoints, kSteps);
    EXPECT_EQ(found.retreats, kSteps);
    const std::int64_t every = std::atoll(interval), kept = (kSteps + every - 1) / every;
    EXPECT_GE(found.exact, kept) << "those that were kept";
    EXPECT_LT(found.most, 1e-11);
    EXPECT_GT(found.most, 0);
    EXPECT_EQ(model_->objective, objective_);
    const anadrome_stats stats = run.statistics();
    EXPECT_GT(stats.drift, 0);
    EXPECT_LT(stats.drift, 1e-11);
    double largest = stats.drift;
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    EXPECT_EQ(stats.drift, largest) << "of all ranks";
    EXPECT_EQ(stats.steps, kSteps);
    EXPECT_EQ(stats.forward_steps_taken, kSteps);
    EXPECT_EQ(stats.adjoint_steps_taken, kSteps);
    EXPECT_EQ(stats.interval, every);
    EXPECT_EQ(stats.anchors, kept);
    EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
  }
}

// Of the ratio of residuals nothing is known but that it is 1 at least.
TEST_F(UndoDrifts, TheCommandBelowTheSummaryAsksTheSame) {
  const std::string file = directory() + "/summary";
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "8");
  run.set("report", file.c_str());
  run.set("checkpoints", "20");
  const Found found = sweep(run);
  EXPECT_EQ(found.status, ANADROME_OK) << found.message;
  if (rank() != 0) return;
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_TRUE(has_part(text, " --undo 1,"));
  EXPECT_TRUE(has_part(text, " --checkpoints 20"));
}

TEST_F(UndoDrifts, MoreThanTheToleranceIsAnError) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "10");
  run.set("tolerance", "1e-18");
  const Found found = sweep(run);
  EXPECT_EQ(found.status, ANADROME_ERR_NONDETERMINISTIC);
  EXPECT_NE(found.message.find("tolerance"), std::string::npos) << found.message;
  EXPECT_LT(found.adjoints, 12);
}

// One that leaves a term out, or reads what no field is, is found before the sweep is spent.
TEST_F(UndoDrifts, AWrongUndoIsSeenInTheFirstSteps) {
  for (const char* wrong : {"", "undo", "step"}) {
    for (const char* interval : {"2", "10", "100"}) {
      SCOPED_TRACE(std::string(wrong) + interval);
      std::vector<double> x(3000, 1.0);
      double hidden = 0;
      std::int64_t undone = 0, advanced = 0;
      RunHandle run(MPI_COMM_WORLD);
      add_array(run, "x", x);
      run.set("schedule", "undo");
      run.set("compress", "lossy");
      run.set("interval", interval);
      const auto act = [&](const anadrome_action& action) {
        take_steps(action, [&](std::int64_t) {
          ++advanced;
          for (double& each : x) each = 1.01 * each + 0.1 + hidden;
        });
        if (action.kind == ANADROME_ADVANCE && *wrong == 's') hidden += 1e-3;
        if (action.kind != ANADROME_RETREAT) return;
        ++undone;
        for (double& each : x) each = (each - (*wrong == 'u' ? 0.11 : 0.1)) / 1.01;
      };
      const anadrome_status status = follow(run, anadrome_begin(run, kSteps), act);
      const std::string message = status == ANADROME_OK ? "" : anadrome_last_error();
      EXPECT_EQ(status, *wrong != 0 ? ANADROME_ERR_NONDETERMINISTIC : ANADROME_OK) << message;
      EXPECT_EQ(undone, *wrong != 0 ? 2 : kSteps + 4);
      EXPECT_EQ(advanced, *wrong != 0 ? 2 : kSteps + 2);
      EXPECT_EQ(message.find("by more than the tolerance") != std::string::npos, *wrong == 'u');
    }
  }
}

TEST_F(UndoDrifts, GoesOnFromAnyStop) {
  for (const std::int64_t at : {7, 34, 43, 52}) {
    SCOPED_TRACE("stopped at action " + std::to_string(at));
    Found found;
    for (const std::int64_t stop_at : {at, std::int64_t{-1}}) {
      RunHandle run(MPI_COMM_WORLD);
      prepare(run, "7");
      run.set("resume", "on");
      run.set("checkpoint_interval", "0");
      model_->spoil();
      found = sweep(run, stop_at);
      if (found.status == ANADROME_OK) break;
      ASSERT_TRUE(found.status == ANADROME_STOPPED && stop_at >= 0) << found.message;
    }
    EXPECT_EQ(found.status, ANADROME_OK) << found.message;
    EXPECT_NE(found.phase, ANADROME_PHASE_IDLE);
    EXPECT_LT(found.most, 1e-11);
    EXPECT_EQ(model_->objective, objective_);
  }
}

// As many states as before do not say after which steps they were kept.
TEST_F(UndoDrifts, GoesOnWithTheSameIntervalOnly) {
  Found found;
  for (const char* interval : {"14", "15", "14"}) {
    SCOPED_TRACE(interval);
    RunHandle run(MPI_COMM_WORLD);
    prepare(run, interval);
    run.set("resume", "on");
    run.set("checkpoint_interval", "0");
    model_->spoil();
    const bool is_first = found.status == ANADROME_OK;
    found = sweep(run, is_first ? 3 : -1);
    if (is_first) {
      ASSERT_EQ(found.status, ANADROME_STOPPED) << found.message;
    }
    if (std::string(interval) == "15") {
      EXPECT_EQ(found.status, ANADROME_ERR_ARGUMENT);
      EXPECT_NE(found.message.find("interval=14 of 40 steps"), std::string::npos) << found.message;
    }
  }
  EXPECT_EQ(found.status, ANADROME_OK) << found.message;
  EXPECT_NE(found.phase, ANADROME_PHASE_IDLE);
  EXPECT_EQ(model_->objective, objective_);
}

}  // namespace
}  // namespace anadrome::test

// SPDX-License-Identifier: BSD-2-Clause
// schedule=undo where something is wrong: the model, the disk, the options.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "has_part.h"
#include "models.h"
#include "own_loop.h"
#include "sweep_driver.h"

namespace anadrome::test {
namespace {

class UndoMistakes : public testing::Test {
 protected:
  UndoMistakes() : x_(3000, 1.0), hidden_(3000, 0.5) {}

  struct Outcome {
    anadrome_status status;
    std::string message;
    std::int64_t actions = 0;
  };
  Outcome sweep(RunHandle& run, const std::function<void(std::int64_t)>& step,
                const std::function<void(std::int64_t)>& undo) {
    Outcome outcome = {anadrome_begin(run, kSteps), {}};
    outcome.status = follow(run, outcome.status, [&](const anadrome_action& action) {
      ++outcome.actions;
      take_steps(action, step);
      if (action.kind == ANADROME_RETREAT) undo(action.first);
    });
    if (outcome.status != ANADROME_OK) outcome.message = anadrome_last_error();
    return outcome;
  }
  void prepare(RunHandle& run) {
    add_array(run, "x", x_);
    run.set("schedule", "undo");
  }
  Outcome sweep_of_nothing(RunHandle& run) {
    return sweep(
        run, [](std::int64_t) {}, [](std::int64_t) {});
  }

  std::vector<double> x_, hidden_;
};

TEST_F(UndoMistakes, AForgottenFieldIsSeenInTheFirstStep) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run);
  const Outcome outcome = sweep(
      run,
      [&](std::int64_t) {
        for (std::size_t i = 0; i < x_.size(); ++i) x_[i] += hidden_[i] *= 1.5;
      },
      [&](std::int64_t) {
        for (std::size_t i = 0; i < x_.size(); ++i) {
          x_[i] -= hidden_[i];
          hidden_[i] /= 1.5;
        }
      });
  EXPECT_EQ(outcome.status, ANADROME_ERR_NONDETERMINISTIC) << outcome.message;
  EXPECT_TRUE(has_part(outcome.message, "step 0"));
  EXPECT_LT(outcome.actions, 10);
}

TEST_F(UndoMistakes, AnUndoThatChangesAdjointFieldsIsSeen) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run);
  add_array(run, "adjoint", hidden_, ANADROME_ROLE_ADJOINT);
  const Outcome outcome = sweep(
      run, [](std::int64_t) {}, [&](std::int64_t) { hidden_[7] += rank() == 0 ? 1 : 0; });
  EXPECT_EQ(outcome.status, ANADROME_ERR_NONDETERMINISTIC) << outcome.message;
  EXPECT_TRUE(has_part(outcome.message, "ADJOINT"));
}

TEST_F(UndoMistakes, AnUndoThatIsNotTheSameEachTimeIsSeen) {
  for (const std::int64_t wrong_from : {0, 5}) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run);
    std::int64_t calls = 0;
    const Outcome outcome = sweep(
        run,
        [&](std::int64_t) {
          for (double& value : x_) value *= 1.25;
        },
        [&](std::int64_t k) {
          for (double& value : x_) value /= 1.25;
          // On one rank, and in one number.
          if (k >= wrong_from && rank() == ranks() - 1) x_[17] += double(calls++);
        });
    EXPECT_EQ(outcome.status, ANADROME_ERR_NONDETERMINISTIC) << outcome.message;
    const char* const where = wrong_from == 0 ? "step 0" : "step 39";
    EXPECT_TRUE(has_part(outcome.message, where));
  }
}

TEST_F(UndoMistakes, TheDiskIsTooSmall) {
  for (const bool drifts : {false, true}) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run);
    std::vector<double> noise(1 << 17);
    add_array(run, "noise", noise);
    run.set("disk", "8MiB");
    run.set("memory", "8MiB");
    run.set("compress", drifts ? "lossy" : "off");
    run.set("interval", drifts ? "2" : "auto");
    run.set("audit", drifts ? "off" : "error");  // nothing is undone
    const Outcome outcome = sweep(
        run,
        [&](std::int64_t k) {
          std::uint64_t seed = std::uint64_t(k) * 0x9e3779b97f4a7c15 + 1;
          for (double& value : noise) {
            seed = seed * 6364136223846793005 + 1442695040888963407;
            value = double(seed >> 11);
          }
        },
        [](std::int64_t) {});
    EXPECT_EQ(outcome.status, ANADROME_ERR_NO_SPACE) << outcome.message;
    const char* const kept = drifts ? "schedule=undo keeps a state every 2 steps"
                                    : "schedule=undo keeps a residual of every step";
    EXPECT_TRUE(has_part(outcome.message, kept));
  }
}

TEST_F(UndoMistakes, AResidualThatIsDamagedIsSeen) {
  const auto damage = [&] {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank() == 0) {
      for (const auto& file : std::filesystem::recursive_directory_iterator(directory())) {
        if (file.path().extension() != ".h5") continue;
        std::FILE* const open = std::fopen(file.path().c_str(), "r+b");
        const auto bytes = static_cast<long>(std::filesystem::file_size(file.path()));
        for (long at = 8192; at < bytes; at += 512) {
          std::fseek(open, at, SEEK_SET);
          std::fputc(0x33, open);
        }
        std::fclose(open);
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
  };
  const auto life = [&](const char* resume, bool is_damaged) -> Outcome {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run);
    anadrome_add_field(run, "adjoint", ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64, hidden_.data(), 10);
    run.set("memory", "1MiB");
    run.set("transport", "buffered");
    run.set("resume", resume);
    run.set("checkpoint_interval", "0");
    anadrome_action action = {};
    anadrome_phase phase = {};
    std::int64_t step = 0;
    anadrome_status status = anadrome_begin(run, 400);
    anadrome_resumed(run, &phase, &step);
    while (status == ANADROME_OK && action.kind != ANADROME_DONE) {
      status = anadrome_next(run, &action);
      if (action.kind == ANADROME_TURN && is_damaged) damage();
      for (double& value : x_) {
        if (action.kind == ANADROME_ADVANCE) value = value * 1.01 + 0.3;
        if (action.kind == ANADROME_RETREAT) value = (value - 0.3) / 1.01;
      }
    }
    return {status, status == ANADROME_OK ? "" : anadrome_last_error()};
  };
  const Outcome damaged = life("off", true);
  EXPECT_EQ(damaged.status, ANADROME_ERR_CORRUPT) << damaged.message;
  EXPECT_NE(damaged.message.find("is not what was written"), std::string::npos) << damaged.message;
  // Whoever goes on meets it again, until he does what the words say.
  for (const bool now : {true, false}) {
    const Outcome meets = life("on", now);
    EXPECT_EQ(meets.status, ANADROME_ERR_CORRUPT) << meets.message;
    EXPECT_NE(meets.message.find("resume=off, or remove"), std::string::npos) << meets.message;
  }
  const Outcome anew = life("off", false);
  EXPECT_EQ(anew.status, ANADROME_OK) << anew.message;
}

// A field may be zero in x_0, and on a rank that no wave comes to.
TEST_F(UndoMistakes, AModelStartsAtRest) {
  for (const char* tolerance : {"1e-9", "1e-18"}) {
    x_.assign(3000, 0.);
    RunHandle run(MPI_COMM_WORLD);
    prepare(run);
    run.set("compress", "lossy");
    run.set("interval", "8");
    run.set("tolerance", tolerance);
    const double push = rank() == 0 ? 0.1 : 1e-30;
    const Outcome outcome = sweep(
        run,
        [&](std::int64_t k) {
          for (double& value : x_) value = value * 1.01 + push / double(k + 1);
        },
        [&](std::int64_t k) {
          for (double& value : x_) value = (value - push / double(k + 1)) / 1.01;
        });
    const bool is_large = std::string(tolerance) == "1e-9";
    EXPECT_EQ(outcome.status, is_large ? ANADROME_OK : ANADROME_ERR_NONDETERMINISTIC)
        << outcome.message;
    if (is_large) {
      EXPECT_GT(run.statistics().drift, 0);
      EXPECT_LT(run.statistics().drift, 1e-13);
    }
  }
}

TEST_F(UndoMistakes, OneRankHasNoUndo) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run);
  anadrome_model model = {};
  model.size = sizeof model;
  model.advance = [](void*, std::int64_t, std::int64_t, std::int64_t*) { return 0; };
  model.adjoint = [](void*, std::int64_t) { return 0; };
  if (rank() == 0) model.undo = model.adjoint;
  const anadrome_status wanted = ranks() > 1 ? ANADROME_ERR_ARGUMENT : ANADROME_OK;
  EXPECT_EQ(anadrome_solve(run, kSteps, &model), wanted) << anadrome_last_error();
  // And in a loop there always is one.
  EXPECT_EQ(sweep_of_nothing(run).status, ANADROME_OK) << anadrome_last_error();
}

TEST_F(UndoMistakes, MemoryIsThatOfTheOption) {
  std::vector<double> large(rank() == 0 ? 1 << 20 : 10, 1.0);
  const auto taken = [] {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
  };
  const std::size_t before = taken(), slack = 2 << 20;
  RunHandle run(MPI_COMM_WORLD);
  prepare(run);
  add_array(run, "large", large);
  run.set("memory", "12MiB");  // a state and a half
  EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_MEMORY);
  EXPECT_LT(taken(), before + slack) << "what is refused takes no memory";
  run.set("memory", "64MiB");
  EXPECT_EQ(sweep_of_nothing(run).status, ANADROME_OK) << anadrome_last_error();
  run.set("schedule", "revolve");
  run.set("memory", "12MiB");
  EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_OK) << anadrome_last_error();
  EXPECT_LT(taken(), before + (12 << 20) + slack) << "what the sweep before had is given back";
}

TEST_F(UndoMistakes, WhatDoesNotSuitIsRefused) {
  struct Case {
    RunOptions options;
    const char* words;
  };
  std::vector<Case> cases = {
      {{{"keep", "on"}}, "keep=off"},
      {{{"passes", "2"}}, "passes=0"},
      {{{"compress", "round"}}, "compress=round"},
      {{{"interval", "7"}}, "interval=auto"},
      {{{"compress", "lossy"}}, "interval"},
      {{{"resume", "on"}}, "adjoint fields"},
      {{{"resume", "on"}, {"directory", directory() + "/fast," + directory()}}, "one directory"}};
  if (std::size(kTransports) > 1) cases.push_back({{{"transport", "mpio"}}, "transport=auto"});
  for (const Case& each : cases) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run);
    for (const auto& [key, value] : each.options) run.set(key, value);
    EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_UNSUPPORTED) << each.words;
    EXPECT_TRUE(has_part(anadrome_last_error(), each.words));
  }
  for (const bool tape : {false, true}) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run);
    int field = 0;
    if (tape) {
      anadrome_add_field(run, "tape", ANADROME_ROLE_TAPE, ANADROME_FLOAT64, hidden_.data(), 10);
    } else {
      anadrome_add_exchanged(run, "e", ANADROME_ROLE_STATE, ANADROME_FLOAT64, 10, &field);
    }
    EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_UNSUPPORTED);
  }
  RunHandle run(MPI_COMM_WORLD);
  prepare(run);
  EXPECT_EQ(sweep_of_nothing(run).status, ANADROME_OK) << anadrome_last_error();
  EXPECT_EQ(anadrome_rewind(run), ANADROME_ERR_UNSUPPORTED);
  EXPECT_EQ(anadrome_pass(run, ANADROME_PASS_FORWARD), ANADROME_ERR_UNSUPPORTED);
  // And no trace of it in the next sweep, by another schedule.
  run.set("schedule", "revolve");
  const Outcome outcome = sweep(
      run, [](std::int64_t) {}, [](std::int64_t) { FAIL(); });
  EXPECT_EQ(outcome.status, ANADROME_OK) << outcome.message;
}

}  // namespace
}  // namespace anadrome::test

// SPDX-License-Identifier: BSD-2-Clause
// schedule=undo: the caller runs steps backwards, and every state comes back to the last bit.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <filesystem>
#include <functional>
#include <string>

#include "models.h"
#include "sweep_driver.h"

namespace anadrome::test {
namespace {

constexpr std::int64_t kSteps = 40;

struct Case {
  const char* name;
  std::function<std::unique_ptr<UndoneModel>()> make;
  double least_ratio;  ///< bytes of states over bytes of residuals on disk
  bool by_steps = false;
};

std::unique_ptr<UndoneModel> wave() { return std::make_unique<Wave<double>>(64, 200); }

const Case kCases[] = {
    {"Wave", wave, 8},
    {"WaveInSinglePrecision", [] { return std::make_unique<Wave<float>>(64, 400); }, 4},
    {"ShallowWater", [] { return std::make_unique<ShallowWater>(20'000 + 7 * rank()); }, 5},
    {"WaveWithAStrip", [] { return std::make_unique<LayeredWave>(); }, 15},
    {"ImplicitHeat", [] { return std::make_unique<ImplicitHeat>(30'000); }, 4},
    {"Burgers", [] { return std::make_unique<Burgers>(30'001); }, 1.5, true},
    {"WaveByItsSteps", wave, 0.9, true},
    {"Random", [] { return std::make_unique<Random>(5'000); }, 0.9},
    {"Small", [] { return std::make_unique<Wave<double>>(2, 9); }, 0},
    {"NothingOnSomeRanks", [] { return std::make_unique<ShallowWater>(rank() % 2 == 0 ? 900 : 1); },
     0},
};

struct Found {
  anadrome_status status = ANADROME_OK;
  std::string message;
  std::int64_t adjoint = 0;
  double objective = 0;
  std::int64_t retreats = 0, adjoints = 0, turns = 0, actions = 0;
  anadrome_phase phase = ANADROME_PHASE_IDLE;
  std::int64_t step = 0;
};

class Undo : public testing::TestWithParam<Case> {
 protected:
  Undo() : model_(GetParam().make()) {
    model_->begin_anew();
    std::vector<std::uint64_t> hashes;
    for (std::int64_t k = 0; k < kSteps; ++k) {
      hashes.push_back(model_->hash());
      model_->advance(k, false);
    }
    objective_ = model_->objective;
    for (std::int64_t k = kSteps; k-- > 0;) {
      expected_ = static_cast<std::int64_t>(XXH3_64bits_withSeed(
          &hashes[std::size_t(k)], sizeof hashes[0], static_cast<std::uint64_t>(expected_)));
    }
  }

  void prepare(RunHandle& run) {
    model_->add_to(run);
    run.set("schedule", "undo");
    run.set("directory", directory().c_str());
    run.set("warnings", "off");
    run.set("memory", "24MiB");
  }

  /// A loop over the actions. At number `stop_at` a stop is asked for.
  Found loop(RunHandle& run, std::int64_t steps, std::int64_t stop_at = -1) {
    Found found;
    found.status = anadrome_begin(run, steps);
    EXPECT_EQ(anadrome_resumed(run, &found.phase, &found.step), ANADROME_OK);
    if (found.phase == ANADROME_PHASE_IDLE) model_->begin_anew();
    anadrome_action action = {};
    while (found.status == ANADROME_OK) {
      found.status = anadrome_next(run, &action);
      if (found.status != ANADROME_OK || action.kind == ANADROME_DONE) break;
      if (found.actions++ == stop_at && rank() == 0) anadrome_request_stop(run);
      EXPECT_TRUE(action.kind == ANADROME_TURN || action.last == action.first + 1);
      switch (action.kind) {
        case ANADROME_ADVANCE:
          model_->advance(action.first, action.again != 0);
          if (steps < 0 && action.last == kSteps && action.again == 0) {
            EXPECT_EQ(anadrome_finish_forward(run, kSteps), ANADROME_OK) << anadrome_last_error();
          }
          break;
        case ANADROME_TURN:
          ++found.turns;
          model_->spoil();
          break;
        case ANADROME_RETREAT:
          ++found.retreats;
          model_->undo(action.first);
          break;
        case ANADROME_ADJOINT:
          EXPECT_TRUE(found.adjoints == 0 || action.first == next_adjoint_);
          next_adjoint_ = action.first - 1;
          ++found.adjoints;
          model_->add_adjoint();
          model_->spoil();
          break;
        default:
          ADD_FAILURE() << "no such action: " << action.kind;
      }
    }
    if (found.status != ANADROME_OK) found.message = anadrome_last_error();
    found.adjoint = model_->adjoint;
    found.objective = model_->objective;
    return found;
  }

  /// The same by callbacks; the model has undo, or not.
  Found solve(RunHandle& run, std::int64_t steps, bool has_undo) {
    anadrome_model callbacks = {};
    callbacks.size = sizeof callbacks;
    callbacks.context = this;
    callbacks.start = [](void* context) {
      static_cast<Undo*>(context)->model_->begin_anew();
      return 0;
    };
    callbacks.advance = [](void* context, std::int64_t first, std::int64_t, std::int64_t* reached) {
      auto& self = *static_cast<Undo*>(context);
      // A step that is run again for the first time, or to be undone, does not count.
      self.model_->advance(first, first < self.run_);
      self.run_ = std::max(self.run_, first + 1);
      *reached = first + 1;
      return 0;
    };
    callbacks.adjoint = [](void* context, std::int64_t) {
      static_cast<Undo*>(context)->model_->add_adjoint();
      static_cast<Undo*>(context)->model_->spoil();
      return 0;
    };
    if (has_undo) {
      callbacks.undo = [](void* context, std::int64_t step) {
        static_cast<Undo*>(context)->model_->undo(step);
        return 0;
      };
    }
    run_ = 0;
    Found found;
    found.status = anadrome_solve(run, steps, &callbacks);
    if (found.status != ANADROME_OK) found.message = anadrome_last_error();
    found.adjoint = model_->adjoint;
    found.objective = model_->objective;
    return found;
  }

  void expect_right(const Found& found) {
    EXPECT_EQ(found.status, ANADROME_OK) << found.message;
    EXPECT_EQ(found.adjoint, expected_);
    EXPECT_EQ(found.objective, objective_);
    EXPECT_TRUE(model_->stored());
  }

  std::unique_ptr<UndoneModel> model_;
  std::int64_t expected_ = 0, next_adjoint_ = 0, run_ = 0;
  double objective_ = 0;
};

TEST_P(Undo, EveryBitIsThatOfStatesThatWereKept) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run);
  const Found found = GetParam().by_steps ? solve(run, kSteps, false) : loop(run, kSteps);
  expect_right(found);
  const anadrome_stats stats = run.statistics();
  EXPECT_STREQ(stats.schedule, "undo");
  EXPECT_LE(stats.peak_library_bytes, stats.memory_bytes);
  EXPECT_EQ(stats.steps, kSteps);
  EXPECT_EQ(stats.forward_steps_taken, kSteps);
  EXPECT_EQ(stats.adjoint_steps_taken, kSteps);
  const double ratio =
      double(stats.bytes_compressed) / double(std::max<std::int64_t>(stats.bytes_written, 1));
  if (stats.state_bytes > 100'000) {
    EXPECT_GT(ratio, GetParam().least_ratio);
  }
  RecordProperty("ratio", std::to_string(ratio));
  if (rank() == 0) std::printf("ratio %.1f\n", ratio);
  // And once more, in the same run.
  expect_right(GetParam().by_steps ? solve(run, kSteps, false) : loop(run, kSteps));
}

TEST_P(Undo, CallbacksAndAnUnknownNumberOfSteps) {
  if (GetParam().by_steps) return;
  RunHandle run(MPI_COMM_WORLD);
  prepare(run);
  expect_right(solve(run, kSteps, true));
  expect_right(loop(run, ANADROME_STEPS_UNKNOWN));
}

// A process that goes on has nothing but what was committed.
TEST_P(Undo, GoesOnFromAnyStop) {
  if (GetParam().by_steps) return;
  const auto life = [&](std::int64_t stop_at) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run);
    run.set("resume", "on");
    run.set("checkpoint_interval", "0");
    model_->spoil();
    model_->adjoint = 0x5a5a;
    return loop(run, kSteps, stop_at);
  };
  std::int64_t forward = 0, reverse = 0;
  const std::int64_t stride = 11 + 4 * ranks();
  for (std::int64_t at = 1; at < 4 * kSteps; at += stride) {
    SCOPED_TRACE("stopped at action " + std::to_string(at));
    const Found first = life(at);
    if (first.status == ANADROME_OK) {
      expect_right(first);  // no agreement was left
      continue;
    }
    ASSERT_EQ(first.status, ANADROME_STOPPED) << first.message;
    const Found second = life(-1);
    forward += second.phase == ANADROME_PHASE_FORWARD ? 1 : 0;
    reverse += second.phase == ANADROME_PHASE_REVERSE ? 1 : 0;
    if (second.phase == ANADROME_PHASE_REVERSE) {
      EXPECT_EQ(second.adjoints, second.step);
      EXPECT_EQ(second.retreats, second.step);
    }
    expect_right(second);
  }
  const bool small = GetParam().least_ratio == 0;  // these wait for a block of them
  EXPECT_TRUE(forward > 0 || small);
  EXPECT_GT(reverse, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, Undo, testing::ValuesIn(kCases),
                         [](const auto& each) { return std::string(each.param.name); });

// ---- without residuals ----

// States every few steps; those between are nearly right, and the run says how nearly.
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
    run.set("directory", directory().c_str());
    run.set("warnings", "off");
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
    anadrome_action action = {};
    while (found.status == ANADROME_OK) {
      found.status = anadrome_next(run, &action);
      if (found.status != ANADROME_OK || action.kind == ANADROME_DONE) break;
      if (found.actions++ == stop_at && rank() == 0) anadrome_request_stop(run);
      if (action.kind == ANADROME_ADVANCE) {
        EXPECT_EQ(difference(action.first), 0);
        for (std::int64_t k = action.first; k < action.last; ++k) model_->advance(k, false);
      } else if (action.kind == ANADROME_TURN) {
        EXPECT_EQ(action.first, kSteps);
        model_->spoil();
      } else if (action.kind == ANADROME_RETREAT) {
        ++found.retreats;
        model_->undo(action.first);
      } else {
        EXPECT_EQ(action.first, --expected);
        const double apart = difference(action.first);
        found.most = std::max(found.most, apart);
        found.exact += apart == 0 ? 1 : 0;
        ++found.adjoints;
        model_->spoil();
      }
    }
    if (found.status != ANADROME_OK) found.message = anadrome_last_error();
    return found;
  }

  std::unique_ptr<UndoneModel> model_ = wave();
  std::vector<std::vector<double>> states_;
  double objective_ = 0;
};

TEST_F(UndoDrifts, StatesBetweenAreNearlyRight) {
  for (const char* interval : {"2", "7", "8", "40", "100"}) {
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

TEST_F(UndoDrifts, MoreThanTheToleranceIsAnError) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run, "10");
  run.set("tolerance", "1e-18");
  const Found found = sweep(run);
  EXPECT_EQ(found.status, ANADROME_ERR_NONDETERMINISTIC);
  EXPECT_NE(found.message.find("tolerance"), std::string::npos) << found.message;
  EXPECT_LT(found.adjoints, 12);
}

TEST_F(UndoDrifts, GoesOnFromAnyStop) {
  for (std::int64_t at = 1; at < 2 * kSteps; at += 9) {
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
    const bool in_last_block = at > kSteps + kSteps / 2;  // nothing is agreed on any more
    EXPECT_TRUE(found.phase != ANADROME_PHASE_IDLE || in_last_block);
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

// ---- what cannot be ----

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
    anadrome_action action = {};
    Outcome outcome = {anadrome_begin(run, kSteps), {}};
    while (outcome.status == ANADROME_OK && action.kind != ANADROME_DONE) {
      outcome.status = anadrome_next(run, &action);
      ++outcome.actions;
      if (action.kind == ANADROME_ADVANCE) step(action.first);
      if (action.kind == ANADROME_RETREAT) undo(action.first);
    }
    if (outcome.status != ANADROME_OK) outcome.message = anadrome_last_error();
    return outcome;
  }
  void prepare(RunHandle& run) {
    anadrome_add_field(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, x_.data(), x_.size());
    run.set("schedule", "undo");
    run.set("directory", directory().c_str());
    run.set("warnings", "off");
  }
  void expect_refused(const char* key, const char* value, const char* words) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run);
    run.set(key, value);
    EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_UNSUPPORTED) << key;
    EXPECT_NE(std::string(anadrome_last_error()).find(words), std::string::npos)
        << anadrome_last_error();
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
  EXPECT_NE(outcome.message.find("step 0"), std::string::npos) << outcome.message;
  EXPECT_LT(outcome.actions, 10);
}

TEST_F(UndoMistakes, AnUndoThatChangesAdjointFieldsIsSeen) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run);
  anadrome_add_field(run, "adjoint", ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64, hidden_.data(),
                     hidden_.size());
  const Outcome outcome = sweep(
      run, [](std::int64_t) {}, [&](std::int64_t) { hidden_[7] += rank() == 0 ? 1 : 0; });
  EXPECT_EQ(outcome.status, ANADROME_ERR_NONDETERMINISTIC) << outcome.message;
  EXPECT_NE(outcome.message.find("ADJOINT"), std::string::npos) << outcome.message;
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
    EXPECT_NE(outcome.message.find(where), std::string::npos) << outcome.message;
  }
}

TEST_F(UndoMistakes, TheDiskIsTooSmall) {
  for (const bool drifts : {false, true}) {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run);
    std::vector<double> noise(1 << 17);
    anadrome_add_field(run, "noise", ANADROME_ROLE_STATE, ANADROME_FLOAT64, noise.data(),
                       noise.size());
    run.set("disk", "8MiB");
    run.set("memory", "8MiB");
    run.set("compress", drifts ? "lossy" : "off");
    run.set("interval", drifts ? "2" : "auto");
    std::uint64_t seed = 1;
    const Outcome outcome = sweep(
        run,
        [&](std::int64_t k) {
          seed = std::uint64_t(k) * 0x9e3779b97f4a7c15 + 1;
          for (double& value : noise) {
            seed = seed * 6364136223846793005 + 1442695040888963407;
            value = double(seed >> 11);
          }
        },
        [](std::int64_t) {});
    EXPECT_EQ(outcome.status, ANADROME_ERR_NO_SPACE) << outcome.message;
    const char* const kept = drifts ? "schedule=undo keeps a state every 2 steps"
                                    : "schedule=undo keeps a residual of every step";
    EXPECT_NE(outcome.message.find(kept), std::string::npos) << outcome.message;
  }
}

TEST_F(UndoMistakes, AResidualThatIsDamagedIsSeen) {
  RunHandle run(MPI_COMM_WORLD);
  prepare(run);
  run.set("memory", "1MiB");
  run.set("direct", "off");
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
  anadrome_action action = {};
  anadrome_status status = anadrome_begin(run, 400);
  while (status == ANADROME_OK && action.kind != ANADROME_DONE) {
    status = anadrome_next(run, &action);
    if (action.kind == ANADROME_TURN) damage();
    for (double& value : x_) {
      if (action.kind == ANADROME_ADVANCE) value = value * 1.01 + 0.3;
      if (action.kind == ANADROME_RETREAT) value = (value - 0.3) / 1.01;
    }
  }
  EXPECT_EQ(status, ANADROME_ERR_CORRUPT) << anadrome_last_error();
  const std::string why = anadrome_last_error();
  EXPECT_NE(why.find("is not what was written"), std::string::npos) << why;
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
        [&](std::int64_t first) {
          for (std::int64_t k = first; k < std::min(first + 8, kSteps); ++k)
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
  const Outcome outcome = sweep(
      run, [](std::int64_t) {}, [](std::int64_t) {});
  EXPECT_EQ(outcome.status, ANADROME_OK) << outcome.message;
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
  anadrome_add_field(run, "large", ANADROME_ROLE_STATE, ANADROME_FLOAT64, large.data(),
                     large.size());
  run.set("memory", "12MiB");  // a state and a half
  EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_MEMORY);
  EXPECT_LT(taken(), before + slack) << "what is refused takes no memory";
  run.set("memory", "64MiB");
  EXPECT_EQ(sweep(
                run, [](std::int64_t) {}, [](std::int64_t) {})
                .status,
            ANADROME_OK)
      << anadrome_last_error();
  run.set("schedule", "revolve");
  run.set("memory", "12MiB");
  EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_OK) << anadrome_last_error();
  EXPECT_LT(taken(), before + (12 << 20) + slack) << "what the sweep before had is given back";
}

TEST_F(UndoMistakes, WhatDoesNotSuitIsRefused) {
  expect_refused("keep", "on", "keep=off");
  expect_refused("passes", "2", "passes=0");
  expect_refused("anchors", "9", "anchors=unlimited");
  expect_refused("compress", "round", "compress=round");
  expect_refused("interval", "7", "interval=auto");
  expect_refused("compress", "lossy", "interval");
  expect_refused("resume", "on", "adjoint fields");
  {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run);
    run.set("resume", "on");
    run.set("directory", (directory() + "/fast," + directory()).c_str());
    EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_UNSUPPORTED) << anadrome_last_error();
    EXPECT_TRUE(std::string(anadrome_last_error()).find("one directory") != std::string::npos);
  }
  if (std::size(kTransports) > 1) expect_refused("transport", "mpio", "transport=direct");
  {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run);
    anadrome_add_field(run, "tape", ANADROME_ROLE_TAPE, ANADROME_FLOAT64, hidden_.data(), 10);
    EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_UNSUPPORTED);
  }
  {
    RunHandle run(MPI_COMM_WORLD);
    prepare(run);
    int field = 0;
    anadrome_add_exchanged(run, "e", ANADROME_ROLE_STATE, ANADROME_FLOAT64, 10, &field);
    EXPECT_EQ(anadrome_begin(run, kSteps), ANADROME_ERR_UNSUPPORTED);
  }
  RunHandle run(MPI_COMM_WORLD);
  prepare(run);
  const Outcome outcome = sweep(
      run, [](std::int64_t) {}, [](std::int64_t) {});
  EXPECT_EQ(outcome.status, ANADROME_OK) << outcome.message;
  EXPECT_EQ(anadrome_rewind(run), ANADROME_ERR_UNSUPPORTED);
  EXPECT_EQ(anadrome_pass(run, ANADROME_PASS_FORWARD), ANADROME_ERR_UNSUPPORTED);
  // And no trace of it in the next sweep, by another schedule.
  run.set("schedule", "revolve");
  EXPECT_EQ(sweep(
                run, [](std::int64_t) {}, [](std::int64_t) { FAIL(); })
                .status,
            ANADROME_OK)
      << anadrome_last_error();
}

}  // namespace
}  // namespace anadrome::test

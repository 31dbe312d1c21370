// SPDX-License-Identifier: BSD-2-Clause
// schedule=undo: the caller runs steps backwards, and every state comes back to the last bit.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "models.h"
#include "sweep_driver.h"

namespace anadrome::test {
namespace {

struct Case {
  const char* name;
  std::function<std::unique_ptr<UndoneModel>()> make;
  double least_ratio;  ///< bytes of states over bytes of residuals on disk
  bool by_steps = false;
};

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
  if (stats.state_bytes > 100'000 && stats.bytes_written > 0) {  // a late disk may get none
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

}  // namespace
}  // namespace anadrome::test

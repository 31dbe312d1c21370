// SPDX-License-Identifier: BSD-2-Clause
// schedule=undo: the caller runs steps backwards, and every state comes back to the last bit. Runs
// that are stopped and go on are simulated.
#include <anadrome/anadrome.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "models.h"
#include "own_loop.h"
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
  std::int64_t adjoints = 0;
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
    run.set("memory", "24MiB");
  }

  /// A loop over the actions.
  Found loop(RunHandle& run, std::int64_t steps) {
    Found found;
    found.status = anadrome_begin(run, steps);
    model_->begin_anew();
    found.status = follow(run, found.status, [&](const anadrome_action& action) {
      EXPECT_TRUE(action.kind == ANADROME_TURN || action.last == action.first + 1);
      take_steps(action, [&](std::int64_t k) { model_->advance(k, action.again != 0); });
      if (action.kind == ANADROME_ADVANCE && steps < 0 && action.last == kSteps &&
          action.again == 0) {
        EXPECT_EQ(anadrome_finish_forward(run, kSteps), ANADROME_OK) << anadrome_last_error();
      } else if (action.kind == ANADROME_RETREAT) {
        model_->undo(action.first);
      } else if (action.kind == ANADROME_ADJOINT) {
        EXPECT_TRUE(found.adjoints == 0 || action.first == next_adjoint_);
        next_adjoint_ = action.first - 1;
        ++found.adjoints;
        model_->add_adjoint();
      }
      if (action.kind == ANADROME_TURN || action.kind == ANADROME_ADJOINT) model_->spoil();
    });
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
  if (std::string(GetParam().name) != "Wave" && GetParam().least_ratio > 0) return;
  RunHandle run(MPI_COMM_WORLD);
  prepare(run);
  expect_right(solve(run, kSteps, true));
  expect_right(loop(run, ANADROME_STEPS_UNKNOWN));
}

INSTANTIATE_TEST_SUITE_P(Models, Undo, testing::ValuesIn(kCases),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace anadrome::test

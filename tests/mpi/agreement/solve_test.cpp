// SPDX-License-Identifier: BSD-2-Clause
// The loop with callbacks: the same states as the loop of actions, and failures that all ranks
// share.
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "has_part.h"
#include "mpi_main.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

constexpr std::int64_t kSteps = 20;

bool odd() { return rank() == ranks() - 1; }

// A model behind callbacks, one of which may go wrong at one step on one rank.
struct Callbacks {
  Callbacks(anadrome_run* handle, CoupledModel& coupled_model, const Reference& all_states)
      : run(handle), model(coupled_model), reference(all_states) {}

  anadrome_model as_model() {
    anadrome_model callbacks{};
    callbacks.size = sizeof callbacks;
    callbacks.context = this;
    callbacks.start = [](void* self) { return static_cast<Callbacks*>(self)->start(); };
    callbacks.advance = [](void* self, std::int64_t first, std::int64_t last,
                           std::int64_t* reached) {
      return static_cast<Callbacks*>(self)->advance(first, last, reached);
    };
    callbacks.record = [](void* self, std::int64_t step, std::int64_t* reached) {
      return static_cast<Callbacks*>(self)->record(step, reached);
    };
    callbacks.turn = [](void* self, std::int64_t steps) {
      return static_cast<Callbacks*>(self)->turn(steps);
    };
    callbacks.adjoint = [](void* self, std::int64_t step) {
      return static_cast<Callbacks*>(self)->adjoint(step);
    };
    return callbacks;
  }

  int failure(const std::string& callback, std::int64_t first, std::int64_t last) const {
    return callback == fails && first <= fails_at && fails_at < last ? 42 : 0;
  }

  bool holds(std::int64_t step) {
    return model.take_now(run) && model.state() == reference.state(step);
  }

  int start() {
    model.start();
    exact = exact && model.no_now(run) && model.spoil_then(run) && model.put_then(run);
    ++starts;
    return start_returns;
  }

  int advance(std::int64_t first, std::int64_t last, std::int64_t* reached) {
    exact = exact && holds(first) && *reached == last && model.spoil_then(run) &&
            (model.exchanged == kNoField || last == first + 1);
    const std::int64_t end = std::min(last, kSteps);
    for (std::int64_t k = first; k < end; ++k) model.step(k);
    if (first < end) exact = exact && model.put_then(run);
    if (last > kSteps) *reached = kSteps;
    if (nonsense != 0 && first <= 10 && 10 < last) *reached = nonsense;
    if (first <= ends_at && ends_at < last) *reached = ends_at;
    if (turns > 0 && ends_again) *reached = first;
    return failure("advance", first, last);
  }

  int record(std::int64_t step, std::int64_t* reached) {
    exact = exact && holds(step) && *reached == step + 1;
    if (step < kSteps) model.record(step);
    if (step >= kSteps) *reached = kSteps;
    if (nonsense != 0 && step == 10) *reached = nonsense;
    if (step == ends_at) *reached = step;
    if (turns > 0 && ends_again) *reached = step;
    return failure("record", step, step + 1);
  }

  int turn(std::int64_t steps) {
    exact = exact && steps == kSteps && holds(kSteps);
    ++turns;
    return failure("turn", 0, 1);
  }

  int adjoint(std::int64_t step) {
    const bool right = model.has_tape() ? model.tape() == reference.tape(step) : holds(step);
    exact = exact && right && step == next_adjoint--;
    model.scramble_state();
    return failure("adjoint", step, step + 1);
  }

  anadrome_run* run;
  CoupledModel& model;
  const Reference& reference;
  int starts = 0, start_returns = 0;
  std::string fails;
  std::int64_t fails_at = 0;
  std::int64_t nonsense = 0;
  std::int64_t ends_at = -1;  // among a known number of steps
  bool ends_again = false;    // after TURN
  bool exact = true;
  int turns = 0;
  std::int64_t next_adjoint = kSteps - 1;
};

class Solve : public testing::TestWithParam<std::tuple<const char*, bool, bool>> {
 protected:
  Solve()
      : model_(MPI_COMM_WORLD, Counts{3, 1, 2, 5, 9}, std::get<2>(GetParam())),
        reference_(model_, kSteps),
        steps_(std::get<1>(GetParam()) ? ANADROME_STEPS_UNKNOWN : kSteps),
        run_(MPI_COMM_WORLD) {
    const std::string schedule = std::get<0>(GetParam());
    const std::int64_t blocks = schedule == "store_all" ? 60 : 3;
    const std::int64_t memory = blocks * least_memory(model_, "async");
    EXPECT_EQ(model_.add_fields(run_), ANADROME_OK);
    run_.set("schedule", schedule);
    run_.set("interval", "2");
    run_.set("memory", std::to_string(memory) + "B");
  }

  anadrome_status solve(Callbacks& callbacks) {
    const anadrome_model model = callbacks.as_model();
    return anadrome_solve(run_, steps_, &model);
  }

  void expect_exact_solve() {
    Callbacks callbacks(run_, model_, reference_);
    EXPECT_EQ(solve(callbacks), ANADROME_OK) << anadrome_last_error();
    EXPECT_TRUE(callbacks.exact);
    EXPECT_EQ(callbacks.turns, 1);
    EXPECT_EQ(callbacks.next_adjoint, -1);
  }

  CoupledModel model_;
  const Reference reference_;
  const std::int64_t steps_;
  RunHandle run_;
};

TEST_P(Solve, GivesEveryStateToItsCallbacks) { expect_exact_solve(); }

TEST_P(Solve, FailsOnAllRanksIfACallbackFailsOnOne) {
  for (const char* callback : {"advance", "record", "turn", "adjoint"}) {
    if (!model_.has_tape() && std::string(callback) == "record") continue;
    // Where every tape is kept, every step is recorded.
    const bool recorded_only =
        model_.has_tape() && std::get<0>(GetParam()) == std::string("store_all");
    if (recorded_only && std::string(callback) == "advance") continue;
    for (const std::int64_t at : {0, 11, 19}) {
      if (at > 0 && std::string(callback) == "turn") continue;
      SCOPED_TRACE(std::string(callback) + " at " + std::to_string(at));
      Callbacks callbacks(run_, model_, reference_);
      if (odd()) callbacks.fails = callback;
      callbacks.fails_at = at;
      const anadrome_status status = solve(callbacks);
      // With a tape the last step may be recorded only.
      if (status == ANADROME_OK && model_.has_tape() && at == 19) continue;
      EXPECT_EQ(status, ANADROME_ERR_PEER);
      const std::string message = anadrome_last_error();
      EXPECT_TRUE(has_part(message, std::string(callback) + " returned 42"));
    }
  }
  expect_exact_solve();
}

TEST_P(Solve, FailsOnAllRanksIfTheStepReachedMakesNoSense) {
  if (steps_ != ANADROME_STEPS_UNKNOWN) return;
  Callbacks callbacks(run_, model_, reference_);
  callbacks.nonsense = -3;
  EXPECT_EQ(solve(callbacks), ANADROME_ERR_PEER);
  EXPECT_TRUE(has_part(anadrome_last_error(), "-3"));
  expect_exact_solve();
}

std::string name_of(const testing::TestParamInfo<std::tuple<const char*, bool, bool>>& info) {
  const auto& [schedule, unknown, tape] = info.param;
  return std::string(schedule) + (unknown ? "_unknown" : "_known") + (tape ? "_tape" : "");
}

INSTANTIATE_TEST_SUITE_P(All, Solve,
                         testing::Combine(testing::Values("store_all", "revolve", "async"),
                                          testing::Bool(), testing::Bool()),
                         name_of);

TEST(SolveArguments, AreChecked) {
  CoupledModel model(MPI_COMM_WORLD, Counts{3, 0, 0, 0, 0}, true);
  const Reference reference(model, kSteps);
  RunHandle run(MPI_COMM_WORLD);
  EXPECT_EQ(model.add_fields(run), ANADROME_OK);
  Callbacks callbacks(run, model, reference);
  const anadrome_model good = callbacks.as_model();
  EXPECT_EQ(anadrome_solve(nullptr, 3, &good), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_solve(run, 3, nullptr), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_solve(run, -3, &good), ANADROME_ERR_ARGUMENT);
  anadrome_model bad = good;
  bad.size = 0;
  EXPECT_EQ(anadrome_solve(run, 3, &bad), ANADROME_ERR_ARGUMENT);
  bad = good;
  bad.advance = nullptr;
  EXPECT_EQ(anadrome_solve(run, 3, &bad), ANADROME_ERR_ARGUMENT);
  bad = good;
  bad.adjoint = nullptr;
  EXPECT_EQ(anadrome_solve(run, 3, &bad), ANADROME_ERR_ARGUMENT);
  bad = good;
  bad.record = nullptr;
  EXPECT_EQ(anadrome_solve(run, 3, &bad), ANADROME_ERR_ARGUMENT);
  bad = good;
  bad.turn = nullptr;
  EXPECT_EQ(anadrome_solve(run, kSteps, &bad), ANADROME_OK) << anadrome_last_error();
}

// A model that ends the sweep where it must not, though it says what it did.
TEST_P(Solve, FailsIfTheModelEndsAKnownNumberOfSteps) {
  if (steps_ == ANADROME_STEPS_UNKNOWN) return;
  Callbacks callbacks(run_, model_, reference_);
  callbacks.ends_at = 10;
  EXPECT_EQ(solve(callbacks), ANADROME_ERR_PEER);
  const std::string message = anadrome_last_error();
  EXPECT_TRUE(has_part(message, "*reached = 10"));
  expect_exact_solve();
}

TEST_P(Solve, FailsIfTheModelEndsAmongStepsThatAreRunAgain) {
  const bool runs_again = std::get<0>(GetParam()) == std::string("async");  // others keep all
  if (steps_ != ANADROME_STEPS_UNKNOWN || !runs_again) return;
  Callbacks callbacks(run_, model_, reference_);
  callbacks.ends_again = true;
  EXPECT_EQ(solve(callbacks), ANADROME_ERR_PEER);
  const std::string message = anadrome_last_error();
  EXPECT_TRUE(has_part(message, "*reached = "));
  expect_exact_solve();
}

// Of a model of one number x.
template <class State>
anadrome_model model_of(State& state) {
  anadrome_model model{};
  model.size = sizeof model;
  model.context = &state;
  model.advance = State::advance;
  model.adjoint = State::adjoint;
  return model;
}

template <class State>
void add_x(RunHandle& run, State& state) {
  EXPECT_EQ(anadrome_add_field(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, &state.x, 1),
            ANADROME_OK);
}

// Makes every call of the same run that would go through a sweep.
struct Calling {
  double x = 0;
  anadrome_run* run = nullptr;
  std::vector<anadrome_status> statuses = {};
  int adjoints = 0;

  static int advance(void* context, int64_t, int64_t, int64_t*) {
    anadrome_action action{};
    auto& [x, run, statuses, adjoints] = *static_cast<Calling*>(context);
    statuses = {anadrome_next(run, &action), anadrome_begin(run, 2),
                anadrome_rewind(run),        anadrome_pass(run, ANADROME_PASS_FORWARD),
                anadrome_close(&run),        anadrome_solve(run, 2, nullptr)};
    return 0;
  }
  static int adjoint(void* context, int64_t) {
    return ++static_cast<Calling*>(context)->adjoints, 0;
  }
};

TEST(SolveCallbacks, MayCallNothingThatGoesThroughASweep) {
  RunHandle run(MPI_COMM_WORLD);
  Calling calling{.run = run};
  add_x(run, calling);
  const anadrome_model model = model_of(calling);
  EXPECT_EQ(anadrome_solve(run, 3, &model), ANADROME_OK) << anadrome_last_error();
  EXPECT_EQ(calling.statuses, std::vector(6, ANADROME_ERR_ORDER));
  EXPECT_EQ(calling.adjoints, 3);
}

TEST(SolveCallbacks, MayThrow) {
  RunHandle run(MPI_COMM_WORLD);
  Calling calling;
  add_x(run, calling);
  anadrome_model model = model_of(calling);
  const auto expect_failure = [&](int (*adjoint)(void*, int64_t), const std::string& said) {
    model.adjoint = adjoint;
    EXPECT_EQ(anadrome_solve(run, 3, &model), ANADROME_ERR_PEER);
    const std::string message = anadrome_last_error();
    EXPECT_TRUE(has_part(message, "the callback adjoint threw" + said));
  };
  expect_failure([](void*, int64_t) -> int { throw 7; }, " what is no std::exception");
  expect_failure([](void*, int64_t) -> int { throw std::runtime_error("mine"); }, ": mine");
}

// Steps of one rank alone, of which those of the last rank fail from some step on and never come to
// the end.
struct Stuck {
  static int advance(void* self, std::int64_t first, std::int64_t last, std::int64_t* reached) {
    auto& model = *static_cast<Stuck*>(self);
    if (model.stuck && last > kSteps / 2) return 42;
    model.x += static_cast<double>(std::min(last, kSteps) - first);
    if (last >= kSteps) *reached = kSteps;
    return 0;
  }
  static int adjoint(void*, std::int64_t) { return 0; }

  double x = 0;
  bool stuck = false;
};

TEST(SolveToAnUnknownEnd, EndsWhereOneRankNeverComesThere) {
  for (const char* schedule : {"store_all", "revolve"}) {  // which agree at the end only
    for (const bool stuck : {false, true}) {
      SCOPED_TRACE(schedule);
      Stuck state;
      state.stuck = stuck && rank() == ranks() - 1;
      const anadrome_model model = model_of(state);
      RunHandle run(MPI_COMM_WORLD);
      add_x(run, state);
      run.set("schedule", schedule);
      run.set("memory", "64KiB");
      const anadrome_status status = anadrome_solve(run, ANADROME_STEPS_UNKNOWN, &model);
      EXPECT_EQ(status, stuck ? ANADROME_ERR_PEER : ANADROME_OK) << anadrome_last_error();
      const std::string why = anadrome_last_error();
      EXPECT_TRUE(!stuck || why.find("the callback advance returned 42") != std::string::npos)
          << why;
    }
  }
}

// Ranks that wait for each other in each step, of which those of the last rank fail for longer than
// any rank is left alone.
struct Coupled {
  static int advance(void* self, std::int64_t first, std::int64_t last, std::int64_t* reached) {
    auto& model = *static_cast<Coupled*>(self);
    for (std::int64_t k = first; k < last && k < kManySteps; ++k) {
      MPI_Allreduce(MPI_IN_PLACE, &model.x, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    if (last >= kManySteps) *reached = kManySteps;
    return model.fails && last > kSteps / 2 ? 42 : 0;
  }
  static int adjoint(void*, std::int64_t) { return 0; }

  static constexpr std::int64_t kManySteps = 2600;
  double x = 0;
  bool fails = false;
};

TEST(SolveToAnUnknownEnd, LeavesNobodyAloneInItsSteps) {
  Coupled state;
  state.fails = rank() == ranks() - 1;
  const anadrome_model model = model_of(state);
  RunHandle run(MPI_COMM_WORLD);
  add_x(run, state);
  run.set("schedule", "revolve");  // agrees at the end only,
  run.set("audit", "off");         // without this
  run.set("memory", "64KiB");
  EXPECT_EQ(anadrome_solve(run, ANADROME_STEPS_UNKNOWN, &model), ANADROME_ERR_PEER);
  const std::string why = anadrome_last_error();
  EXPECT_TRUE(has_part(why, "the callback advance returned 42"));
  state.fails = false;
  EXPECT_EQ(anadrome_solve(run, ANADROME_STEPS_UNKNOWN, &model), ANADROME_OK)
      << anadrome_last_error();
}

// ---- exchanged fields ----

class ExchangedSolve : public testing::Test {
 protected:
  ExchangedSolve() : model_(MPI_COMM_WORLD, Counts{3, 1, 2, 5, 0}), reference_(model_, kSteps) {}

  void expect_exact_solve(RunHandle& run, std::int64_t steps) {
    Callbacks callbacks(run, model_, reference_);
    const anadrome_model model = callbacks.as_model();
    EXPECT_EQ(anadrome_solve(run, steps, &model), ANADROME_OK) << anadrome_last_error();
    EXPECT_TRUE(callbacks.exact);
    EXPECT_EQ(callbacks.starts, 1);
    EXPECT_EQ(callbacks.turns, 1);
    EXPECT_EQ(callbacks.next_adjoint, -1);
  }

  CoupledModel model_;
  const Reference reference_;
};

TEST_F(ExchangedSolve, GivesEveryStateToItsCallbacks) {
  model_.exchanged = kAllFields;
  for (const char* schedule : {"store_all", "revolve", "async"}) {
    for (const std::int64_t blocks : {1, 60}) {
      if (schedule == std::string("store_all") && blocks == 1) continue;
      RunHandle run(model_,
                    {{"schedule", schedule},
                     {"interval", "3"},
                     {"memory", std::to_string(blocks * least_memory(model_, "async")) + "B"}});
      for (const std::int64_t steps : {kSteps, ANADROME_STEPS_UNKNOWN}) {
        SCOPED_TRACE(std::string(schedule) + ", " + std::to_string(steps));
        expect_exact_solve(run, steps);
      }
    }
  }
}

TEST_F(ExchangedSolve, NeedsAStart) {
  model_.exchanged = kInt64s;
  RunHandle run(MPI_COMM_WORLD);
  EXPECT_EQ(model_.add_fields(run), ANADROME_OK);
  Callbacks callbacks(run, model_, reference_);
  for (const bool older : {false, true}) {
    anadrome_model model = callbacks.as_model();
    if (older) {
      model.size = offsetof(anadrome_model, start);  // what lies behind is not the library's
    } else {
      model.start = nullptr;
    }
    EXPECT_EQ(anadrome_solve(run, kSteps, &model), ANADROME_ERR_ARGUMENT);
    EXPECT_TRUE(has_part(anadrome_last_error(), "start"));
    EXPECT_EQ(callbacks.starts, 0);
  }
  expect_exact_solve(run, kSteps);
}

TEST_F(ExchangedSolve, FailsOnAllRanksIfStartFailsOnOne) {
  model_.exchanged = kAllFields;
  RunHandle run(MPI_COMM_WORLD);
  EXPECT_EQ(model_.add_fields(run), ANADROME_OK);
  Callbacks callbacks(run, model_, reference_);
  callbacks.start_returns = odd() ? 42 : 0;
  const anadrome_model model = callbacks.as_model();
  EXPECT_EQ(anadrome_solve(run, kSteps, &model), ANADROME_ERR_PEER);
  EXPECT_TRUE(has_part(anadrome_last_error(), "start returned 42"));
  expect_exact_solve(run, kSteps);
}

// A caller that was built before there was `start`.
TEST_F(ExchangedSolve, AcceptsAModelWithoutItIfNothingIsExchanged) {
  RunHandle run(MPI_COMM_WORLD);
  EXPECT_EQ(model_.add_fields(run), ANADROME_OK);
  model_.start();
  anadrome_model model{};
  model.size = offsetof(anadrome_model, start);
  model.context = &model_;
  model.advance = [](void* self, std::int64_t first, std::int64_t last, std::int64_t*) {
    for (std::int64_t k = first; k < last; ++k) static_cast<CoupledModel*>(self)->step(k);
    return 0;
  };
  model.adjoint = [](void*, std::int64_t) { return 0; };
  model.start = [](void*) { return 1; };  // must not be looked at
  EXPECT_EQ(anadrome_solve(run, kSteps, &model), ANADROME_OK) << anadrome_last_error();
  EXPECT_EQ(model_.state(), reference_.state(0));
  model.size = sizeof model;
  model.start = nullptr;
  EXPECT_EQ(anadrome_solve(run, kSteps, &model), ANADROME_OK) << anadrome_last_error();
}

}  // namespace

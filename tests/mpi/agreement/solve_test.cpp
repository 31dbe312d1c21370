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
#include "own_loop.h"
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
    callbacks.start = [](void* self) { return of(self).start(); };
    callbacks.advance = [](void* self, std::int64_t first, std::int64_t last,
                           std::int64_t* reached) {
      return of(self).advance(first, last, reached);
    };
    callbacks.record = [](void* self, std::int64_t step, std::int64_t* reached) {
      return of(self).record(step, reached);
    };
    callbacks.turn = [](void* self, std::int64_t steps) { return of(self).turn(steps); };
    callbacks.adjoint = [](void* self, std::int64_t step) { return of(self).adjoint(step); };
    return callbacks;
  }
  static Callbacks& of(void* self) { return *static_cast<Callbacks*>(self); }

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
    return failure("start", 0, 1);
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
  int starts = 0;
  std::string fails;
  std::int64_t fails_at = 0;
  std::int64_t nonsense = 0;
  std::int64_t ends_at = -1;  // among a known number of steps
  bool ends_again = false;    // after TURN
  bool exact = true;
  int turns = 0;
  std::int64_t next_adjoint = kSteps - 1;
};

// Sweeps of callbacks, each of which must see the right states.
void expect_exact_solve(RunHandle& run, CoupledModel& model, const Reference& reference,
                        std::int64_t steps) {
  Callbacks callbacks(run, model, reference);
  const anadrome_model all = callbacks.as_model();
  EXPECT_EQ(anadrome_solve(run, steps, &all), ANADROME_OK) << anadrome_last_error();
  EXPECT_TRUE(callbacks.exact);
  EXPECT_EQ(callbacks.starts, 1);
  EXPECT_EQ(callbacks.turns, 1);
  EXPECT_EQ(callbacks.next_adjoint, -1);
}

enum class Kind { kPlain, kTape, kExchanged };

class Solve : public testing::TestWithParam<std::tuple<const char*, bool, Kind>> {
 protected:
  Solve()
      : model_(MPI_COMM_WORLD, Counts{3, 1, 2, 5, kind() == Kind::kExchanged ? 0U : 9U},
               kind() == Kind::kTape),
        reference_(model_, kSteps),
        steps_(std::get<1>(GetParam()) ? ANADROME_STEPS_UNKNOWN : kSteps),
        run_(MPI_COMM_WORLD) {
    if (kind() == Kind::kExchanged) model_.exchanged = kAllFields;
    const std::int64_t memory =
        (schedule() == "store_all" ? 60 : 3) * least_memory(model_, "async");
    EXPECT_EQ(model_.add_fields(run_), ANADROME_OK);
    run_.set("schedule", schedule());
    run_.set("interval", "2");
    run_.set("memory", std::to_string(memory) + "B");
  }
  static std::string schedule() { return std::get<0>(GetParam()); }
  static Kind kind() { return std::get<2>(GetParam()); }

  anadrome_status solve(Callbacks& callbacks) {
    const anadrome_model model = callbacks.as_model();
    return anadrome_solve(run_, steps_, &model);
  }
  void expect_exact() { expect_exact_solve(run_, model_, reference_, steps_); }

  CoupledModel model_;
  const Reference reference_;
  const std::int64_t steps_;
  RunHandle run_;
};

TEST_P(Solve, GivesEveryStateToItsCallbacks) { expect_exact(); }

TEST_P(Solve, FailsOnAllRanksIfACallbackFailsOnOne) {
  for (const std::string callback : {"start", "advance", "record", "turn", "adjoint"}) {
    if (!model_.has_tape() && callback == "record") continue;
    // Where every tape is kept, every step is recorded.
    if (model_.has_tape() && schedule() == "store_all" && callback == "advance") continue;
    for (const std::int64_t at : {0, 11, 19}) {
      if (at > 0 && (callback == "turn" || callback == "start")) continue;
      SCOPED_TRACE(callback + " at " + std::to_string(at));
      Callbacks callbacks(run_, model_, reference_);
      if (odd()) callbacks.fails = callback;
      callbacks.fails_at = at;
      const anadrome_status status = solve(callbacks);
      // With a tape the last step may be recorded only.
      if (status == ANADROME_OK && model_.has_tape() && at == 19) continue;
      EXPECT_EQ(status, ANADROME_ERR_PEER);
      EXPECT_TRUE(has_part(anadrome_last_error(), callback + " returned 42"));
    }
  }
  expect_exact();
}

// A step that makes no sense, and the end where it must not be: of a known number of steps, and
// among those that are run again (by `async`: the others keep all).
TEST_P(Solve, FailsIfTheModelEndsTheSweepWhereItMustNot) {
  const bool unknown = steps_ == ANADROME_STEPS_UNKNOWN;
  Callbacks nonsense(run_, model_, reference_), early(nonsense), again(nonsense);
  nonsense.nonsense = -3;
  early.ends_at = 10;
  again.ends_again = true;
  const auto expect_failure = [&](Callbacks& callbacks, const char* said) {
    EXPECT_EQ(solve(callbacks), ANADROME_ERR_PEER);
    EXPECT_TRUE(has_part(anadrome_last_error(), said));
    expect_exact();
  };
  if (unknown) expect_failure(nonsense, "-3");
  if (!unknown) expect_failure(early, "*reached = 10");
  if (unknown && schedule() == "async") expect_failure(again, "*reached = ");
}

std::string name_of(const testing::TestParamInfo<Solve::ParamType>& info) {
  const auto& [schedule, unknown, kind] = info.param;
  const char* const kinds[] = {"", "_tape", "_exchanged"};
  return std::string(schedule) + (unknown ? "_unknown" : "_known") + kinds[static_cast<int>(kind)];
}

INSTANTIATE_TEST_SUITE_P(
    All, Solve,
    testing::Combine(testing::Values("store_all", "revolve", "async"), testing::Bool(),
                     testing::Values(Kind::kPlain, Kind::kTape, Kind::kExchanged)),
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
  using Spoil = void (*)(anadrome_model&);
  for (const Spoil spoil : {Spoil{[](anadrome_model& bad) { bad.size = 0; }},
                            Spoil{[](anadrome_model& bad) { bad.advance = nullptr; }},
                            Spoil{[](anadrome_model& bad) { bad.adjoint = nullptr; }},
                            Spoil{[](anadrome_model& bad) { bad.record = nullptr; }}}) {
    anadrome_model bad = good;
    spoil(bad);
    EXPECT_EQ(anadrome_solve(run, 3, &bad), ANADROME_ERR_ARGUMENT);
  }
  anadrome_model bad = good;
  bad.turn = nullptr;
  EXPECT_EQ(anadrome_solve(run, kSteps, &bad), ANADROME_OK) << anadrome_last_error();
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
  EXPECT_EQ(add_number(run, "x", state.x), ANADROME_OK);
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

class Start : public testing::Test {
 protected:
  Start() : model_(MPI_COMM_WORLD, Counts{3, 1, 2, 5, 0}), reference_(model_, kSteps) {}

  CoupledModel model_;
  const Reference reference_;
};

TEST_F(Start, IsNeededByExchangedFields) {
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
  expect_exact_solve(run, model_, reference_, kSteps);
}

// A caller that was built before there was `start`.
TEST_F(Start, IsNotNeededIfNothingIsExchanged) {
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

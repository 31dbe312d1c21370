// SPDX-License-Identifier: BSD-2-Clause
// Exchanged fields: what is refused, what has no address, and failures that all ranks share.
#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "mpi_main.h"
#include "sweep_driver.h"

namespace {

using namespace anadrome::test;

constexpr std::int64_t kSteps = 20;
constexpr std::size_t kMiB = std::size_t{1} << 20;

bool odd() { return rank() == ranks() - 1; }

anadrome_status add(anadrome_run* run, int& field, const char* name = "u", std::size_t count = 3,
                    int role = ANADROME_ROLE_STATE, int type = ANADROME_FLOAT64) {
  return anadrome_add_exchanged(run, name, static_cast<anadrome_role>(role),
                                static_cast<anadrome_type>(type), count, &field);
}

TEST(ExchangedArguments, AreChecked) {
  RunHandle run(MPI_COMM_WORLD);
  int field = 77;
  EXPECT_EQ(add(nullptr, field), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(anadrome_add_exchanged(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, 3, nullptr),
            ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(add(run, field, nullptr), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(add(run, field, "a/b"), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(add(run, field, "u", 3, 3), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(add(run, field, "u", 3, ANADROME_ROLE_STATE, 7), ANADROME_ERR_ARGUMENT);
  EXPECT_EQ(add(run, field, "u", std::numeric_limits<std::size_t>::max() / 8),
            ANADROME_ERR_ARGUMENT);
  for (const int role : {ANADROME_ROLE_TAPE, ANADROME_ROLE_ADJOINT}) {
    EXPECT_EQ(add(run, field, "u", 3, role), ANADROME_ERR_UNSUPPORTED);
    EXPECT_NE(std::string(anadrome_last_error()).find("'u'"), std::string::npos)
        << anadrome_last_error();
  }
  EXPECT_EQ(field, 77);
  EXPECT_EQ(add(run, field), ANADROME_OK);
  EXPECT_EQ(field, 0);
  EXPECT_EQ(add(run, field), ANADROME_ERR_ARGUMENT);  // the name is taken
  EXPECT_EQ(anadrome_begin(run, 3), ANADROME_ERR_ARGUMENT) << "what was refused is missing";
  const RunHandle whole(MPI_COMM_WORLD);
  EXPECT_EQ(add(whole, field), ANADROME_OK);
  EXPECT_EQ(anadrome_begin(whole, 3), ANADROME_OK) << anadrome_last_error();
  EXPECT_EQ(add(whole, field, "late"), ANADROME_ERR_ORDER);
}

class ExchangedAddresses : public testing::TestWithParam<std::size_t> {};

TEST_P(ExchangedAddresses, ExistOnlyForExchangedFieldsAndAtTheirMoments) {
  RunHandle run(MPI_COMM_WORLD);
  std::vector<double> plain(2), tape(1);
  int first = -1, second = -1;
  EXPECT_EQ(anadrome_add_field(run, "plain", ANADROME_ROLE_STATE, ANADROME_FLOAT64, plain.data(),
                               plain.size()),
            ANADROME_OK);
  EXPECT_EQ(add(run, first, "first", GetParam()), ANADROME_OK);
  EXPECT_EQ(anadrome_add_field(run, "adjoint", ANADROME_ROLE_ADJOINT, ANADROME_FLOAT64, tape.data(),
                               tape.size()),
            ANADROME_OK);
  EXPECT_EQ(add(run, second, "second", 2), ANADROME_OK);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 3);
  const auto expect = [&](bool now, bool then) {
    for (const int field : {first, second}) {
      EXPECT_EQ(anadrome_now(run, field) != nullptr, now);
      EXPECT_EQ(anadrome_then(run, field) != nullptr, then);
    }
    constexpr int kMost = std::numeric_limits<int>::max();
    for (const int field : {0, 2, 4, -1, kMost, -kMost - 1}) {
      EXPECT_EQ(anadrome_now(run, field), nullptr);
      EXPECT_EQ(anadrome_then(run, field), nullptr);
    }
    EXPECT_EQ(anadrome_now(nullptr, first), nullptr);
    EXPECT_EQ(anadrome_then(nullptr, first), nullptr);
  };
  anadrome_action action;
  run.set("memory", "64MiB");
  run.set("schedule", "revolve");
  expect(false, false);
  for (int sweep = 0; sweep < 2; ++sweep) {
    EXPECT_EQ(anadrome_begin(run, 4), ANADROME_OK) << anadrome_last_error();
    expect(false, true);
    do {
      EXPECT_EQ(anadrome_next(run, &action), ANADROME_OK) << anadrome_last_error();
      expect(true, action.kind == ANADROME_ADVANCE);
    } while (action.kind != ANADROME_DONE);
    const void* x0 = anadrome_now(run, first);
    EXPECT_EQ(anadrome_next(run, &action), ANADROME_ERR_ORDER);
    EXPECT_EQ(anadrome_now(run, first), x0);
  }
  EXPECT_EQ(anadrome_rewind(run), ANADROME_OK);
  EXPECT_EQ(anadrome_next(run, &action), ANADROME_OK);
  EXPECT_EQ(anadrome_fail(run, "enough"), ANADROME_OK);
  while (anadrome_next(run, &action) == ANADROME_OK) {
  }
  expect(false, false);
  EXPECT_EQ(anadrome_begin(run, -5), ANADROME_ERR_ARGUMENT);
  expect(false, false);
}

INSTANTIATE_TEST_SUITE_P(Elements, ExchangedAddresses, testing::Values(3, kMiB / 8),
                         testing::PrintToStringParamName());

TEST(ExchangedRanks, ThatRegisterAnotherKindOfFieldAreRefused) {
  if (ranks() == 1) return;
  for (const char* schedule : {"revolve", "async"}) {
    RunHandle run(MPI_COMM_WORLD);
    run.set("schedule", schedule);
    std::vector<double> values(3);
    int field = -1;
    if (odd()) {
      EXPECT_EQ(anadrome_add_field(run, "u", ANADROME_ROLE_STATE, ANADROME_FLOAT64, values.data(),
                                   values.size()),
                ANADROME_OK);
    } else {
      EXPECT_EQ(add(run, field), ANADROME_OK);
    }
    EXPECT_EQ(anadrome_begin(run, 3), ANADROME_ERR_ARGUMENT);
    EXPECT_NE(std::string(anadrome_last_error()).find("fields"), std::string::npos)
        << anadrome_last_error();
    EXPECT_EQ(anadrome_now(run, 0), nullptr);
    EXPECT_EQ(anadrome_then(run, 0), nullptr);
  }
}

TEST(ExchangedRanks, NamedMemoryIsExact) {
  struct Case {
    const char* name;
    Counts counts;
    unsigned exchanged;
  };
  const auto r = static_cast<std::size_t>(rank());
  const Case cases[] = {
      {"small", {3 + 2 * r, 1, 2, 5, 0}, kAllFields},
      {"one byte", {0, 0, 0, 1, 0}, kAllFields},
      {"mixed", {3 + 20 * r, 1, 2, 5, 700}, kComplexes + kBytes},
      {"large on one rank", {0, 0, rank() == 0 ? kMiB / 8 : 3, 5 + r, 2}, kInt64s},
      // Whole pages, of which the rank with less in all needs more.
      {"large in one field and many pages",
       rank() == 0 ? Counts{kMiB / 4, 0, 0, 0, 0} : Counts{4, kMiB / 16 - 9, 4, 4, 4}, kAllFields}};
  for (const Case& c : cases) {
    CoupledModel model(MPI_COMM_WORLD, c.counts);
    model.exchanged = c.exchanged;
    const Reference reference(model, 6);
    for (const char* schedule : {"revolve", "async"}) {
      SCOPED_TRACE(std::string(c.name) + ", " + schedule);
      const std::int64_t least = least_memory(model, schedule);
      EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, least));
      RunHandle run(
          model,
          {{"schedule", schedule}, {"interval", "2"}, {"memory", std::to_string(least - 1) + "B"}});
      EXPECT_EQ(anadrome_begin(run, 6), ANADROME_ERR_MEMORY);
      for (const bool unknown : {false, true}) {
        run.set("memory", std::to_string(least) + "B");
        SweepDriver driver(run, model, reference);
        driver.exact_sweep(6, unknown);
        EXPECT_LE(run.statistics().peak_library_bytes, least);
      }
    }
  }
}

TEST(ExchangedRanks, AreToldTheSameMemoryForStoreAll) {
  const auto r = static_cast<std::size_t>(rank());
  for (const std::size_t most : {std::size_t{40}, std::size_t{3000}, kMiB}) {
    CoupledModel model(MPI_COMM_WORLD, Counts{5, 0, 3 * r, odd() ? most : 7 * r, 9});
    model.exchanged = kFloat32s + kBytes;
    const Reference reference(model, 37);
    for (const std::int64_t steps : {1, 2, 9, 37}) {
      SCOPED_TRACE(std::to_string(most) + " bytes, " + std::to_string(steps) + " steps");
      RunHandle run(model, {{"schedule", "store_all"},
                            {"memory", std::to_string(least_memory(model, "store_all")) + "B"}});
      const anadrome_status status = anadrome_begin(run, steps);
      EXPECT_EQ(status, steps == 1 ? ANADROME_OK : ANADROME_ERR_MEMORY) << anadrome_last_error();
      if (status != ANADROME_OK) {
        const std::string message = anadrome_last_error(), before = "set memory to ";
        const auto at = message.find(before);
        EXPECT_NE(at, std::string::npos) << message;
        const std::int64_t needed = std::stoll(message.substr(at + before.size()));
        EXPECT_TRUE(same_on_all(MPI_COMM_WORLD, needed));
        run.set("memory", std::to_string(needed) + "B");
      }
      SweepDriver driver(run, model, reference);
      driver.exact_sweep(steps);
      EXPECT_EQ(run.statistics().forward_steps_taken, steps);
      EXPECT_LE(run.statistics().peak_library_bytes, run.statistics().memory_bytes);
    }
  }
}

// ---- what one rank meets ----

TEST(ExchangedRanks, OfWhichOneFailsAllStop) {
  for (const std::size_t float32s : {std::size_t{3}, kMiB / 4}) {
    CoupledModel model(MPI_COMM_WORLD, Counts{float32s, 1, 2, 5, 9});
    model.exchanged = kFloat32s + kInt64s;
    const std::int64_t steps = float32s > 3 ? 6 : kSteps;
    const Reference reference(model, steps);
    const std::function<void(anadrome_run*)> failures[] = {
        [](anadrome_run* run) { anadrome_fail(run, "no convergence"); },
        [&](anadrome_run*) { model.pack_returns = model.unpack_returns = 17; }};
    for (const char* schedule : {"store_all", "revolve", "async"}) {
      RunHandle run(model, {{"schedule", schedule}, {"interval", "2"}});
      const std::int64_t times = schedule == std::string("store_all") ? steps + 4 : 2;
      run.set("memory", std::to_string(times * least_memory(model, "async")) + "B");
      SweepDriver driver(run, model, reference);
      for (const auto& fail : failures) {
        for (const int moment : {0, 1, 2, 3}) {
          SCOPED_TRACE(std::string(schedule) + ", moment " + std::to_string(moment));
          bool failed = false;
          driver.before_action = [&](const anadrome_action& action) {
            const bool now = moment == 0   ? true
                             : moment == 1 ? action.last > steps / 2
                             : moment == 2 ? action.kind == ANADROME_TURN
                                           : action.kind == ANADROME_ADJOINT;
            if (failed || !now) return;
            failed = true;
            if (odd()) fail(run);
          };
          const Outcome outcome = driver.sweep(steps, moment == 1);
          model.pack_returns = model.unpack_returns = 0;
          EXPECT_EQ(outcome.status, ANADROME_ERR_PEER) << outcome.message;
          EXPECT_TRUE(outcome.exact);
          driver.before_action = nullptr;
          EXPECT_TRUE(model.no_now(run) && model.no_then(run));
        }
        driver.exact_sweep(steps);
      }
    }
  }
}

TEST(ExchangedSweep, MayEndBeforeAStepIsTaken) {
  CoupledModel model(MPI_COMM_WORLD, Counts{3, 1, 0, 0, 0});
  model.exchanged = kAllFields;
  const Reference reference(model, 9);
  for (const std::int64_t blocks : {1, 60}) {
    for (const char* schedule : {"store_all", "revolve", "async"}) {
      if (schedule == std::string("store_all") && blocks == 1) continue;
      RunHandle run(model,
                    {{"schedule", schedule},
                     {"interval", "3"},
                     {"memory", std::to_string(blocks * least_memory(model, "async")) + "B"}});
      // The driver learns of an odd number of steps in the ADVANCE after the last.
      for (const std::int64_t steps : {0, 1, 3, 5, 9}) {
        SCOPED_TRACE(std::string(schedule) + ", " + std::to_string(steps));
        SweepDriver driver(run, model, reference);
        Outcome outcome = driver.sweep(steps, true);
        EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
        outcome = driver.sweep_again();
        EXPECT_TRUE(outcome.done && outcome.exact) << outcome.message;
      }
    }
  }
}

// ---- callbacks ----

struct Callbacks {
  anadrome_run* run;
  CoupledModel& model;
  const Reference& reference;
  int starts = 0, turns = 0, start_returns = 0;
  bool exact = true;
  std::int64_t next_adjoint = kSteps - 1;

  bool holds(std::int64_t step) {
    return model.take_now(run) && model.state() == reference.state(step);
  }

  anadrome_model as_model() {
    anadrome_model callbacks{};
    callbacks.size = sizeof callbacks;
    callbacks.context = this;
    callbacks.start = [](void* self) {
      auto& c = *static_cast<Callbacks*>(self);
      c.model.start();
      c.exact =
          c.exact && c.model.no_now(c.run) && c.model.spoil_then(c.run) && c.model.put_then(c.run);
      ++c.starts;
      return c.start_returns;
    };
    callbacks.advance = [](void* self, std::int64_t first, std::int64_t last,
                           std::int64_t* reached) {
      auto& c = *static_cast<Callbacks*>(self);
      c.exact = c.exact && last == first + 1 && c.holds(first) && c.model.spoil_then(c.run);
      *reached = std::min(last, kSteps);
      if (first == *reached) return 0;
      c.model.step(first);
      c.exact = c.exact && c.model.put_then(c.run);
      return 0;
    };
    callbacks.turn = [](void* self, std::int64_t steps) {
      auto& c = *static_cast<Callbacks*>(self);
      c.exact = c.exact && steps == kSteps && c.holds(steps);
      ++c.turns;
      return 0;
    };
    callbacks.adjoint = [](void* self, std::int64_t step) {
      auto& c = *static_cast<Callbacks*>(self);
      c.exact = c.exact && step == c.next_adjoint-- && c.holds(step);
      return 0;
    };
    return callbacks;
  }
};

class ExchangedSolve : public testing::Test {
 protected:
  ExchangedSolve() : model_(MPI_COMM_WORLD, Counts{3, 1, 2, 5, 0}), reference_(model_, kSteps) {}

  void expect_exact_solve(RunHandle& run, std::int64_t steps) {
    Callbacks callbacks{run, model_, reference_};
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
  Callbacks callbacks{run, model_, reference_};
  for (const bool older : {false, true}) {
    anadrome_model model = callbacks.as_model();
    if (older) {
      model.size = offsetof(anadrome_model, start);  // what lies behind is not the library's
    } else {
      model.start = nullptr;
    }
    EXPECT_EQ(anadrome_solve(run, kSteps, &model), ANADROME_ERR_ARGUMENT);
    EXPECT_NE(std::string(anadrome_last_error()).find("start"), std::string::npos)
        << anadrome_last_error();
    EXPECT_EQ(callbacks.starts, 0);
  }
  expect_exact_solve(run, kSteps);
}

TEST_F(ExchangedSolve, FailsOnAllRanksIfStartFailsOnOne) {
  model_.exchanged = kAllFields;
  RunHandle run(MPI_COMM_WORLD);
  EXPECT_EQ(model_.add_fields(run), ANADROME_OK);
  Callbacks callbacks{run, model_, reference_};
  callbacks.start_returns = odd() ? 42 : 0;
  const anadrome_model model = callbacks.as_model();
  EXPECT_EQ(anadrome_solve(run, kSteps, &model), ANADROME_ERR_PEER);
  EXPECT_NE(std::string(anadrome_last_error()).find("start returned 42"), std::string::npos)
      << anadrome_last_error();
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

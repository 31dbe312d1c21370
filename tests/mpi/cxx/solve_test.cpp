// SPDX-License-Identifier: BSD-2-Clause
// Run::solve: callbacks as lambdas, and what becomes of their exceptions.
#include <gtest/gtest.h>
#include <anadrome/anadrome.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "has_part.h"
#include "mpi_main.h"

namespace {

using anadrome::Error;
using anadrome::Model;
using anadrome::test::has_part;
using anadrome::test::rank;
using anadrome::test::ranks;

constexpr std::int64_t kSteps = 27;

struct CountingSweep {
  std::int64_t x = -1, tape = -1, adjoints = 0, turned_at = -1;
  std::int64_t ends_at = kSteps;
  Model model;

  CountingSweep() {
    model.start = [this] { x = 0; };
    model.advance = [this](std::int64_t first, std::int64_t last, std::int64_t& reached) {
      EXPECT_EQ(x, first);
      EXPECT_EQ(reached, last);
      x = reached = std::min(last, ends_at);
    };
    model.turn = [this](std::int64_t steps) { turned_at = steps; };
    model.adjoint = [this](std::int64_t step) {
      EXPECT_EQ(x, step);
      ++adjoints;
    };
  }
};

anadrome::Run run_with(CountingSweep& sweep) {
  anadrome::Run run(MPI_COMM_WORLD);
  run.set("memory", "1KiB").set("schedule", "revolve");
  run.add_field("x", &sweep.x, 1);
  return run;
}

TEST(CxxSolve, UndoesStepsByALambda) {
  CountingSweep sweep;
  std::int64_t undone = 0;
  sweep.model.undo = [&](std::int64_t step) {
    EXPECT_EQ(sweep.x, step + 1);
    sweep.x = -5;  // a guess
    ++undone;
  };
  anadrome::Run run = run_with(sweep);
  run.set("schedule", "undo").set("memory", "1MiB").set("directory", anadrome::test::directory());

  run.solve(kSteps, sweep.model);

  EXPECT_EQ(sweep.adjoints, kSteps);
  EXPECT_EQ(undone, 2 * kSteps + 2) << "and two of the first steps once more";
}

TEST(CxxSolve, CallsTheLambdasAndRefusesAModelThatLacksThem) {
  for (const std::int64_t steps : {kSteps, std::int64_t{ANADROME_STEPS_UNKNOWN}}) {
    CountingSweep sweep;
    anadrome::Run run = run_with(sweep);

    run.solve(steps, sweep.model);

    EXPECT_EQ(sweep.turned_at, kSteps);
    EXPECT_EQ(sweep.adjoints, kSteps);
    EXPECT_EQ(sweep.x, 0);
    sweep.model.adjoint = nullptr;
    EXPECT_THROW(run.solve(steps, sweep.model), Error);
  }
}

TEST(CxxSolve, RecordsTapes) {
  CountingSweep sweep;
  anadrome::Run run = run_with(sweep);
  run.add_field("tape", &sweep.tape, 1, ANADROME_ROLE_TAPE);
  sweep.model.record = [&](std::int64_t step, std::int64_t&) {
    sweep.tape = 100 * step;
    sweep.x = step + 1;
  };
  sweep.model.adjoint = [&](std::int64_t step) { EXPECT_EQ(sweep.tape, 100 * step); };

  run.solve(kSteps, sweep.model);

  EXPECT_EQ(sweep.turned_at, kSteps);
}

// The rank that threw gets its own exception back, the others its text.
TEST(CxxSolve, AnExceptionOfACallbackIsAFailureOfEveryRank) {
  CountingSweep sweep;
  anadrome::Run run = run_with(sweep);
  const auto adjoint = sweep.model.adjoint;
  sweep.model.adjoint = [&](std::int64_t step) {
    adjoint(step);
    if (rank() == ranks() - 1 && step == 20) throw std::domain_error("negative density");
  };
  try {
    run.solve(kSteps, sweep.model);
    FAIL() << "no exception";
  } catch (const std::domain_error& error) {
    EXPECT_EQ(rank(), ranks() - 1);
    EXPECT_STREQ(error.what(), "negative density");
  } catch (const Error& error) {
    EXPECT_NE(rank(), ranks() - 1);
    EXPECT_EQ(error.status(), ANADROME_ERR_PEER);
    EXPECT_TRUE(has_part(error.what(), "negative density"));
  }
  sweep.model.adjoint = adjoint;
  sweep.adjoints = 0;
  run.solve(kSteps, sweep.model);  // and the run goes on being usable
  EXPECT_EQ(sweep.adjoints, kSteps);
}

TEST(CxxSolve, AnExceptionOfAPackFunctionComesOutOfTheSweep) {
  CountingSweep sweep;
  anadrome::Run run = run_with(sweep);
  run.add_packed(
      "packed", 8,
      [](void*, std::size_t) {
        if (rank() == 0) throw std::length_error("too long");
      },
      [](const void*, std::size_t) {});
  try {
    run.solve(kSteps, sweep.model);
    FAIL() << "no exception";
  } catch (const std::length_error&) {
    EXPECT_EQ(rank(), 0);
  } catch (const Error& error) {
    EXPECT_NE(rank(), 0);
    EXPECT_EQ(error.status(), ANADROME_ERR_PEER);
  }
}

}  // namespace

// SPDX-License-Identifier: BSD-2-Clause
// anadrome_check_gradient of the Lorenz system, a member of an ensemble on each rank: states of
// three numbers, a running cost in the adjoint steps, and mistakes in one of them.
#include <gtest/gtest.h>
#include <anadrome/anadrome.hpp>

#include <string>

#include "mpi_main.h"
#pragma GCC diagnostic ignored "-Wpedantic"  // compound literals, of C
#include "lorenz_step.h"

namespace {

constexpr std::int64_t kSteps = 200, kWrong = 120;

enum class Mistake { kNone, kSign, kFactor, kTerm, kNextState };

struct Lorenz {
  lorenz_problem problem{}, given{};
  lorenz_state u{};
  lorenz_control adjoint{};
  double z_sum = 0, objective = 0;
  Mistake mistake = Mistake::kNone;
  anadrome::Run run{MPI_COMM_WORLD};
  anadrome::Model model;
  anadrome::Gradient gradient;

  Lorenz() {
    lorenz_problem_init(&given, kSteps, anadrome::test::rank());
    problem = given;
    run.set("memory", "4KiB").set("schedule", "revolve");
    run.add_field("u", &u.x, 3);
    run.add_field("z_sum", &z_sum, 1);
    run.add_field("lambda", &adjoint.start.x, 3, ANADROME_ROLE_ADJOINT);
    run.add_field("parameters", &adjoint.parameters.sigma, 3, ANADROME_ROLE_ADJOINT);
    model.start = [this] {
      u = problem.control.start;
      z_sum = 0;
    };
    model.advance = [this](std::int64_t first, std::int64_t last, std::int64_t&) {
      for (; first < last; ++first) {
        z_sum += u.z;
        u = lorenz_step(&problem, u);
      }
    };
    model.turn = [this](std::int64_t) {
      const double of_last = lorenz_turn(&problem, u, &adjoint);
      const double own = lorenz_objective(&problem, of_last, z_sum);
      MPI_Allreduce(&own, &objective, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    };
    model.adjoint = [this](std::int64_t k) {
      adjoint_step(k == kWrong ? mistake : Mistake::kNone);
    };
    gradient.perturb = [this](std::int64_t seed, double epsilon) {
      const lorenz_control along = direction(seed);
      problem.control = lorenz_moved_control(&given.control, epsilon, &along);
    };
    gradient.objective = [this] { return objective; };
    gradient.derivative = [this](std::int64_t seed) {
      const lorenz_control along = direction(seed);
      double sum = lorenz_dot(&adjoint, &along);
      MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      return sum;
    };
    gradient.pairs = "u=lambda";
    gradient.product_steps = kSteps;
  }

  static lorenz_control direction(std::int64_t seed) {
    const double s = static_cast<double>(seed);
    return {{0.3 * s, -0.2, 0.1 * s}, {0.5, 0.2 * s, -0.4}};
  }

  void adjoint_step(Mistake wrong) {
    const lorenz_state weighted = {0, 0, problem.weight};
    if (wrong == Mistake::kNextState) u = lorenz_step(&problem, u);
    const lorenz_state before = adjoint.start;
    lorenz_adjoint_step(&problem, u, &adjoint);
    const double factor = wrong == Mistake::kSign ? -1 : wrong == Mistake::kFactor ? 2 : 1;
    adjoint.start.x *= factor;
    adjoint.start.y *= factor;
    adjoint.start.z = factor * (adjoint.start.z - weighted.z) + weighted.z;
    if (wrong == Mistake::kTerm) adjoint.start.x = before.x;
  }

  anadrome::GradientCheck check() { return run.check_gradient(kSteps, model, gradient); }
};

TEST(LorenzCheck, PassesEveryStep) {
  Lorenz lorenz;
  lorenz.gradient.seeds = ANADROME_MOST_SEEDS;
  const anadrome::GradientCheck check = lorenz.check();
  EXPECT_EQ(check.verdict, ANADROME_VERDICT_RIGHT) << check.message;
  EXPECT_EQ(check.product_verdict, ANADROME_VERDICT_RIGHT) << check.message;
  EXPECT_EQ(check.products, kSteps);
  for (const double slope : check.slope) EXPECT_NEAR(slope, 2, 0.15) << check.message;
}

TEST(LorenzCheck, NamesTheStepAndTheMistake) {
  for (const auto& [mistake, looks_like] :
       {std::pair{Mistake::kSign, ANADROME_MISMATCH_SIGN},
        std::pair{Mistake::kFactor, ANADROME_MISMATCH_FACTOR},
        std::pair{Mistake::kTerm, ANADROME_MISMATCH_TERM},
        std::pair{Mistake::kNextState, ANADROME_MISMATCH_STATE}}) {
    Lorenz lorenz;
    lorenz.mistake = mistake;
    const anadrome::GradientCheck check = lorenz.check();
    EXPECT_EQ(check.verdict, ANADROME_VERDICT_WRONG) << check.message;
    EXPECT_EQ(check.failing_step, kWrong) << check.message;
    EXPECT_EQ(check.failing_products, 1) << check.message;
    EXPECT_EQ(check.mismatch, looks_like) << check.message;
  }
}

}  // namespace

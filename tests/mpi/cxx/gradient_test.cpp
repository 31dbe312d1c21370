// SPDX-License-Identifier: BSD-2-Clause
// Run::check_gradient: lambdas, what it returns, and what becomes of their exceptions; a mask.
#include <gtest/gtest.h>
#include <anadrome/anadrome.hpp>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "mpi_main.h"

namespace {

using anadrome::Error;
using anadrome::Gradient;
using anadrome::GradientCheck;
using anadrome::Model;
using anadrome::test::rank;
using anadrome::test::ranks;

constexpr std::int64_t kSteps = 12;
constexpr double kControl = 0.7;

// u_i <- u_i + 0.1 sin(m u_{i-1}) on a ring of each rank; the array has the last value in front,
// which a step fetches. The control is m.
struct RingOfSines {
  std::vector<double> u = std::vector<double>(5), lambda = std::vector<double>(5);
  double gradient = 0, m = kControl, sum = 0;
  Model model;
  Gradient controls;
  anadrome::Run run{MPI_COMM_WORLD};

  RingOfSines() {
    run.set("memory", "1KiB").set("schedule", "revolve");
    run.add_field("u", u);
    run.add_field("lambda", lambda, ANADROME_ROLE_ADJOINT);
    run.add_field("gradient", &gradient, 1, ANADROME_ROLE_ADJOINT);
    model.start = [this] {
      for (std::size_t i = 0; i < u.size(); ++i) u[i] = 1 + 0.3 * static_cast<double>(i) + rank();
    };
    model.advance = [this](std::int64_t first, std::int64_t last, std::int64_t&) {
      for (; first < last; ++first) step();
    };
    model.turn = [this](std::int64_t) {
      double part = 0;
      for (std::size_t i = 1; i < u.size(); ++i) part += 0.5 * u[i] * u[i];
      lambda = u;
      lambda[0] = 0;
      gradient = 0;
      MPI_Allreduce(&part, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    };
    model.adjoint = [this](std::int64_t) { adjoint_step(); };
    controls.perturb = [this](std::int64_t seed, double epsilon) {
      m = kControl + epsilon * static_cast<double>(seed);
    };
    controls.objective = [this] { return sum; };
    controls.derivative = [this](std::int64_t seed) {
      double all = 0;
      MPI_Allreduce(&gradient, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      return all * static_cast<double>(seed);
    };
    controls.mask = [this] { u[0] = lambda[0] = 0; };
    controls.pairs = "u=lambda";
  }

  void step() {
    u[0] = u.back();
    for (std::size_t i = u.size() - 1; i >= 1; --i) u[i] += 0.1 * std::sin(m * u[i - 1]);
  }

  void adjoint_step() {
    u[0] = u.back();
    double to_last = 0;
    for (std::size_t i = 1; i < u.size(); ++i) {
      const double slope = 0.1 * std::cos(m * u[i - 1]) * lambda[i];
      gradient += u[i - 1] * slope;
      (i == 1 ? to_last : lambda[i - 1]) += m * slope;
    }
    lambda.back() += to_last;
  }
};

TEST(CxxGradient, IsRightWithAMaskOfWhatIsNoState) {
  RingOfSines ring;
  const GradientCheck check = ring.run.check_gradient(kSteps, ring.model, ring.controls);
  EXPECT_EQ(check.verdict, ANADROME_VERDICT_RIGHT) << check.message;
  EXPECT_EQ(check.product_verdict, ANADROME_VERDICT_RIGHT) << check.message;
  EXPECT_EQ(check.products, kSteps);
  EXPECT_NEAR(check.slope[0], 2, 0.1);
  EXPECT_EQ(ring.m, kControl);
  ring.run.solve(kSteps, ring.model);

  ring.controls.mask = nullptr;
  const GradientCheck without = ring.run.check_gradient(kSteps, ring.model, ring.controls);
  EXPECT_EQ(without.product_verdict, ANADROME_VERDICT_WRONG) << without.message;
  EXPECT_EQ(without.taylor_verdict, ANADROME_VERDICT_RIGHT) << without.message;
  ring.controls.derivative = nullptr;
  EXPECT_THROW(ring.run.check_gradient(kSteps, ring.model, ring.controls), Error);
}

// On the rank where it was thrown an exception comes out again; the others get ERR_PEER and why.
TEST(CxxGradient, GivesBackWhatACallbackThrows) {
  for (int of = 0; of < 4; ++of) {
    RingOfSines ring;
    const auto fail = [of](int me) {
      if (of == me && rank() == ranks() - 1) throw std::runtime_error("out of luck");
    };
    const Gradient right = ring.controls;
    ring.controls.mask = [&] { right.mask(), fail(0); };
    ring.controls.perturb = [&](std::int64_t seed, double epsilon) {
      right.perturb(seed, epsilon), fail(1);
    };
    ring.controls.objective = [&] { return fail(2), right.objective(); };
    ring.controls.derivative = [&](std::int64_t seed) {
      const double derivative = right.derivative(seed);
      return fail(3), derivative;
    };
    bool thrown = false;
    try {
      ring.run.check_gradient(kSteps, ring.model, ring.controls);
    } catch (const Error& error) {
      thrown = rank() != ranks() - 1;
      EXPECT_EQ(error.status(), ANADROME_ERR_PEER);
    } catch (const std::runtime_error& error) {
      thrown = rank() == ranks() - 1;
      EXPECT_STREQ(error.what(), "out of luck");
    }
    EXPECT_TRUE(thrown) << of;
    ring.controls = right;
    EXPECT_EQ(ring.run.check_gradient(kSteps, ring.model, ring.controls).verdict,
              ANADROME_VERDICT_RIGHT);
  }
}

}  // namespace

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

// u_i <- u_i + 0.1 sin(m u_{i-1}) on a ring; the array has the neighbour's value in front, which a
// step fetches. The control is m.
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
      for (std::size_t i = 0; i < u.size(); ++i) u[i] = 1 + 0.3 * static_cast<double>(i);
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

  static double from(int source, int target, double value) {
    double received = 0;
    MPI_Sendrecv(&value, 1, MPI_DOUBLE, target, 0, &received, 1, MPI_DOUBLE, source, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return received;
  }
  static int left() { return (rank() + ranks() - 1) % ranks(); }
  static int right() { return (rank() + 1) % ranks(); }

  void step() {
    u[0] = from(left(), right(), u.back());
    for (std::size_t i = u.size() - 1; i >= 1; --i) u[i] += 0.1 * std::sin(m * u[i - 1]);
  }

  void adjoint_step() {
    u[0] = from(left(), right(), u.back());
    double to_left = 0;
    for (std::size_t i = 1; i < u.size(); ++i) {
      const double slope = 0.1 * std::cos(m * u[i - 1]) * lambda[i];
      gradient += u[i - 1] * slope;
      (i == 1 ? to_left : lambda[i - 1]) += m * slope;
    }
    lambda.back() += from(right(), left(), to_left);
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
}

TEST(CxxGradient, IsWrongWithoutTheMask) {
  RingOfSines ring;
  ring.controls.mask = nullptr;
  const GradientCheck check = ring.run.check_gradient(kSteps, ring.model, ring.controls);
  EXPECT_EQ(check.product_verdict, ANADROME_VERDICT_WRONG) << check.message;
  EXPECT_EQ(check.taylor_verdict, ANADROME_VERDICT_RIGHT) << check.message;
}

TEST(CxxGradient, RefusesAGradientWithoutFunctions) {
  RingOfSines ring;
  ring.controls.derivative = nullptr;
  try {
    ring.run.check_gradient(kSteps, ring.model, ring.controls);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), ANADROME_ERR_ARGUMENT);
  }
}

// On the rank where it was thrown an exception comes out again; the others get ERR_PEER and why.
TEST(CxxGradient, GivesBackWhatACallbackThrows) {
  for (int of = 0; of < 4; ++of) {
    RingOfSines ring;
    const auto fail = [] {
      if (rank() == ranks() - 1) throw std::runtime_error("out of luck");
    };
    const Gradient right = ring.controls;
    if (of == 0) ring.controls.mask = fail;
    if (of == 1) {
      ring.controls.perturb = [&](std::int64_t seed, double epsilon) {
        right.perturb(seed, epsilon);
        fail();
      };
    }
    if (of == 2) {
      ring.controls.objective = [&] {
        fail();
        return right.objective();
      };
    }
    if (of == 3) {
      ring.controls.derivative = [&](std::int64_t seed) {
        const double derivative = right.derivative(seed);
        fail();
        return derivative;
      };
    }
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

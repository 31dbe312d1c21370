// SPDX-License-Identifier: BSD-2-Clause
// anadrome_check_gradient of the heat equation, by the conductivity and u_0: linear steps, stages
// in tape fields, and mistakes in one adjoint step.
#include <gtest/gtest.h>
#include <anadrome/anadrome.hpp>

#include <cmath>
#include <vector>

#include "heat.h"
#include "heat_job.h"
#include "mpi_main.h"

namespace {

using anadrome::test::directory;
using anadrome::test::kCellsX;
using anadrome::test::kCellsY;

constexpr std::int64_t kSteps = 24, kWrong = 17;

struct Heat {
  heat_model* m;
  anadrome::Run run{MPI_COMM_WORLD};
  anadrome::Model model;
  anadrome::Gradient gradient;
  bool tape;
  double sign = 1;           ///< of the adjoint variables after step kWrong
  bool wrong_state = false;  ///< step kWrong reads u_0 in place of u_k
  std::vector<double> u_0;

  Heat(heat_integrator integrator, bool with_tape)
      : m(heat_model_create(MPI_COMM_WORLD, kCellsX, kCellsY, 1, integrator)), tape(with_tape) {
    const std::size_t cells = heat_grid_cells(&m->grid);
    u_0.resize(cells);
    run.set("directory", directory()).set("schedule", "revolve").set("checkpoints", "4");
    run.add_field("u", m->u, cells);
    run.add_field("lambda", m->lambda, cells, ANADROME_ROLE_ADJOINT);
    run.add_field("gradient_kappa", m->gradient_kappa, cells, ANADROME_ROLE_ADJOINT);
    if (tape) {
      EXPECT_EQ(heat_model_add_tape(m), 0);
      run.add_field("stages", m->tape, static_cast<std::size_t>(integrator) * cells,
                    ANADROME_ROLE_TAPE);
    }
    set_controls(1, 0);
    model.start = [this] { std::copy(u_0.begin(), u_0.end(), m->u); };
    model.advance = [this](std::int64_t first, std::int64_t last, std::int64_t&) {
      for (; first < last; ++first) heat_step(m, first, m->u, m->u, nullptr);
    };
    model.record = [this](std::int64_t k, std::int64_t&) { heat_step(m, k, m->u, m->u, m->tape); };
    model.turn = [this](std::int64_t) { m->objective = heat_turn(m, m->u); };
    model.adjoint = [this](std::int64_t k) { adjoint(k); };
    gradient.perturb = [this](std::int64_t seed, double epsilon) { set_controls(seed, epsilon); };
    gradient.objective = [this] { return m->objective; };
    gradient.derivative = [this](std::int64_t seed) { return derivative(seed); };
    gradient.pairs = "u=lambda";
  }
  ~Heat() {
    run.close();
    heat_model_free(m);
  }
  Heat(const Heat&) = delete;
  Heat& operator=(const Heat&) = delete;

  static double along(std::int64_t seed, std::size_t i) {
    return 0.3 * std::sin(0.7 * static_cast<double>(i) * static_cast<double>(seed) +
                          anadrome::test::rank());
  }

  void set_controls(std::int64_t seed, double epsilon) {
    std::vector<double> kappa(u_0.size());
    heat_fill(&m->grid, heat_conductivity, kappa.data());
    heat_fill_initial_state(m, u_0.data());
    for (std::size_t i = 0; i < kappa.size(); ++i) {
      kappa[i] += epsilon * along(seed, i);
      u_0[i] += epsilon * along(seed + 1, i);
    }
    heat_set_conductivity(m, kappa.data());
  }

  double derivative(std::int64_t seed) const {
    double sum = 0;
    for (std::size_t i = 0; i < u_0.size(); ++i) {
      sum += m->gradient_kappa[i] * along(seed, i) + m->lambda[i] * along(seed + 1, i);
    }
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  }

  void adjoint(std::int64_t k) {
    heat_adjoint_step(m, k, wrong_state && k == kWrong ? u_0.data() : m->u,
                      tape ? m->tape : nullptr);
    if (k != kWrong) return;
    for (std::size_t i = 0; i < u_0.size(); ++i) m->lambda[i] *= sign;
  }

  anadrome::GradientCheck check() { return run.check_gradient(kSteps, model, gradient); }
};

TEST(HeatCheck, PassesBothIntegratorsWithAndWithoutATape) {
  for (const heat_integrator integrator : {HEAT_EULER, HEAT_RK4}) {
    for (const bool tape : {false, true}) {
      Heat heat(integrator, tape);
      const anadrome::GradientCheck check = heat.check();
      EXPECT_EQ(check.verdict, ANADROME_VERDICT_RIGHT) << check.message;
      EXPECT_EQ(check.product_verdict, ANADROME_VERDICT_RIGHT) << check.message;
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(check.slope[i], 2, 0.1) << check.message;
    }
  }
}

TEST(HeatCheck, NamesAWrongSignInOneStep) {
  for (const bool tape : {false, true}) {
    Heat heat(HEAT_RK4, tape);
    heat.sign = -1;
    const anadrome::GradientCheck check = heat.check();
    EXPECT_EQ(check.failing_step, kWrong) << check.message;
    EXPECT_EQ(check.mismatch, ANADROME_MISMATCH_SIGN) << check.message;
    EXPECT_NEAR(check.slope[0], 1, 0.1);
  }
}

// The steps are linear in u: their adjoints do not see the wrong state, the gradient does.
TEST(HeatCheck, SeesAWrongStateInWhatIsAddedToTheGradient) {
  Heat heat(HEAT_EULER, false);
  heat.wrong_state = true;
  const anadrome::GradientCheck check = heat.check();
  EXPECT_EQ(check.verdict, ANADROME_VERDICT_WRONG) << check.message;
  EXPECT_EQ(check.product_verdict, ANADROME_VERDICT_RIGHT) << check.message;
  EXPECT_EQ(check.taylor_verdict, ANADROME_VERDICT_WRONG) << check.message;
}

}  // namespace

// SPDX-License-Identifier: BSD-2-Clause
// The model of the heat-equation example without anadrome: the order of its steps, their adjoints,
// and its gradient on the ranks this program is started with.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "every_stage.h"
#include "heat_job.h"
#include "mpi_main.h"

namespace {

using anadrome::test::gradient_of_every_stage;
using anadrome::test::kCellsX;
using anadrome::test::kCellsY;
using anadrome::test::kSteps;
using Field = std::vector<double>;

class HeatGradient : public testing::TestWithParam<heat_integrator> {
 protected:
  HeatGradient() : model_(create()) {}
  ~HeatGradient() override { heat_model_free(model_); }
  HeatGradient(const HeatGradient&) = delete;
  HeatGradient& operator=(const HeatGradient&) = delete;

  static heat_model* create() {
    return heat_model_create(MPI_COMM_WORLD, kCellsX, kCellsY, 1, GetParam());
  }
  Field filled(double function(double, double)) const {
    Field field(heat_grid_cells(&model_->grid));
    heat_fill(&model_->grid, function, field.data());
    return field;
  }
  double dot(const double* a, const Field& b) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < b.size(); ++i) sum += a[i] * b[i];
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
  }
  // A model at (kappa, u_0) + epsilon (d_kappa, d_state).
  heat_model* moved(double epsilon, const Field& d_kappa, const Field& d_state) const {
    heat_model* other = create();
    Field kappa = filled(heat_conductivity);
    for (std::size_t i = 0; i < kappa.size(); ++i) {
      kappa[i] += epsilon * d_kappa[i];
      other->u[i] += epsilon * d_state[i];
    }
    heat_set_conductivity(other, kappa.data());
    return other;
  }

  heat_model* model_;
};

INSTANTIATE_TEST_SUITE_P(All, HeatGradient, testing::Values(HEAT_EULER, HEAT_RK4),
                         [](const auto& parameter) {
                           return std::string(parameter.param == HEAT_RK4 ? "rk4" : "euler");
                         });

double noise(double x, double y, double shift) {
  return 0.5 * std::sin(5.3 * x + 2.1 * y + shift) +
         0.3 * std::cos(9.7 * x - 4.9 * y + 2.0 * shift) +
         0.2 * std::sin(3.1 * x + 11.3 * y - shift);
}
double kappa_direction(double x, double y) { return 0.1 * (1.0 + noise(x, y, 0.7)); }
double state_direction(double x, double y) { return 1.0 + 0.5 * noise(x, y, 1.9); }
double positive_weight(double x, double y) { return 1.0 + 0.5 * noise(x, y, 3.3); }

// J(m + e d) = J + e <gradient, d> + O(e^2), m = (kappa, u_0): half the e, a quarter of the
// remainder.
TEST_P(HeatGradient, PassesTheTaylorTest) {
  const Field d_kappa = filled(kappa_direction);
  Field d_state = filled(state_direction);
  gradient_of_every_stage(model_, kSteps);
  // The part of kappa would drown in that of u_0.
  const double part_kappa = dot(model_->gradient_kappa, d_kappa);
  const double scale = std::fabs(part_kappa / dot(model_->lambda, d_state));
  for (double& value : d_state) value *= scale;
  const double derivative = part_kappa + dot(model_->lambda, d_state);
  std::array<double, 4> remainders{};
  for (int p = 0; p < 4; ++p) {
    const double epsilon = std::ldexp(0.1, -p);
    heat_model* other = moved(epsilon, d_kappa, d_state);
    for (std::int64_t k = 0; k < kSteps; ++k) heat_step(other, k, other->u, other->u, nullptr);
    const double there = heat_turn(other, other->u);
    remainders[static_cast<std::size_t>(p)] =
        std::fabs(there - model_->objective - epsilon * derivative);
    heat_model_free(other);
  }
  for (std::size_t p = 0; p < 3; ++p)
    EXPECT_NEAR(std::log2(remainders[p] / remainders[p + 1]), 2.0, 0.1);
}

// <x_{k+1}, w> is a polynomial of degree 5 at most in the distance from (kappa, u): its derivative
// is that of the polynomial through seven points.
TEST_P(HeatGradient, IsOfTheExactAdjointOfAStep) {
  constexpr std::int64_t kStep = 3;
  const Field d_kappa = filled(kappa_direction), d_state = filled(state_direction);
  const Field w = filled(positive_weight);
  double derivative = 0.0;
  for (const auto& [at, weight] : {std::pair{1, 45.0}, std::pair{2, -9.0}, std::pair{3, 1.0}}) {
    for (const int sign : {1, -1}) {
      heat_model* other = moved(sign * at, d_kappa, d_state);
      heat_step(other, kStep, other->u, other->u, nullptr);
      derivative += sign * weight / 60.0 * dot(other->u, w);
      heat_model_free(other);
    }
  }
  heat_turn(model_, model_->u);  // clears the gradient; its terminal condition is replaced by w
  std::copy(w.begin(), w.end(), model_->lambda);
  heat_adjoint_step(model_, kStep, model_->u, nullptr);
  const double adjoint = dot(model_->gradient_kappa, d_kappa) + dot(model_->lambda, d_state);
  EXPECT_NEAR(derivative / adjoint, 1.0, 1e-12);
}

TEST_P(HeatGradient, HasAnotherHashIfOneStateIsWrong) {
  const std::uint64_t right = gradient_of_every_stage(model_, kSteps);
  for (const std::int64_t step : {std::int64_t{0}, kSteps / 2, kSteps - 1}) {
    heat_model* other = create();
    EXPECT_NE(gradient_of_every_stage(other, kSteps, step), right) << "step " << step;
    heat_model_free(other);
  }
}

// The state at a fixed time, reached in 2^halvings times as many steps of the model's size divided
// by 2^halvings. On one rank: the order has nothing to do with the decomposition.
Field state_at_fixed_time(heat_integrator integrator, int halvings) {
  constexpr std::int64_t kCoarseSteps = 12;
  heat_model* model = heat_model_create(MPI_COMM_SELF, 8, 6, 1, integrator);
  Field kappa(heat_grid_cells(&model->grid));
  heat_fill(&model->grid, heat_conductivity, kappa.data());
  model->dt = std::ldexp(model->dt, -halvings);
  heat_set_conductivity(model, kappa.data());
  for (std::int64_t k = 0; k < kCoarseSteps << halvings; ++k)
    heat_step(model, k, model->u, model->u, nullptr);
  const Field state(model->u, model->u + kappa.size());
  heat_model_free(model);
  return state;
}

double largest_difference(const Field& a, const Field& b) {
  double largest = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::fmax(largest, std::fabs(a[i] - b[i]));
  return largest;
}

double observed_order(heat_integrator integrator) {
  const Field coarse = state_at_fixed_time(integrator, 2);
  const Field middle = state_at_fixed_time(integrator, 3);
  const Field fine = state_at_fixed_time(integrator, 4);
  return std::log2(largest_difference(coarse, middle) / largest_difference(middle, fine));
}

TEST(HeatIntegrator, EulerIsOfFirstOrder) { EXPECT_NEAR(observed_order(HEAT_EULER), 1.0, 0.1); }

TEST(HeatIntegrator, RungeKuttaIsOfFourthOrder) { EXPECT_NEAR(observed_order(HEAT_RK4), 4.0, 0.1); }

}  // namespace

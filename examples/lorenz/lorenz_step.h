// SPDX-License-Identifier: BSD-2-Clause
/* One step of the classical Runge-Kutta method, its adjoint and its tangent. Inline, for a call
 * would cost as much as a stage; every caller is compiled without fused operations, and so gets the
 * same bits. */
#ifndef LORENZ_STEP_H
#define LORENZ_STEP_H

#include "lorenz_model.h"

/* f(u) */
static inline lorenz_state lorenz_slope(lorenz_parameters p, lorenz_state u) {
  return (lorenz_state){p.sigma * (u.y - u.x), u.x * (p.rho - u.z) - u.y, u.x * u.y - p.beta * u.z};
}

/* u + h k */
static inline lorenz_state lorenz_moved(lorenz_state u, double h, lorenz_state k) {
  return (lorenz_state){u.x + h * k.x, u.y + h * k.y, u.z + h * k.z};
}

static inline lorenz_state lorenz_scaled(double h, lorenz_state k) {
  return (lorenz_state){h * k.x, h * k.y, h * k.z};
}

/* u + h/6 (k1 + 2 k2 + 2 k3 + k4) */
static inline lorenz_state lorenz_combined(lorenz_state u, double h, lorenz_state k1,
                                           lorenz_state k2, lorenz_state k3, lorenz_state k4) {
  const lorenz_state sum = {k1.x + 2.0 * (k2.x + k3.x) + k4.x, k1.y + 2.0 * (k2.y + k3.y) + k4.y,
                            k1.z + 2.0 * (k2.z + k3.z) + k4.z};
  return lorenz_moved(u, h / 6.0, sum);
}

/** x_k -> x_{k+1} */
static inline lorenz_state lorenz_step(const lorenz_problem* problem, lorenz_state u) {
  const lorenz_parameters p = problem->control.parameters;
  const double h = problem->dt;
  const lorenz_state k1 = lorenz_slope(p, u);
  const lorenz_state k2 = lorenz_slope(p, lorenz_moved(u, 0.5 * h, k1));
  const lorenz_state k3 = lorenz_slope(p, lorenz_moved(u, 0.5 * h, k2));
  const lorenz_state k4 = lorenz_slope(p, lorenz_moved(u, h, k3));
  return lorenz_combined(u, h, k1, k2, k3, k4);
}

/* (df/du)^T a; adds (df/dp)^T a to *sum. */
static inline lorenz_state lorenz_slope_adjoint(lorenz_parameters p, lorenz_state u, lorenz_state a,
                                                lorenz_parameters* sum) {
  sum->sigma += (u.y - u.x) * a.x;
  sum->rho += u.x * a.y;
  sum->beta -= u.z * a.z;
  return (lorenz_state){(p.rho - u.z) * a.y - p.sigma * a.x + u.y * a.z,
                        p.sigma * a.x - a.y + u.x * a.z, -(u.x * a.y) - p.beta * a.z};
}

/** lambda_{k+1} -> lambda_k in gradient->start, with u = x_k; adds the step's part of dJ/dp. */
static inline void lorenz_adjoint_step(const lorenz_problem* problem, lorenz_state u,
                                       lorenz_control* gradient) {
  const lorenz_parameters p = problem->control.parameters;
  const double h = problem->dt;
  const lorenz_state u2 = lorenz_moved(u, 0.5 * h, lorenz_slope(p, u));
  const lorenz_state u3 = lorenz_moved(u, 0.5 * h, lorenz_slope(p, u2));
  const lorenz_state u4 = lorenz_moved(u, h, lorenz_slope(p, u3));
  lorenz_parameters sum = {0.0, 0.0, 0.0};
  lorenz_state lambda = gradient->start;
  const lorenz_state sixth = lorenz_scaled(h / 6.0, lambda), third = lorenz_scaled(h / 3.0, lambda);
  const lorenz_state v4 = lorenz_slope_adjoint(p, u4, sixth, &sum);
  const lorenz_state v3 = lorenz_slope_adjoint(p, u3, lorenz_moved(third, h, v4), &sum);
  const lorenz_state v2 = lorenz_slope_adjoint(p, u2, lorenz_moved(third, 0.5 * h, v3), &sum);
  const lorenz_state v1 = lorenz_slope_adjoint(p, u, lorenz_moved(sixth, 0.5 * h, v2), &sum);
  lambda.x += (v1.x + v2.x) + (v3.x + v4.x);
  lambda.y += (v1.y + v2.y) + (v3.y + v4.y);
  lambda.z += (v1.z + v2.z) + (v3.z + v4.z) + problem->weight;
  gradient->start = lambda;
  gradient->parameters.sigma += sum.sigma;
  gradient->parameters.rho += sum.rho;
  gradient->parameters.beta += sum.beta;
}

/* df/du du + df/dp dp */
static inline lorenz_state lorenz_slope_tangent(lorenz_parameters p, lorenz_state u,
                                                lorenz_parameters dp, lorenz_state du) {
  return (lorenz_state){p.sigma * (du.y - du.x) + dp.sigma * (u.y - u.x),
                        du.x * (p.rho - u.z) + u.x * (dp.rho - du.z) - du.y,
                        du.x * u.y + u.x * du.y - p.beta * du.z - dp.beta * u.z};
}

/** The derivative of the step at u = x_k, for a change dp of the parameters and du of x_k. */
static inline lorenz_state lorenz_tangent_step(const lorenz_problem* problem, lorenz_state u,
                                               lorenz_parameters dp, lorenz_state du) {
  const lorenz_parameters p = problem->control.parameters;
  const double h = problem->dt;
  const lorenz_state u2 = lorenz_moved(u, 0.5 * h, lorenz_slope(p, u));
  const lorenz_state u3 = lorenz_moved(u, 0.5 * h, lorenz_slope(p, u2));
  const lorenz_state u4 = lorenz_moved(u, h, lorenz_slope(p, u3));
  const lorenz_state k1 = lorenz_slope_tangent(p, u, dp, du);
  const lorenz_state k2 = lorenz_slope_tangent(p, u2, dp, lorenz_moved(du, 0.5 * h, k1));
  const lorenz_state k3 = lorenz_slope_tangent(p, u3, dp, lorenz_moved(du, 0.5 * h, k2));
  const lorenz_state k4 = lorenz_slope_tangent(p, u4, dp, lorenz_moved(du, h, k3));
  return lorenz_combined(du, h, k1, k2, k3, k4);
}

#endif

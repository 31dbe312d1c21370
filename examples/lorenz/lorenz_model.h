// SPDX-License-Identifier: BSD-2-Clause
/* The Lorenz system of 1963 and an objective; README.md has the mathematics. The steps themselves
 * are in lorenz_step.h. Knows nothing about anadrome. */
#ifndef LORENZ_MODEL_H
#define LORENZ_MODEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lorenz_state {
  double x, y, z;
} lorenz_state;

typedef struct lorenz_parameters {
  double sigma, rho, beta;
} lorenz_parameters;

/** What the objective depends on; also its gradient, and a direction. In the adjoint sweep `start`
 * of the gradient is the adjoint state lambda_k, which ends as dJ/dx_0. */
typedef struct lorenz_control {
  lorenz_parameters parameters;
  lorenz_state start;
} lorenz_control;

enum { LORENZ_CONTROLS = 6 };

typedef struct lorenz_problem {
  lorenz_control control;
  lorenz_state target;
  int64_t steps;
  double dt;
  double weight; /**< of z_k in the time average: 1 / steps */
} lorenz_problem;

/** An objective and its gradient. */
typedef struct lorenz_outcome {
  double objective;
  lorenz_control gradient;
} lorenz_outcome;

/** Member `member` of the ensemble: each starts a little beside the one before. */
void lorenz_problem_init(lorenz_problem* problem, int64_t steps, int64_t member);

/** The part of the objective that depends on x_n alone. Sets lambda_n and clears the rest of the
 * gradient. */
double lorenz_turn(const lorenz_problem* problem, lorenz_state last, lorenz_control* gradient);

/** The objective, from that part and the sum of z_0 .. z_{n-1}. */
double lorenz_objective(const lorenz_problem* problem, double of_last, double z_sum);

double lorenz_dot(const lorenz_control* a, const lorenz_control* b);

/** control + epsilon direction. */
lorenz_control lorenz_moved_control(const lorenz_control* control, double epsilon,
                                    const lorenz_control* direction);

#ifdef __cplusplus
}
#endif

#endif

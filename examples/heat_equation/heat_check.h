/* Checks of a gradient, all without anadrome. */
#ifndef HEAT_CHECK_H
#define HEAT_CHECK_H

#include "heat_model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HEAT_TAYLOR_POINTS = 8 };

/** What a comparison with every state kept found. */
typedef struct heat_difference {
  int64_t values; /**< values of the gradient, the objective and x_0 whose bits differ, all ranks */
  double largest; /**< largest absolute difference */
} heat_difference;

/** Compute the gradient with all stages of every step (with Euler: every state) kept in arrays of
 * its own, and compare `model` (after its adjoint sweep; without a tape, with x_0 in `u`) and
 * `objective` with it, bit by bit. Collective. Returns 0, or -1 on every rank without memory for
 * them. */
int heat_verify(heat_model* model, MPI_Comm comm, int64_t steps, double objective,
                heat_difference* difference);

/** A Taylor test: slopes of log |J(m + e d) - J(m) - e <gradient, d>| over log e, m = (kappa, u_0),
 * where rounding does not hide them. */
typedef struct heat_taylor {
  double slopes[HEAT_TAYLOR_POINTS - 1];
  int slope_count;
  int passed; /**< there are slopes, and all are 2 within 0.1 */
} heat_taylor;

/** Collective. Returns 0, or -1 on every rank without memory. */
int heat_taylor_test(heat_model* model, MPI_Comm comm, int64_t steps, double objective,
                     heat_taylor* taylor);

/** The relative error of <M v, w> = <v, M^T w>, M the derivative of up to 8 steps with respect to
 * kappa and u_0. Collective. Returns 0, or -1 on every rank without memory. */
int heat_dot_test(MPI_Comm comm, int64_t cells_x, int64_t cells_y, heat_integrator integrator,
                  int64_t steps, double* error);

#ifdef __cplusplus
}
#endif

#endif

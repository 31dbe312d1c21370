/* Explicit Euler steps of the heat equation and their hand-derived discrete adjoint. Each is done
 * in place, row by row. */
#ifndef HEAT_EULER_H
#define HEAT_EULER_H

#include "heat_model.h"

/** x_k in `u` -> x_{k+1} in `next`; both may be the same array. Collective. */
void heat_euler_step(heat_model* model, int64_t k, const double* u, double* next);

/** lambda_{k+1} -> lambda_k in `lambda`, with x_k in `u`; adds the step's part of dJ/dkappa.
 * Collective. */
void heat_euler_adjoint_step(heat_model* model, const double* u);

/** The derivative of a step at x_k in `u`: `du` goes from step k to k+1, for a change of the
 * conductivity given by its `faces`. Collective. */
void heat_euler_tangent_step(heat_model* model, const heat_faces* changed, double* du);

#endif

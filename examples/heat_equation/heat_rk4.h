/* Steps of the heat equation by the classical Runge-Kutta method, and their hand-derived discrete
 * adjoint. A step has four stages Y1 = x_k, Y2, Y3, Y4; all four are what its adjoint needs. */
#ifndef HEAT_RK4_H
#define HEAT_RK4_H

#include "heat_model.h"

/** x_k in `u` -> x_{k+1} in `next`; both may be the same array. `tape` gets the stages, one field
 * after the other; NULL: they are not kept. Collective. */
void heat_rk4_step(heat_model* model, int64_t k, const double* u, double* next, double* tape);

/** lambda_{k+1} -> lambda_k in `lambda`, with the stages of step k in `tape`; adds the step's part
 * of dJ/dkappa. Collective. */
void heat_rk4_adjoint_of_tape(heat_model* model, const double* tape);

/** The same with x_k in `u`: the stages are computed once more. Collective. */
void heat_rk4_adjoint_step(heat_model* model, int64_t k, const double* u);

/** The derivative of step k at x_k in model->u: `du` goes from step k to k+1, for a change of the
 * conductivity given by its `faces`. Collective. */
void heat_rk4_tangent_step(heat_model* model, int64_t k, const heat_faces* changed, double* du);

#endif

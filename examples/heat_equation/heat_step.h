/* A step of the model by its integrator, forward and back. */
#ifndef HEAT_STEP_H
#define HEAT_STEP_H

#include "heat_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** x_k in `u` -> x_{k+1} in `next`; both may be the same array. Collective. */
void heat_step(heat_model* model, int64_t k, const double* u, double* next);

/** The same; `tape` gets all that the adjoint of the step needs, its stages: heat_stages fields of
 * the grid, of which the first is x_k. Collective. */
void heat_record_step(heat_model* model, int64_t k, const double* u, double* next, double* tape);

/** lambda_{k+1} -> lambda_k in `lambda`, with x_k in `u`; adds the step's part of dJ/dkappa. What
 * else the adjoint needs of the step is computed once more. Collective. */
void heat_adjoint_step(heat_model* model, int64_t k, const double* u);

/** The same bits, with the step's `tape`. Collective. */
void heat_adjoint_of_tape(heat_model* model, const double* tape);

/** The derivative of step k at x_k in model->u: `du` goes from step k to k+1, for a change of the
 * conductivity given by its `faces`. Collective. */
void heat_tangent_step(heat_model* model, int64_t k, const heat_faces* changed, double* du);

#ifdef __cplusplus
}
#endif

#endif

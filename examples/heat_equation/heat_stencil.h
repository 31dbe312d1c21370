/* The five-point stencil, one row at a time: what every integrator is made of. Each cell's
 * arithmetic has one fixed order, so that results have the same bits for every number of ranks. */
#ifndef HEAT_STENCIL_H
#define HEAT_STENCIL_H

#include "heat_model.h"

/** A row of a field and what lies around it. */
typedef struct heat_row {
  const double* here;          /**< nx values between their neighbours in x: nx + 2 */
  const double *south, *north; /**< nx values each */
} heat_row;

/** Row j of `field`, whose halo was fetched; `buffer` (nx + 2) holds it. A caller that has
 * overwritten row j - 1 puts its old values into `south`. */
heat_row heat_row_at(const heat_grid* grid, const double* field, const heat_halo* halo, size_t j,
                     double* buffer);

/** base + dt div(kappa grad row) -> out, kappa as in `faces`; `out` is an array of its own. */
void heat_add_divergence(const heat_model* model, const heat_faces* faces, size_t j,
                         const double* base, const heat_row* row, double* out);

/** Add to row j of dJ/dkappa the part of one application of dt div(kappa grad) to `u`, whose result
 * has the adjoint `lambda`. */
void heat_add_gradient(heat_model* model, size_t j, const heat_row* u, const heat_row* lambda);

#endif

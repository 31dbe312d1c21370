#include "heat_euler.h"

#include <math.h>

#include "heat_stencil.h"

// An update in place: the old values of a row and of the one below live in two row buffers.
static heat_row old_row_at(const heat_model* model, const double* field, const heat_halo* halo,
                           size_t j) {
  heat_row row = heat_row_at(&model->grid, field, halo, j, model->rows[j % 2]);
  if (j > 0) row.south = model->rows[(j - 1) % 2] + 1;
  return row;
}

void heat_euler_step(heat_model* model, int64_t k, const double* u, double* next) {
  const heat_grid* grid = &model->grid;
  const size_t nx = grid->nx, ny = grid->ny;
  const double strength = model->dt * cos(40.0 * (double)k * model->dt);
  heat_exchange(grid, u, -1.0, &model->u_halo);
  for (size_t j = 0; j < ny; ++j) {
    const heat_row old = old_row_at(model, u, &model->u_halo, j);
    const double* source = model->source + j * nx;
    double* row = next + j * nx;
    heat_add_divergence(model, &model->faces, j, old.here + 1, &old, row);
    for (size_t i = 0; i < nx; ++i) row[i] += strength * source[i];
  }
}

void heat_euler_adjoint_step(heat_model* model, const double* u) {
  const heat_grid* grid = &model->grid;
  heat_exchange(grid, u, -1.0, &model->u_halo);
  heat_exchange(grid, model->lambda, -1.0, &model->lambda_halo);
  for (size_t j = 0; j < grid->ny; ++j) {
    const heat_row state = heat_row_at(grid, u, &model->u_halo, j, model->rows[2]);
    const heat_row old = old_row_at(model, model->lambda, &model->lambda_halo, j);
    heat_add_gradient(model, j, &state, &old);
    heat_add_divergence(model, &model->faces, j, old.here + 1, &old, model->lambda + j * grid->nx);
  }
}

void heat_euler_tangent_step(heat_model* model, const heat_faces* changed, double* du) {
  const heat_grid* grid = &model->grid;
  double* diffused = model->rows[3];
  heat_exchange(grid, model->u, -1.0, &model->u_halo);
  heat_exchange(grid, du, -1.0, &model->lambda_halo);
  for (size_t j = 0; j < grid->ny; ++j) {
    const heat_row state = heat_row_at(grid, model->u, &model->u_halo, j, model->rows[2]);
    const heat_row old = old_row_at(model, du, &model->lambda_halo, j);
    heat_add_divergence(model, &model->faces, j, old.here + 1, &old, diffused);
    heat_add_divergence(model, changed, j, diffused, &state, du + j * grid->nx);
  }
}

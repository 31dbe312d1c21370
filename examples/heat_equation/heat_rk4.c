#include "heat_rk4.h"

#include <math.h>
#include <string.h>

#include "heat_stencil.h"

// K_s = dt (div(kappa grad Y_s) + f(t_k + node[s] dt)), Y_{s+1} = x_k + reach[s] K_s,
// x_{k+1} = x_k + sum_s weight[s] K_s.
static const double node[HEAT_RK4_STAGES] = {0.0, 0.5, 0.5, 1.0};
static const double reach[HEAT_RK4_STAGES - 1] = {0.5, 0.5, 1.0};
static const double weight[HEAT_RK4_STAGES] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
enum { LAST = HEAT_RK4_STAGES - 1 };

// Scratch: the stages but the first, a sum over stages, and what belongs to a stage and to the next
// (of the adjoint or the tangent).
static double* own_stage(const heat_model* model, int s) { return model->scratch[s - 1]; }
static double* sum_field(const heat_model* model) { return model->scratch[3]; }
static double* one_field(const heat_model* model) { return model->scratch[4]; }
static double* other_field(const heat_model* model) { return model->scratch[5]; }

// `out` may be `x`.
static void combine(size_t count, double a, const double* x, double b, const double* y,
                    double* out) {
  for (size_t i = 0; i < count; ++i) out[i] = a * x[i] + b * y[i];
}

// K of stage s, row by row; total = base + weight K and next_stage = u + reach K. Either may be
// NULL. Only `y` is read beyond the row.
static void do_stage(heat_model* model, int64_t k, int s, const double* u, const double* y,
                     const double* base, double* total, double* next_stage) {
  const heat_grid* grid = &model->grid;
  const size_t nx = grid->nx;
  const double strength = model->dt * cos(40.0 * ((double)k + node[s]) * model->dt);
  double *source = model->rows[1], *slope = model->rows[2];
  heat_exchange(grid, y, -1.0, &model->u_halo);
  for (size_t j = 0; j < grid->ny; ++j) {
    const size_t at = j * nx;
    const heat_row row = heat_row_at(grid, y, &model->u_halo, j, model->rows[0]);
    for (size_t i = 0; i < nx; ++i) source[i] = strength * model->source[at + i];
    heat_add_divergence(model, &model->faces, j, source, &row, slope);
    if (total != NULL) combine(nx, 1.0, base + at, weight[s], slope, total + at);
    if (next_stage != NULL) combine(nx, 1.0, u + at, reach[s], slope, next_stage + at);
  }
}

// The first stage is x_k itself.
static void compute_stages(heat_model* model, int64_t k, const double* u, const double** stages) {
  stages[0] = u;
  for (int s = 0; s < LAST; ++s) {
    do_stage(model, k, s, u, stages[s], NULL, NULL, own_stage(model, s + 1));
    stages[s + 1] = own_stage(model, s + 1);
  }
}

void heat_rk4_step(heat_model* model, int64_t k, const double* u, double* next, double* tape) {
  const size_t cells = heat_grid_cells(&model->grid);
  double* sum = sum_field(model);
  const double* y = u;
  if (tape != NULL && cells > 0) memcpy(tape, u, cells * sizeof(double));
  for (int s = 0; s < HEAT_RK4_STAGES; ++s) {
    double* next_stage = NULL;
    if (s < LAST)
      next_stage = tape != NULL ? tape + (size_t)(s + 1) * cells : own_stage(model, s + 1);
    // `next` may be `u`, which is no longer needed in the last stage.
    do_stage(model, k, s, u, y, s == 0 ? u : sum, s == LAST ? next : sum, next_stage);
    y = next_stage;
  }
}

// mu_s, the adjoint of K_s: mu_4 = weight lambda, mu_s = weight lambda + reach A mu_{s+1}, where A
// = dt div(kappa grad) is its own transpose; lambda_k = lambda_{k+1} + sum_s A mu_s.
static void adjoint(heat_model* model, const double* const* stages) {
  const heat_grid* grid = &model->grid;
  const size_t nx = grid->nx, cells = heat_grid_cells(grid);
  double *lambda = model->lambda, *sum = sum_field(model);
  double *mu = one_field(model), *next_mu = other_field(model);
  double *diffused = model->rows[2], *zeros = model->rows[3];
  for (size_t i = 0; i < nx; ++i) zeros[i] = 0.0;
  for (size_t i = 0; i < cells; ++i) mu[i] = weight[LAST] * lambda[i];
  for (int s = LAST; s >= 0; --s) {
    const double* base = s == LAST ? lambda : sum;
    double* total = s == 0 ? lambda : sum;
    heat_exchange(grid, stages[s], -1.0, &model->u_halo);
    heat_exchange(grid, mu, -1.0, &model->lambda_halo);
    for (size_t j = 0; j < grid->ny; ++j) {
      const size_t at = j * nx;
      const heat_row stage = heat_row_at(grid, stages[s], &model->u_halo, j, model->rows[0]);
      const heat_row row = heat_row_at(grid, mu, &model->lambda_halo, j, model->rows[1]);
      heat_add_gradient(model, j, &stage, &row);
      heat_add_divergence(model, &model->faces, j, zeros, &row, diffused);
      combine(nx, 1.0, base + at, 1.0, diffused, total + at);
      if (s > 0) combine(nx, weight[s - 1], lambda + at, reach[s - 1], diffused, next_mu + at);
    }
    double* done = mu;
    mu = next_mu;
    next_mu = done;
  }
}

void heat_rk4_adjoint_of_tape(heat_model* model, const double* tape) {
  const size_t cells = heat_grid_cells(&model->grid);
  const double* stages[HEAT_RK4_STAGES];
  for (size_t s = 0; s < HEAT_RK4_STAGES; ++s) stages[s] = tape + s * cells;
  adjoint(model, stages);
}

void heat_rk4_adjoint_step(heat_model* model, int64_t k, const double* u) {
  const double* stages[HEAT_RK4_STAGES];
  compute_stages(model, k, u, stages);
  adjoint(model, stages);
}

void heat_rk4_tangent_step(heat_model* model, int64_t k, const heat_faces* changed, double* du) {
  const heat_grid* grid = &model->grid;
  const size_t nx = grid->nx;
  const double* stages[HEAT_RK4_STAGES];
  const double* dy = du;
  double *sum = sum_field(model), *zeros = model->rows[3];
  compute_stages(model, k, model->u, stages);
  for (size_t i = 0; i < nx; ++i) zeros[i] = 0.0;
  for (int s = 0; s < HEAT_RK4_STAGES; ++s) {
    const double* base = s == 0 ? du : sum;
    double* total = s == LAST ? du : sum;
    double* next_dy = s % 2 == 0 ? one_field(model) : other_field(model);
    heat_exchange(grid, stages[s], -1.0, &model->u_halo);
    heat_exchange(grid, dy, -1.0, &model->lambda_halo);
    for (size_t j = 0; j < grid->ny; ++j) {
      const size_t at = j * nx;
      const heat_row stage = heat_row_at(grid, stages[s], &model->u_halo, j, model->rows[0]);
      const heat_row row = heat_row_at(grid, dy, &model->lambda_halo, j, model->rows[1]);
      double *diffused = model->rows[2], *slope = model->rows[1];  // `row` is done with by then
      heat_add_divergence(model, &model->faces, j, zeros, &row, diffused);
      heat_add_divergence(model, changed, j, diffused, &stage, slope);
      combine(nx, 1.0, base + at, weight[s], slope, total + at);
      if (s < LAST) combine(nx, 1.0, du + at, reach[s], slope, next_dy + at);
    }
    dy = next_dy;
  }
}

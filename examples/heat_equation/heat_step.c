// SPDX-License-Identifier: BSD-2-Clause
// The steps of heat_model.h, one row of the grid at a time. The arithmetic of each cell has one
// fixed order, so that results have the same bits for every number of ranks.
#include <math.h>
#include <string.h>

#include "heat.h"

// A row of a field: nx values between their neighbours in x, and the rows beside it.
typedef struct heat_row {
  const double *here, *south, *north;
} heat_row;

// Row j of `field`, whose halo was fetched; `buffer` (nx + 2) holds it. Behind a wall u is -u.
static heat_row row_at(const heat_grid* grid, const double* field, const double* halo, size_t j,
                       double* buffer) {
  const size_t nx = grid->nx;
  const double* row = field + j * nx;
  buffer[0] = -row[0];
  memcpy(buffer + 1, row, nx * sizeof(double));
  buffer[nx + 1] = -row[nx - 1];
  return (heat_row){.here = buffer,
                    .south = j > 0 ? row - nx : halo,
                    .north = j + 1 < grid->ny ? row + nx : halo + nx};
}

// For an update in place: the old values of a row and of the one below live in two buffers.
static heat_row old_row_at(const heat_model* model, const double* field, const double* halo,
                           size_t j) {
  heat_row row = row_at(&model->grid, field, halo, j, model->rows[j % 2]);
  if (j > 0) row.south = model->rows[(j - 1) % 2] + 1;
  return row;
}

typedef const double* restrict line;  // of values that are read only
// base + dt div(kappa grad row): east, west, north, south, always in this order.
static void divergence_of_row(size_t nx, line base, line row, line south, line north, line face_x,
                              line face_south, line face_north, double* restrict out) {
  for (size_t i = 0; i < nx; ++i) {
    const double here = row[i + 1];
    const double east = face_x[i + 1] * (row[i + 2] - here);
    const double west = face_x[i] * (row[i] - here);
    const double above = face_north[i] * (north[i] - here);
    const double below = face_south[i] * (south[i] - here);
    out[i] = base[i] + (((east + west) + above) + below);
  }
}

// Called through a volatile pointer, so that the compiler cannot drop the repetitions of `work`.
static void (*volatile divergence)(size_t, line, line, line, line, line, line, line,
                                   double* restrict) = divergence_of_row;

static void add_divergence(const heat_model* model, size_t j, const double* base, const heat_row* u,
                           double* out) {
  const size_t nx = model->grid.nx;
  const double *face_x = model->face_x + j * (nx + 1), *face_y = model->face_y + j * nx;
  for (int64_t again = 0; again < model->work; ++again)
    divergence(nx, base, u->here, u->south, u->north, face_x, face_y, face_y + nx, out);
}

// The part of dJ/dkappa of one application of dt div(kappa grad) to row j of u, whose result has
// the adjoint `l`. Each cell sums up its own four faces: no cell writes into another one's
// gradient, whose bits would then depend on where the strips end.
static void add_gradient(heat_model* model, size_t j, const heat_row* u, const heat_row* l) {
  const double scale_x = 0.5 * model->dt / (model->hx * model->hx);
  const double scale_y = 0.5 * model->dt / (model->hy * model->hy);
  line v = u->here, v_south = u->south, v_north = u->north;
  line w = l->here, w_south = l->south, w_north = l->north;
  double* restrict gradient = model->gradient_kappa + j * model->grid.nx;
  for (size_t i = 0; i < model->grid.nx; ++i) {
    const double east = (w[i + 2] - w[i + 1]) * (v[i + 2] - v[i + 1]);
    const double west = (w[i] - w[i + 1]) * (v[i] - v[i + 1]);
    const double above = (w_north[i] - w[i + 1]) * (v_north[i] - v[i + 1]);
    const double below = (w_south[i] - w[i + 1]) * (v_south[i] - v[i + 1]);
    gradient[i] -= scale_x * (east + west) + scale_y * (above + below);
  }
}

// In place, if `next` is `u`.
static void euler_step(heat_model* model, int64_t k, const double* u, double* next) {
  const size_t nx = model->grid.nx;
  const double strength = model->dt * cos(40.0 * (double)k * model->dt);
  heat_exchange(&model->grid, u, -1.0, model->halo_u);
  for (size_t j = 0; j < model->grid.ny; ++j) {
    const heat_row old = old_row_at(model, u, model->halo_u, j);
    const double* source = model->source + j * nx;
    double* row = next + j * nx;
    add_divergence(model, j, old.here + 1, &old, row);
    for (size_t i = 0; i < nx; ++i) row[i] += strength * source[i];
  }
}

// lambda_k = (I + A) lambda_{k+1}: A = dt div(kappa grad) is its own transpose.
static void euler_adjoint(heat_model* model, const double* u) {
  const heat_grid* grid = &model->grid;
  heat_exchange(grid, u, -1.0, model->halo_u);
  heat_exchange(grid, model->lambda, -1.0, model->halo_l);
  for (size_t j = 0; j < grid->ny; ++j) {
    const heat_row state = row_at(grid, u, model->halo_u, j, model->rows[2]);
    const heat_row old = old_row_at(model, model->lambda, model->halo_l, j);
    add_gradient(model, j, &state, &old);
    add_divergence(model, j, old.here + 1, &old, model->lambda + j * grid->nx);
  }
}

// K_s = A Y_s + dt f(t_k + node[s] dt), Y_{s+1} = x_k + reach[s] K_s,
// x_{k+1} = x_k + sum_s weight[s] K_s.
static const double node[HEAT_RK4] = {0.0, 0.5, 0.5, 1.0};
static const double reach[HEAT_RK4 - 1] = {0.5, 0.5, 1.0};
static const double weight[HEAT_RK4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
enum { LAST = HEAT_RK4 - 1 };

// out = x + b y; `out` may be `x`.
static void add(size_t count, const double* x, double b, const double* y, double* out) {
  for (size_t i = 0; i < count; ++i) out[i] = x[i] + b * y[i];
}

// The stages after the first, which is `u`, go to their places in `stages`; x_{k+1} to `next`,
// which may be `u`, or NULL: it is not needed.
static void rk4_step(heat_model* model, int64_t k, const double* u, double* next, double* stages) {
  const heat_grid* grid = &model->grid;
  const size_t nx = grid->nx, cells = heat_grid_cells(grid);
  double *source = model->rows[1], *slope = model->rows[2];
  const double* y = u;
  for (int s = 0; s < (next != NULL ? HEAT_RK4 : LAST); ++s) {
    const double strength = model->dt * cos(40.0 * ((double)k + node[s]) * model->dt);
    const double* base = s == 0 ? u : model->sum;
    double* total = s == LAST ? next : model->sum;
    double* next_stage = stages + (size_t)(s + 1) * cells;
    heat_exchange(grid, y, -1.0, model->halo_u);
    for (size_t j = 0; j < grid->ny; ++j) {
      const size_t at = j * nx;
      const heat_row row = row_at(grid, y, model->halo_u, j, model->rows[0]);
      for (size_t i = 0; i < nx; ++i) source[i] = strength * model->source[at + i];
      add_divergence(model, j, source, &row, slope);
      if (next != NULL) add(nx, base + at, weight[s], slope, total + at);
      if (s < LAST) add(nx, u + at, reach[s], slope, next_stage + at);
    }
    y = next_stage;
  }
}

// mu_s, the adjoint of K_s: mu_4 = weight lambda, mu_s = weight lambda + reach A mu_{s+1};
// lambda_k = lambda_{k+1} + sum_s A mu_s. The first stage is `u`, the others are in `stages`.
static void rk4_adjoint(heat_model* model, const double* u, const double* stages) {
  const heat_grid* grid = &model->grid;
  const size_t nx = grid->nx, cells = heat_grid_cells(grid);
  double *lambda = model->lambda, *diffused = model->rows[2], *zeros = model->rows[3];
  memset(zeros, 0, nx * sizeof(double));
  for (size_t i = 0; i < cells; ++i) model->mu[i] = weight[LAST] * lambda[i];
  for (int s = LAST; s >= 0; --s) {
    const double* y = s == 0 ? u : stages + (size_t)s * cells;
    const double* base = s == LAST ? lambda : model->sum;
    double *total = s == 0 ? lambda : model->sum, *mu = model->mu, *next_mu = model->next_mu;
    heat_exchange(grid, y, -1.0, model->halo_u);
    heat_exchange(grid, mu, -1.0, model->halo_l);
    for (size_t j = 0; j < grid->ny; ++j) {
      const size_t at = j * nx;
      const heat_row state = row_at(grid, y, model->halo_u, j, model->rows[0]);
      const heat_row row = row_at(grid, mu, model->halo_l, j, model->rows[1]);
      add_gradient(model, j, &state, &row);
      add_divergence(model, j, zeros, &row, diffused);
      add(nx, base + at, 1.0, diffused, total + at);
      for (size_t i = 0; s > 0 && i < nx; ++i)
        next_mu[at + i] = weight[s - 1] * lambda[at + i] + reach[s - 1] * diffused[i];
    }
    model->mu = next_mu;
    model->next_mu = mu;
  }
}

void heat_step(heat_model* model, int64_t k, const double* u, double* next, double* tape) {
  const size_t cells = heat_grid_cells(&model->grid);
  if (tape != NULL && cells > 0) memcpy(tape, u, cells * sizeof(double));
  if (model->integrator == HEAT_EULER)
    euler_step(model, k, u, next);
  else
    rk4_step(model, k, u, next, tape != NULL ? tape : model->stages);
}

void heat_adjoint_step(heat_model* model, int64_t k, const double* u, const double* tape) {
  if (model->integrator == HEAT_EULER) {
    euler_adjoint(model, tape != NULL ? tape : u);
  } else if (tape != NULL) {
    rk4_adjoint(model, tape, tape);
  } else {
    rk4_step(model, k, u, NULL, model->stages);
    rk4_adjoint(model, u, model->stages);
  }
}

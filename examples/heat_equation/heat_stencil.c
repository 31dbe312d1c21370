#include "heat_stencil.h"

#include <string.h>

heat_row heat_row_at(const heat_grid* grid, const double* field, const heat_halo* halo, size_t j,
                     double* buffer) {
  const size_t nx = grid->nx;
  const double* row = field + j * nx;
  buffer[0] = halo->west[j];
  memcpy(buffer + 1, row, nx * sizeof(double));
  buffer[nx + 1] = halo->east[j];
  return (heat_row){.here = buffer,
                    .south = j > 0 ? row - nx : halo->south,
                    .north = j + 1 < grid->ny ? row + nx : halo->north};
}

// base + div(kappa grad row): east, west, north, south, always in this order.
static void add_divergence(size_t nx, const double* restrict base, const double* restrict row,
                           const double* restrict south, const double* restrict north,
                           const double* restrict face_x, const double* restrict face_south,
                           const double* restrict face_north, double* restrict out) {
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
static void (*volatile divergence_row)(size_t, const double* restrict, const double* restrict,
                                       const double* restrict, const double* restrict,
                                       const double* restrict, const double* restrict,
                                       const double* restrict, double* restrict) = add_divergence;

void heat_add_divergence(const heat_model* model, const heat_faces* faces, size_t j,
                         const double* base, const heat_row* row, double* out) {
  const size_t nx = model->grid.nx;
  for (int64_t again = 0; again < model->work; ++again)
    divergence_row(nx, base, row->here, row->south, row->north, faces->x + j * (nx + 1),
                   faces->y + j * nx, faces->y + (j + 1) * nx, out);
}

// Each cell sums up its own four faces: no cell writes into another one's gradient, whose bits
// would then depend on where the blocks end.
static void add_gradient(size_t nx, double scale_x, double scale_y, const double* restrict u,
                         const double* restrict u_south, const double* restrict u_north,
                         const double* restrict lambda, const double* restrict lambda_south,
                         const double* restrict lambda_north, double* restrict gradient) {
  for (size_t i = 0; i < nx; ++i) {
    const double v = u[i + 1], l = lambda[i + 1];
    const double east = (lambda[i + 2] - l) * (u[i + 2] - v);
    const double west = (lambda[i] - l) * (u[i] - v);
    const double above = (lambda_north[i] - l) * (u_north[i] - v);
    const double below = (lambda_south[i] - l) * (u_south[i] - v);
    gradient[i] -= scale_x * (east + west) + scale_y * (above + below);
  }
}

void heat_add_gradient(heat_model* model, size_t j, const heat_row* u, const heat_row* lambda) {
  const size_t nx = model->grid.nx;
  const double scale_x = 0.5 * model->dt / (model->hx * model->hx);
  const double scale_y = 0.5 * model->dt / (model->hy * model->hy);
  add_gradient(nx, scale_x, scale_y, u->here, u->south, u->north, lambda->here, lambda->south,
               lambda->north, model->gradient_kappa + j * nx);
}

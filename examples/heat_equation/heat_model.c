// SPDX-License-Identifier: BSD-2-Clause
#include "heat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
// exp(+-0.8): the conductivity varies by a factor of 4.95.
static const double log_conductivity_range = 0.8;

double heat_conductivity(double x, double y) {
  return exp(log_conductivity_range * sin(2.0 * pi * x) * cos(pi * y));
}

static double initial_state(double x, double y) {
  return sin(pi * x) * sin(pi * y) * (1.0 + 0.5 * x) + 0.25 * sin(3.0 * pi * x) * sin(2.0 * pi * y);
}

static double source(double x, double y) {
  return 20.0 * exp(-20.0 * ((x - 0.3) * (x - 0.3) + (y - 0.6) * (y - 0.6)));
}

static double target(double x, double y) {
  return 10.0 * x * (1.0 - x) * y * (1.0 - y) * (1.0 + 0.3 * cos(4.0 * x + y));
}

// Smooth, and 0 at a distance of `radius` from (0.3, 0.3) and beyond.
static double bump(double x, double y, double radius) {
  const double square = ((x - 0.3) * (x - 0.3) + (y - 0.3) * (y - 0.3)) / (radius * radius);
  return square < 1.0 ? (1.0 - square) * (1.0 - square) : 0.0;
}

static double hot_spot_state(double x, double y) { return 4.0 * bump(x, y, 0.1); }
static double hot_spot_source(double x, double y) { return 40.0 * bump(x, y, 0.05); }

void heat_fill_initial_state(const heat_model* model, double* field) {
  heat_fill(&model->grid, model->hot_spot ? hot_spot_state : initial_state, field);
}

void heat_model_use_hot_spot(heat_model* model) {
  model->hot_spot = 1;
  heat_fill_initial_state(model, model->u);
  heat_fill(&model->grid, hot_spot_source, model->source);
}

// The mean of two cells' kappa counts on the face between them. A wall has that of its cell.
void heat_set_conductivity(heat_model* model, const double* kappa) {
  const size_t nx = model->grid.nx, ny = model->grid.ny;
  const double scale_x = 0.5 * model->dt / (model->hx * model->hx);
  const double scale_y = 0.5 * model->dt / (model->hy * model->hy);
  heat_exchange(&model->grid, kappa, 1.0, model->halo_u);
  for (size_t j = 0; j < ny; ++j) {
    const double* row = kappa + j * nx;
    double* face = model->face_x + j * (nx + 1);
    for (size_t i = 0; i <= nx; ++i)
      face[i] = scale_x * (row[i > 0 ? i - 1 : 0] + row[i < nx ? i : nx - 1]);
  }
  for (size_t j = 0; ny > 0 && j <= ny; ++j) {
    const double* below = j > 0 ? kappa + (j - 1) * nx : model->halo_u;
    const double* above = j < ny ? kappa + j * nx : model->halo_u + nx;
    for (size_t i = 0; i < nx; ++i) model->face_y[j * nx + i] = scale_y * (below[i] + above[i]);
  }
}

// Zeros, freed with the model; NULL without memory, which `complete` remembers.
static double* new_array(heat_model* model, size_t length) {
  double* array = calloc(length + 1, sizeof(double));
  if (array == NULL) model->complete = 0;
  return model->arrays[model->array_count++] = array;
}

static void allocate(heat_model* model) {
  const size_t nx = model->grid.nx, ny = model->grid.ny, cells = nx * ny;
  model->u = new_array(model, cells);
  model->lambda = new_array(model, cells);
  model->gradient_kappa = new_array(model, cells);
  model->source = new_array(model, cells);
  model->target = new_array(model, cells);
  model->face_x = new_array(model, (nx + 1) * ny);
  model->face_y = new_array(model, nx * (ny + 1));
  model->halo_u = new_array(model, 2 * nx);
  model->halo_l = new_array(model, 2 * nx);
  for (int r = 0; r < 4; ++r) model->rows[r] = new_array(model, nx + 2);
  if (model->integrator == HEAT_EULER) return;
  model->stages = new_array(model, HEAT_RK4 * cells);
  model->sum = new_array(model, cells);
  model->mu = new_array(model, cells);
  model->next_mu = new_array(model, cells);
}

static int all_are(MPI_Comm comm, int ready) {
  MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, comm);
  return ready;
}

heat_model* heat_model_create(MPI_Comm comm, int64_t cells_x, int64_t cells_y, int64_t work,
                              heat_integrator integrator) {
  heat_model* model = calloc(1, sizeof *model);
  if (model != NULL) {
    model->grid = heat_grid_of(comm, cells_x, cells_y);
    model->integrator = integrator;
    model->complete = 1;
    allocate(model);
  }
  if (!all_are(comm, model != NULL && model->complete)) {
    heat_model_free(model);
    return NULL;
  }
  model->work = work;
  model->hx = 1.0 / (double)cells_x;
  model->hy = 1.0 / (double)cells_y;
  // 0.8 of Euler's largest stable step: Gershgorin's bound also holds in the cells next to a wall.
  // The Runge-Kutta method would take 1.39 times Euler's; its step is the same, to be compared.
  model->dt = 0.4 / (exp(log_conductivity_range) *
                     (1.0 / (model->hx * model->hx) + 1.0 / (model->hy * model->hy)));
  heat_fill(&model->grid, heat_conductivity, model->u);
  heat_set_conductivity(model, model->u);
  heat_fill_initial_state(model, model->u);
  heat_fill(&model->grid, source, model->source);
  heat_fill(&model->grid, target, model->target);
  return model;
}

int heat_model_add_tape(heat_model* model) {
  model->tape = new_array(model, (size_t)model->integrator * heat_grid_cells(&model->grid));
  return all_are(model->grid.comm, model->complete) ? 0 : -1;
}

void heat_model_free(heat_model* model) {
  if (model == NULL) return;
  for (int a = 0; a < model->array_count; ++a) free(model->arrays[a]);
  free(model);
}

double heat_turn(heat_model* model, const double* u) {
  const size_t cells = heat_grid_cells(&model->grid);
  const double area = model->hx * model->hy;
  for (size_t i = 0; i < cells; ++i) model->lambda[i] = u[i] - model->target[i];
  model->objective = 0.5 * area * heat_sum_of_squares(&model->grid, model->lambda);
  for (size_t i = 0; i < cells; ++i) model->lambda[i] *= area;
  memset(model->gradient_kappa, 0, cells * sizeof(double));
  return model->objective;
}

#include "heat_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heat_field.h"

static const double pi = 3.14159265358979323846;
// exp(+-0.8): the conductivity varies by a factor of 4.95.
static const double log_conductivity_range = 0.8;

double heat_conductivity(double x, double y) {
  return exp(log_conductivity_range * sin(2.0 * pi * x) * cos(pi * y));
}

double heat_initial_state(double x, double y) {
  return sin(pi * x) * sin(pi * y) * (1.0 + 0.5 * x) + 0.25 * sin(3.0 * pi * x) * sin(2.0 * pi * y);
}

static double source_function(double x, double y) {
  return 20.0 * exp(-20.0 * ((x - 0.3) * (x - 0.3) + (y - 0.6) * (y - 0.6)));
}

// Smooth, and 0 at a distance of `radius` from (0.3, 0.3) and beyond.
static double bump(double x, double y, double radius) {
  const double square = ((x - 0.3) * (x - 0.3) + (y - 0.3) * (y - 0.3)) / (radius * radius);
  return square < 1.0 ? (1.0 - square) * (1.0 - square) : 0.0;
}

static double hot_spot_state(double x, double y) { return 4.0 * bump(x, y, 0.1); }
static double hot_spot_source(double x, double y) { return 40.0 * bump(x, y, 0.05); }

static double target_function(double x, double y) {
  return 10.0 * x * (1.0 - x) * y * (1.0 - y) * (1.0 + 0.3 * cos(4.0 * x + y));
}

void heat_fill(const heat_grid* grid, heat_function function, double* field) {
  for (size_t j = 0; j < grid->ny; ++j) {
    const double y = ((double)(grid->first_y + (int64_t)j) + 0.5) / (double)grid->cells_y;
    for (size_t i = 0; i < grid->nx; ++i) {
      const double x = ((double)(grid->first_x + (int64_t)i) + 0.5) / (double)grid->cells_x;
      field[j * grid->nx + i] = function(x, y);
    }
  }
}

void heat_fill_initial_state(const heat_model* model, double* field) {
  heat_fill(&model->grid, model->hot_spot ? hot_spot_state : heat_initial_state, field);
}

void heat_model_use_hot_spot(heat_model* model) {
  model->hot_spot = 1;
  heat_fill_initial_state(model, model->u);
  heat_fill(&model->grid, hot_spot_source, model->source);
}

int heat_faces_create(heat_faces* faces, const heat_grid* grid) {
  const size_t nx = grid->nx, ny = grid->ny;
  faces->x = malloc(((nx + 1) * ny + 1) * sizeof(double));
  faces->y = malloc((nx * (ny + 1) + 1) * sizeof(double));
  return faces->x != NULL && faces->y != NULL ? 0 : -1;
}

void heat_faces_free(heat_faces* faces) {
  free(faces->x);
  free(faces->y);
  faces->x = faces->y = NULL;
}

void heat_set_faces(heat_model* model, const double* conductivity, heat_faces* faces) {
  const size_t nx = model->grid.nx, ny = model->grid.ny;
  const double scale_x = 0.5 * model->dt / (model->hx * model->hx);
  const double scale_y = 0.5 * model->dt / (model->hy * model->hy);
  heat_halo* halo = &model->u_halo;
  heat_exchange(&model->grid, conductivity, 1.0, halo);
  for (size_t j = 0; j < ny; ++j) {
    const double* row = conductivity + j * nx;
    double* face = faces->x + j * (nx + 1);
    face[0] = scale_x * (halo->west[j] + row[0]);
    for (size_t i = 1; i < nx; ++i) face[i] = scale_x * (row[i - 1] + row[i]);
    face[nx] = scale_x * (row[nx - 1] + halo->east[j]);
  }
  for (size_t j = 0; nx > 0 && j <= ny; ++j) {
    const double* below = j > 0 ? conductivity + (j - 1) * nx : halo->south;
    const double* above = j < ny ? conductivity + j * nx : halo->north;
    for (size_t i = 0; i < nx; ++i) faces->y[j * nx + i] = scale_y * (below[i] + above[i]);
  }
}

int heat_stages(heat_integrator integrator) { return integrator == HEAT_RK4 ? HEAT_RK4_STAGES : 1; }

const char* heat_integrator_name(heat_integrator integrator) {
  return integrator == HEAT_RK4 ? "rk4" : "euler";
}

static double* allocate_field(size_t cells) { return malloc((cells + 1) * sizeof(double)); }

static int scratch_fields(heat_integrator integrator) {
  return integrator == HEAT_RK4 ? HEAT_RK4_SCRATCH : 0;
}

static int allocate(heat_model* model) {
  const heat_grid* grid = &model->grid;
  const size_t cells = heat_grid_cells(grid);
  model->u = allocate_field(cells);
  model->lambda = allocate_field(cells);
  model->gradient_kappa = allocate_field(cells);
  model->source = allocate_field(cells);
  model->target = allocate_field(cells);
  for (int r = 0; r < 4; ++r) model->rows[r] = allocate_field(grid->nx + 2);
  int failed = heat_faces_create(&model->faces, grid) | heat_halo_create(&model->u_halo, grid) |
               heat_halo_create(&model->lambda_halo, grid);
  for (int f = 0; f < scratch_fields(model->integrator); ++f) {
    model->scratch[f] = allocate_field(cells);
    failed |= model->scratch[f] == NULL;
  }
  return failed == 0 && model->u != NULL && model->lambda != NULL &&
         model->gradient_kappa != NULL && model->source != NULL && model->target != NULL &&
         model->rows[0] != NULL && model->rows[1] != NULL && model->rows[2] != NULL &&
         model->rows[3] != NULL;
}

heat_model* heat_model_create(MPI_Comm comm, int64_t cells_x, int64_t cells_y, int64_t work,
                              heat_integrator integrator) {
  heat_model* model = calloc(1, sizeof *model);
  int ready = model != NULL;
  MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, comm);
  if (!ready) {
    free(model);
    return NULL;
  }
  heat_grid* grid = &model->grid;
  heat_grid_create(grid, comm, cells_x, cells_y);
  model->hx = 1.0 / (double)cells_x;
  model->hy = 1.0 / (double)cells_y;
  model->work = work;
  model->integrator = integrator;
  // 0.8 of Euler's largest stable step: Gershgorin's bound also holds in the cells next to a wall.
  // The Runge-Kutta method would take 1.39 times Euler's; its step is the same, to be compared.
  model->dt = 0.4 / (exp(log_conductivity_range) *
                     (1.0 / (model->hx * model->hx) + 1.0 / (model->hy * model->hy)));
  ready = allocate(model);
  MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, comm);
  if (!ready) {
    heat_model_free(model);
    return NULL;
  }
  heat_fill(grid, heat_conductivity, model->u);
  heat_set_faces(model, model->u, &model->faces);
  heat_fill_initial_state(model, model->u);
  heat_fill(grid, source_function, model->source);
  heat_fill(grid, target_function, model->target);
  // Written once here, so that a measurement of memory growth that starts later does not see them.
  const size_t bytes = heat_grid_cells(grid) * sizeof(double);
  memset(model->lambda, 0, bytes);
  memset(model->gradient_kappa, 0, bytes);
  for (int f = 0; f < scratch_fields(integrator); ++f) memset(model->scratch[f], 0, bytes);
  return model;
}

int heat_model_add_tape(heat_model* model) {
  const size_t cells = (size_t)heat_stages(model->integrator) * heat_grid_cells(&model->grid);
  model->tape = allocate_field(cells);
  int ready = model->tape != NULL;
  MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, model->grid.comm);
  if (ready) memset(model->tape, 0, cells * sizeof(double));
  return ready ? 0 : -1;
}

void heat_model_free(heat_model* model) {
  if (model == NULL) return;
  free(model->u);
  free(model->lambda);
  free(model->gradient_kappa);
  free(model->tape);
  free(model->source);
  free(model->target);
  for (int r = 0; r < 4; ++r) free(model->rows[r]);
  for (int f = 0; f < HEAT_RK4_SCRATCH; ++f) free(model->scratch[f]);
  heat_faces_free(&model->faces);
  heat_halo_free(&model->u_halo);
  heat_halo_free(&model->lambda_halo);
  heat_grid_free(&model->grid);
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

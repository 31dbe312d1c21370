#include "heat_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heat_field.h"
#include "heat_step.h"

static heat_model* same_problem(const heat_model* model, MPI_Comm comm) {
  heat_model* same =
      heat_model_create(comm, model->grid.cells_x, model->grid.cells_y, 1, model->integrator);
  if (same != NULL && model->hot_spot) heat_model_use_hot_spot(same);
  return same;
}

// The same answer on every rank.
static int all_ready(const heat_grid* grid, int ready) {
  MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, grid->comm);
  return ready;
}

// `count` fields of one model, or NULL.
static double* allocate_fields(const heat_grid* grid, int64_t count) {
  const uint64_t bytes = (uint64_t)heat_grid_cells(grid) * sizeof(double);
  if (bytes > 0 && (uint64_t)count > (SIZE_MAX - 1) / bytes) return NULL;
  return malloc((size_t)(bytes * (uint64_t)count) + 1);
}

static double smooth_noise(double x, double y, double shift) {
  return 0.5 * sin(5.3 * x + 2.1 * y + shift) + 0.3 * cos(9.7 * x - 4.9 * y + 2.0 * shift) +
         0.2 * sin(3.1 * x + 11.3 * y - shift);
}

static double kappa_direction(double x, double y) { return 0.4 * (1.0 + smooth_noise(x, y, 0.7)); }
static double state_direction(double x, double y) { return 1.0 + 0.5 * smooth_noise(x, y, 1.9); }
static double positive_weight(double x, double y) { return 1.0 + 0.5 * smooth_noise(x, y, 3.3); }

static void compare(const double* a, const double* b, size_t count, heat_difference* difference) {
  if (count == 0 || memcmp(a, b, count * sizeof(double)) == 0) return;
  for (size_t i = 0; i < count; ++i) {
    // Bits, not values: 0 and -0 differ, a NaN equals itself.
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
    if (memcmp(&a[i], &b[i], sizeof(double)) == 0) continue;
    const double size = fabs(a[i] - b[i]);
    ++difference->values;
    if (!(size <= difference->largest)) difference->largest = isnan(size) ? HUGE_VAL : size;
  }
}

int heat_verify(heat_model* model, MPI_Comm comm, int64_t steps, double objective,
                heat_difference* difference) {
  heat_model* own = same_problem(model, comm);
  if (own == NULL) return -1;
  const size_t cells = heat_grid_cells(&own->grid);
  const size_t stages = (size_t)heat_stages(own->integrator);
  const int64_t most = INT64_MAX / HEAT_RK4_STAGES;
  double* kept = allocate_fields(&own->grid, steps < most ? steps * (int64_t)stages : INT64_MAX);
  const int ready = all_ready(&own->grid, kept != NULL);
  if (ready) {
    for (int64_t k = 0; k < steps; ++k)
      heat_record_step(own, k, own->u, own->u, kept + (size_t)k * stages * cells);
    const double own_objective = heat_turn(own, own->u);
    for (int64_t k = steps - 1; k >= 0; --k)
      heat_adjoint_of_tape(own, kept + (size_t)k * stages * cells);
    memset(difference, 0, sizeof *difference);
    compare(model->gradient_kappa, own->gradient_kappa, cells, difference);
    compare(model->lambda, own->lambda, cells, difference);
    // With a tape no state is given back. Without steps, own->u is x_0.
    if (model->tape == NULL) compare(model->u, steps > 0 ? kept : own->u, cells, difference);
    if (own->grid.rank == 0) compare(&objective, &own_objective, 1, difference);
    MPI_Allreduce(MPI_IN_PLACE, &difference->values, 1, MPI_INT64_T, MPI_SUM, own->grid.comm);
    MPI_Allreduce(MPI_IN_PLACE, &difference->largest, 1, MPI_DOUBLE, MPI_MAX, own->grid.comm);
  }
  free(kept);
  heat_model_free(own);
  return ready ? 0 : -1;
}

// Small enough for the slope to be near 2 from the start, large enough for rounding not to matter.
static const double largest_epsilon = 0.025;

// J at (kappa, u_0) + epsilon (d_kappa, d_state).
static double perturbed_objective(heat_model* model, int64_t steps, double epsilon,
                                  const double* d_kappa, const double* d_state) {
  const size_t cells = heat_grid_cells(&model->grid);
  double* kappa = model->u;
  heat_fill(&model->grid, heat_conductivity, kappa);
  for (size_t i = 0; i < cells; ++i) kappa[i] += epsilon * d_kappa[i];
  heat_set_faces(model, kappa, &model->faces);
  heat_fill_initial_state(model, model->u);
  for (size_t i = 0; i < cells; ++i) model->u[i] += epsilon * d_state[i];
  for (int64_t k = 0; k < steps; ++k) heat_step(model, k, model->u, model->u);
  return heat_turn(model, model->u);
}

// Scale the direction of u_0 so that both parts of the gradient matter alike: on a fine grid the
// time covered is short, and an error in the part of kappa would drown. Returns <gradient,
// direction>.
static double balance_directions(const heat_model* model, const double* d_kappa, double* d_state) {
  const size_t cells = heat_grid_cells(&model->grid);
  const double part_kappa = heat_dot(&model->grid, model->gradient_kappa, d_kappa);
  const double part_state = heat_dot(&model->grid, model->lambda, d_state);
  double scale = part_state != 0.0 ? fabs(part_kappa / part_state) : 1.0;
  if (!(scale >= 1e-3)) scale = 1e-3;
  if (scale > 1.0) scale = 1.0;
  for (size_t i = 0; i < cells; ++i) d_state[i] *= scale;
  return part_kappa + scale * part_state;
}

static void taylor_slopes(const double* remainders, double noise, heat_taylor* taylor) {
  taylor->slope_count = 0;
  taylor->passed = 1;
  for (int p = 0; p + 1 < HEAT_TAYLOR_POINTS && remainders[p + 1] > noise; ++p) {
    const double slope = log2(remainders[p] / remainders[p + 1]);
    taylor->slopes[taylor->slope_count++] = slope;
    if (!(fabs(slope - 2.0) <= 0.1)) taylor->passed = 0;
  }
  if (taylor->slope_count < 2) taylor->passed = 0;
}

int heat_taylor_test(heat_model* model, MPI_Comm comm, int64_t steps, double objective,
                     heat_taylor* taylor) {
  heat_model* own = same_problem(model, comm);
  if (own == NULL) return -1;
  const size_t cells = heat_grid_cells(&own->grid);
  double* d_kappa = allocate_fields(&own->grid, 2);
  const int ready = all_ready(&own->grid, d_kappa != NULL);
  if (ready) {
    double* d_state = d_kappa + cells;
    double remainders[HEAT_TAYLOR_POINTS];
    heat_fill(&own->grid, kappa_direction, d_kappa);
    heat_fill(&own->grid, state_direction, d_state);
    const double derivative = balance_directions(model, d_kappa, d_state);
    for (int p = 0; p < HEAT_TAYLOR_POINTS; ++p) {
      const double epsilon = ldexp(largest_epsilon, -p);
      const double there = perturbed_objective(own, steps, epsilon, d_kappa, d_state);
      remainders[p] = fabs(there - objective - epsilon * derivative);
    }
    taylor_slopes(remainders, 1e-13 * fabs(objective), taylor);
  }
  free(d_kappa);
  heat_model_free(own);
  return ready ? 0 : -1;
}

enum { DOT_STEPS = 8 };

// <M v, w> against <v, M^T w>; `fields` holds the states, v = (d_kappa, d_state) and w.
static double dot_test_error(heat_model* model, int64_t steps, double* fields,
                             heat_faces* changed) {
  const heat_grid* grid = &model->grid;
  const size_t cells = heat_grid_cells(grid);
  double *d_kappa = fields, *d_state = d_kappa + cells, *moved = d_state + cells;
  double *weight = moved + cells, *states = weight + cells;
  heat_fill(grid, kappa_direction, d_kappa);
  heat_fill(grid, state_direction, d_state);
  heat_fill(grid, positive_weight, weight);
  heat_set_faces(model, d_kappa, changed);
  memcpy(moved, d_state, cells * sizeof(double));
  for (int64_t k = 0; k < steps; ++k) {
    memcpy(states + (size_t)k * cells, model->u, cells * sizeof(double));
    heat_tangent_step(model, k, changed, moved);
    heat_step(model, k, model->u, model->u);
  }
  heat_turn(model, model->u);  // clears the gradient; its terminal condition is replaced by w
  memcpy(model->lambda, weight, cells * sizeof(double));
  for (int64_t k = steps - 1; k >= 0; --k) {
    heat_adjoint_step(model, k, states + (size_t)k * cells);
  }
  const double forward = heat_dot(grid, moved, weight);
  const double backward =
      heat_dot(grid, d_kappa, model->gradient_kappa) + heat_dot(grid, d_state, model->lambda);
  return fabs(forward - backward) / fmax(fabs(forward), fabs(backward));
}

int heat_dot_test(MPI_Comm comm, int64_t cells_x, int64_t cells_y, heat_integrator integrator,
                  int64_t steps, double* error) {
  heat_model* model = heat_model_create(comm, cells_x, cells_y, 1, integrator);
  if (model == NULL) return -1;
  const int64_t used = steps < DOT_STEPS ? steps : DOT_STEPS;
  heat_faces changed;
  const int have_faces = heat_faces_create(&changed, &model->grid) == 0;
  double* fields = allocate_fields(&model->grid, 4 + used);
  const int ready = all_ready(&model->grid, have_faces && fields != NULL);
  if (ready) *error = dot_test_error(model, used, fields, &changed);
  free(fields);
  heat_faces_free(&changed);
  heat_model_free(model);
  return ready ? 0 : -1;
}

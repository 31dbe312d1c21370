// SPDX-License-Identifier: BSD-2-Clause
#include "lorenz_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lorenz_step.h"

enum { OUTCOME_VALUES = 1 + LORENZ_CONTROLS, DOT_STEPS = 1000 };
_Static_assert(sizeof(lorenz_outcome) == OUTCOME_VALUES * sizeof(double), "an outcome is doubles");

static const lorenz_control direction = {{0.3, 1.0, -0.2}, {0.5, -0.7, 0.4}};

int lorenz_differences(const lorenz_outcome* a, const lorenz_outcome* b) {
  int count = 0;
  for (size_t v = 0; v < OUTCOME_VALUES; ++v) {
    const size_t from = v * sizeof(double);
    if (memcmp((const char*)a + from, (const char*)b + from, sizeof(double)) != 0) ++count;
  }
  return count;
}

lorenz_outcome lorenz_sum(MPI_Comm comm, const lorenz_outcome* own) {
  // From rank to rank and back to all: the order of an MPI_SUM is not promised.
  double sum[OUTCOME_VALUES] = {0}, mine[OUTCOME_VALUES];
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  memcpy(mine, own, sizeof mine);
  if (rank > 0) MPI_Recv(sum, OUTCOME_VALUES, MPI_DOUBLE, rank - 1, 0, comm, MPI_STATUS_IGNORE);
  for (int v = 0; v < OUTCOME_VALUES; ++v) sum[v] += mine[v];
  if (rank + 1 < ranks) MPI_Send(sum, OUTCOME_VALUES, MPI_DOUBLE, rank + 1, 0, comm);
  MPI_Bcast(sum, OUTCOME_VALUES, MPI_DOUBLE, ranks - 1, comm);
  lorenz_outcome total;
  memcpy(&total, sum, sizeof total);
  return total;
}

static lorenz_state* allocate_states(int64_t steps) {
  if ((uint64_t)steps >= SIZE_MAX / sizeof(lorenz_state)) return NULL;
  return malloc(((size_t)steps + 1) * sizeof(lorenz_state));
}

double lorenz_plain(const lorenz_problem* problem, lorenz_outcome* outcome) {
  lorenz_state* states = allocate_states(problem->steps);
  if (states == NULL) return -1.0;
  const double start = MPI_Wtime();
  lorenz_state u = problem->control.start;
  double z_sum = 0.0;
  for (int64_t k = 0; k < problem->steps; ++k) {
    states[k] = u;
    z_sum += u.z;
    u = lorenz_step(problem, u);
  }
  lorenz_control gradient;
  const double of_last = lorenz_turn(problem, u, &gradient);
  for (int64_t k = problem->steps - 1; k >= 0; --k)
    lorenz_adjoint_step(problem, states[k], &gradient);
  outcome->gradient = gradient;
  outcome->objective = lorenz_objective(problem, of_last, z_sum);
  const double seconds = MPI_Wtime() - start;
  free(states);
  return seconds;
}

static double objective_of(const lorenz_problem* problem) {
  lorenz_state u = problem->control.start;
  lorenz_control ignored;
  double z_sum = 0.0;
  for (int64_t k = 0; k < problem->steps; ++k) {
    z_sum += u.z;
    u = lorenz_step(problem, u);
  }
  return lorenz_objective(problem, lorenz_turn(problem, u, &ignored), z_sum);
}

void lorenz_taylor_test(MPI_Comm comm, const lorenz_problem* problem, const lorenz_outcome* total,
                        lorenz_taylor* taylor) {
  const double derivative = lorenz_dot(&total->gradient, &direction);
  const double size = sqrt(lorenz_dot(&total->gradient, &total->gradient));
  // A change of J of about 1: small enough for the slope to be near 2 from the start.
  const double largest_epsilon = 1.0 / fmax(1.0, size);
  // The effect on J of the rounding of every step: each moves x_k, and the gradient says how far.
  const double noise = 1e-14 * sqrt((double)problem->steps) * size + 1e-13 * total->objective;
  double remainders[LORENZ_TAYLOR_POINTS];
  for (int p = 0; p < LORENZ_TAYLOR_POINTS; ++p) {
    const double epsilon = ldexp(largest_epsilon, -p);
    lorenz_problem moved = *problem;
    moved.control = lorenz_moved_control(&problem->control, epsilon, &direction);
    const lorenz_outcome own = {.objective = objective_of(&moved)};
    const double there = lorenz_sum(comm, &own).objective;
    remainders[p] = fabs(there - total->objective - epsilon * derivative);
  }
  taylor->slope_count = 0;
  taylor->passed = 1;
  for (int p = 0; p + 1 < LORENZ_TAYLOR_POINTS && remainders[p + 1] > noise; ++p) {
    const double slope = log2(remainders[p] / remainders[p + 1]);
    taylor->slopes[taylor->slope_count++] = slope;
    if (!(fabs(slope - 2.0) <= 0.1)) taylor->passed = 0;
  }
  if (taylor->slope_count < 2) taylor->passed = 0;
}

double lorenz_dot_test(MPI_Comm comm, const lorenz_problem* problem) {
  const int64_t steps = problem->steps < DOT_STEPS ? problem->steps : DOT_STEPS;
  const lorenz_state weight = {1.0, 0.5, -0.3};
  lorenz_state states[DOT_STEPS], u = problem->control.start, du = direction.start;
  lorenz_control gradient = {.start = weight};
  double forward = 0.0;
  for (int64_t k = 0; k < steps; ++k) {
    states[k] = u;
    forward += problem->weight * du.z;
    du = lorenz_tangent_step(problem, u, direction.parameters, du);
    u = lorenz_step(problem, u);
  }
  forward += weight.x * du.x + weight.y * du.y + weight.z * du.z;
  for (int64_t k = steps - 1; k >= 0; --k) lorenz_adjoint_step(problem, states[k], &gradient);
  const double backward = lorenz_dot(&gradient, &direction);
  double error = fabs(forward - backward) / fmax(fabs(forward), fabs(backward));
  if (!(error <= HUGE_VAL)) error = HUGE_VAL;  // a NaN is no maximum
  MPI_Allreduce(MPI_IN_PLACE, &error, 1, MPI_DOUBLE, MPI_MAX, comm);
  return error;
}

// SPDX-License-Identifier: BSD-2-Clause
/* A user's program: the derivative of sum(x_n^2) with respect to x_0 for x_{k+1} = x_k + dt
 * sin(x_k), with states from anadrome and, to compare bits, with states of its own. Prints "equal"
 * on rank 0. */
#include <anadrome/anadrome.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 60, MOST = 1000 };
static const double dt = 0.05;

static void step(double* x, size_t count) {
  for (size_t i = 0; i < count; ++i) x[i] += dt * sin(x[i]);
}

static void adjoint_step(const double* x, double* lambda, size_t count) {
  for (size_t i = 0; i < count; ++i) lambda[i] *= 1.0 + dt * cos(x[i]);
}

static void begin_at(double* x, size_t count, int rank) {
  for (size_t i = 0; i < count; ++i) x[i] = 0.01 * (double)i + rank;
}

static void turn(const double* x, double* lambda, size_t count) {
  for (size_t i = 0; i < count; ++i) lambda[i] = 2.0 * x[i];
}

static void by_hand(double* lambda, size_t count, int rank) {
  static double states[STEPS + 1][MOST];
  begin_at(states[0], count, rank);
  for (int k = 0; k < STEPS; ++k) {
    memcpy(states[k + 1], states[k], sizeof states[k]);
    step(states[k + 1], count);
  }
  turn(states[STEPS], lambda, count);
  for (int k = STEPS - 1; k >= 0; --k) adjoint_step(states[k], lambda, count);
}

static anadrome_status with_anadrome(double* lambda, size_t count, int rank) {
  static double x[MOST];
  anadrome_run* run = NULL;
  anadrome_action a;
  anadrome_status status = anadrome_open(MPI_COMM_WORLD, &run);
  if (status == ANADROME_OK) status = anadrome_set(run, "memory", "100KiB");
  if (status == ANADROME_OK)
    status = anadrome_add_field(run, "x", ANADROME_ROLE_STATE, ANADROME_FLOAT64, x, count);
  if (status == ANADROME_OK) status = anadrome_begin(run, STEPS);
  begin_at(x, count, rank);
  while (status == ANADROME_OK && (status = anadrome_next(run, &a)) == ANADROME_OK &&
         a.kind != ANADROME_DONE) {
    if (a.kind == ANADROME_ADVANCE)
      for (int64_t k = a.first; k < a.last; ++k) step(x, count);
    if (a.kind == ANADROME_TURN) turn(x, lambda, count);
    if (a.kind == ANADROME_ADJOINT) adjoint_step(x, lambda, count);
  }
  if (status != ANADROME_OK) fprintf(stderr, "%s\n", anadrome_last_error());
  const anadrome_status closed = anadrome_close(&run);
  return status != ANADROME_OK ? status : closed;
}

int main(int argc, char** argv) {
  static double lambda[MOST], expected[MOST];
  int rank, equal;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const size_t count = MOST - 100 * (size_t)rank;
  equal = with_anadrome(lambda, count, rank) == ANADROME_OK;
  by_hand(expected, count, rank);
  equal = equal && memcmp(lambda, expected, sizeof lambda) == 0 && lambda[1] != 0.0;
  MPI_Allreduce(MPI_IN_PLACE, &equal, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) printf("anadrome %s: %s\n", anadrome_version(), equal ? "equal" : "DIFFERENT");
  MPI_Finalize();
  return equal ? EXIT_SUCCESS : EXIT_FAILURE;
}

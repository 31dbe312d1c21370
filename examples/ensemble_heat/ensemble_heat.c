// SPDX-License-Identifier: BSD-2-Clause
/* The gradient of an ensemble's variance: the members are heat equations that differ in
 * conductivity and initial state, and the objective needs the ends of all of them. See README.md.
 */
#include <anadrome/schedule.h>
#include <anadrome/store.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heat.h"

enum { FINE, WRONG, USAGE, LIBRARY_ERROR, TAYLOR_POINTS = 5, MOST_MEMBERS = 100 };

typedef struct options {
  int64_t cells, steps, members, slots;
  int reducible, charged, verify, taylor, help;
  settings library;
} options;

#define FIELD(name) offsetof(options, name)
static const flag flags[] = {
    {"cells", FLAG_COUNT, FIELD(cells), 1, "N", "cells on each side of the unit square (48)", NULL},
    {"steps", FLAG_COUNT, FIELD(steps), 1, "N", "time steps of the first member (60)", NULL},
    {"members", FLAG_COUNT, FIELD(members), 2, "M", "of the ensemble, up to 100 (4)", NULL},
    {"slots", FLAG_COUNT, FIELD(slots), 1, "N", "states that are kept at a time (12)", NULL},
    {"reducible", FLAG_SWITCH, FIELD(reducible), 0, NULL,
     "keep no last state: each is computed again", NULL},
    {"charged", FLAG_SWITCH, FIELD(charged), 0, NULL, "keep the initial states, too", NULL},
    {"verify", FLAG_SWITCH, FIELD(verify), 0, NULL,
     "compare bitwise with a gradient computed without anadrome", NULL},
    {"taylor", FLAG_SWITCH, FIELD(taylor), 0, NULL, "Taylor remainder test of the gradient", NULL},
    {"help", FLAG_SWITCH, FIELD(help), 0, NULL, "print this", NULL},
};
static const command_line line = {"ensemble_heat", "the gradient of an ensemble's variance", flags,
                                  sizeof flags / sizeof flags[0]};

/* A member's u is its initial state, its lambda and gradient_kappa are its part of the gradient. */
typedef struct ensemble {
  heat_model* member[MOST_MEMBERS];
  int64_t members;
  int64_t steps[MOST_MEMBERS];
  size_t cells;
  double *u, *mean; /* the state of the member whose turn it is; the mean of the last states */
  double objective;
  int64_t forward_steps;
} ensemble;

static double direction(double x, double y) { return 0.3 + 0.2 * sin(5.0 * x + 3.0 * y); }

/* Member m: conductivity and initial state of the heat equation, scaled, then moved by epsilon
 * times `direction`, which counts m+1 times for the state. */
static void set_controls(heat_model* heat, int64_t m, int64_t members, double epsilon,
                         double* scratch, double* kappa) {
  const size_t cells = heat_grid_cells(&heat->grid);
  const double less = 1.0 - 0.5 * (double)m / (double)members, more = 1.0 + 0.2 * (double)m;
  heat_fill(&heat->grid, direction, scratch);
  heat_fill(&heat->grid, heat_conductivity, kappa);
  for (size_t i = 0; i < cells; ++i) {
    kappa[i] = less * kappa[i] + epsilon * scratch[i];
    heat->u[i] = more * heat->u[i] + epsilon * (double)(m + 1) * scratch[i];
  }
  heat_set_conductivity(heat, kappa);
}

static void destroy(ensemble* e) {
  for (int64_t m = 0; m < e->members; ++m) heat_model_free(e->member[m]);
  free(e->u);
  free(e->mean);
}

/* Collective. Returns 0, or -1 on every rank if one lacks memory. */
static int create(ensemble* e, const options* given, double epsilon) {
  memset(e, 0, sizeof *e);
  for (int64_t m = 0; m < given->members; ++m) {
    e->member[m] = heat_model_create(MPI_COMM_WORLD, given->cells, given->cells, 1, HEAT_EULER);
    if (e->member[m] == NULL) break;
    e->steps[m] = given->steps + m; /* members may differ in length, too */
    ++e->members;
  }
  e->cells = e->members > 0 ? heat_grid_cells(&e->member[0]->grid) : 0;
  e->u = malloc((e->cells + 1) * sizeof(double));
  e->mean = malloc((e->cells + 1) * sizeof(double));
  int ready = e->members == given->members && e->u != NULL && e->mean != NULL;
  MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  for (int64_t m = 0; ready && m < e->members; ++m)
    set_controls(e->member[m], m, e->members, epsilon, e->u, e->mean);
  if (!ready) destroy(e);
  return ready ? 0 : -1;
}

static void start(ensemble* e, int64_t m) {
  if (e->cells > 0) memcpy(e->u, e->member[m]->u, e->cells * sizeof(double));
}

/* The first visit of a last state, in the order of the members: the mean. */
static void contribute(ensemble* e, int64_t m, const double* u) {
  if (m == 0) memset(e->mean, 0, e->cells * sizeof(double));
  e->objective = 0.0;
  for (size_t i = 0; i < e->cells; ++i) e->mean[i] += u[i] / (double)e->members;
}

/* The second one: J = area / (2 (M-1)) sum_m |u_m - mean|^2, and lambda_m = dJ/du_m. */
static void seed(ensemble* e, int64_t m, const double* u) {
  heat_model* heat = e->member[m];
  const double weight = heat->hx * heat->hy / (double)(e->members - 1);
  for (size_t i = 0; i < e->cells; ++i) heat->lambda[i] = u[i] - e->mean[i];
  e->objective += 0.5 * weight * heat_sum_of_squares(&heat->grid, heat->lambda);
  for (size_t i = 0; i < e->cells; ++i) heat->lambda[i] *= weight;
  memset(heat->gradient_kappa, 0, e->cells * sizeof(double));
}

/* The stream says what to do; the store has the states, each under the number of its slot. */
static anadrome_status carry_out(ensemble* e, anadrome_store* store,
                                 const anadrome_schedule_action* a) {
  const anadrome_part state = {"u", ANADROME_FLOAT64, e->cells, e->u};
  heat_model* heat = e->member[a->branch];
  switch (a->kind) {
    case ANADROME_SCHEDULE_START:
      start(e, a->branch);
      return ANADROME_OK;
    case ANADROME_SCHEDULE_ADVANCE:
      for (int64_t k = a->first; k < a->last; ++k) heat_step(heat, k, e->u, e->u, NULL);
      e->forward_steps += a->last - a->first;
      return ANADROME_OK;
    case ANADROME_SCHEDULE_TURN:
      (a->again ? seed : contribute)(e, a->branch, e->u);
      return ANADROME_OK;
    case ANADROME_SCHEDULE_ADJOINT:
      heat_adjoint_step(heat, a->first, e->u, NULL);
      return ANADROME_OK;
    case ANADROME_SCHEDULE_KEEP:
      return anadrome_store_put(store, a->slot, 1, &state);
    case ANADROME_SCHEDULE_RESTORE:
      return anadrome_store_get(store, a->slot, 1, &state);
    case ANADROME_SCHEDULE_DROP:
      return anadrome_store_drop(store, a->slot);
    default: /* DONE; no other comes in a stream of branches */
      return ANADROME_OK;
  }
}

/* Put and get are each rank's own, and every rank plays the same stream. */
static anadrome_status sweep(ensemble* e, anadrome_store* store, anadrome_schedule* schedule) {
  anadrome_schedule_action a = {0};
  anadrome_status status = ANADROME_OK;
  while (status == ANADROME_OK && a.kind != ANADROME_SCHEDULE_DONE) {
    status = anadrome_schedule_next(schedule, &a);
    if (status == ANADROME_OK) status = carry_out(e, store, &a);
    /* A rank that has no room must not leave the others in the middle of a step. */
    MPI_Allreduce(MPI_IN_PLACE, &status, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  return status;
}

static anadrome_status gradient(ensemble* e, const options* given) {
  anadrome_store* store = NULL;
  anadrome_schedule* schedule = NULL;
  char words[128 + 24 * MOST_MEMBERS];
  int length = snprintf(words, sizeof words, "schedule=join slots=%lld objective=%s inputs=%s",
                        (long long)given->slots, given->reducible ? "reducible" : "joint",
                        given->charged ? "charged" : "free");
  for (int64_t m = 0; m < e->members; ++m)
    length += snprintf(words + length, sizeof words - (size_t)length, "%s%lld",
                       m == 0 ? " steps=" : ",", (long long)e->steps[m]);
  anadrome_status status = anadrome_schedule_open(words, &schedule);
  char of_store[4096] = "";
  length = 0;
  for (int i = 0; i < given->library.count && (size_t)length < sizeof of_store; ++i)
    length += snprintf(of_store + length, sizeof of_store - (size_t)length, "%s=%s ",
                       given->library.list[i].key, given->library.list[i].value);
  if (status == ANADROME_OK) status = anadrome_store_open(MPI_COMM_WORLD, of_store, &store);
  if (status == ANADROME_OK) status = sweep(e, store, schedule);
  if (status != ANADROME_OK && e->member[0]->grid.rank == 0)
    fprintf(stderr, "ensemble_heat: %s\n", anadrome_last_error());
  anadrome_schedule_close(&schedule);
  const anadrome_status closed = anadrome_store_close(&store);
  return status != ANADROME_OK ? status : closed;
}

/* Values that differ from those with every state of every member kept; -1: no memory. Collective.
 */
static int64_t differences(const ensemble* e, const options* given) {
  ensemble own;
  if (create(&own, given, 0.0) != 0) return -1;
  const size_t stride = (size_t)(given->steps + given->members) * own.cells;
  double* kept = malloc((size_t)given->members * stride * sizeof(double) + 1);
  int ready = kept != NULL;
  MPI_Allreduce(MPI_IN_PLACE, &ready, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  int64_t differ = ready ? 0 : -1;
  for (int64_t m = 0; ready && m < own.members; ++m) {
    double* states_of_m = kept + (size_t)m * stride;
    memcpy(states_of_m, own.member[m]->u, own.cells * sizeof(double));
    for (int64_t k = 0; k < own.steps[m]; ++k)
      heat_step(own.member[m], k, states_of_m + (size_t)k * own.cells,
                states_of_m + (size_t)(k + 1) * own.cells, NULL);
    contribute(&own, m, states_of_m + (size_t)own.steps[m] * own.cells);
  }
  for (int64_t m = 0; ready && m < own.members; ++m) {
    heat_model *a = e->member[m], *b = own.member[m];
    const double* states_of_m = kept + (size_t)m * stride;
    seed(&own, m, states_of_m + (size_t)own.steps[m] * own.cells);
    for (int64_t k = own.steps[m] - 1; k >= 0; --k)
      heat_adjoint_step(b, k, states_of_m + (size_t)k * own.cells, NULL);
    for (size_t i = 0; i < own.cells; ++i)
      differ += (memcmp(&a->lambda[i], &b->lambda[i], sizeof(double)) != 0) +
                (memcmp(&a->gradient_kappa[i], &b->gradient_kappa[i], sizeof(double)) != 0);
  }
  if (ready) differ += memcmp(&e->objective, &own.objective, sizeof(double)) != 0;
  MPI_Allreduce(MPI_IN_PLACE, &differ, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  free(kept);
  destroy(&own);
  return differ;
}

/* Collective. */
static double dot(const ensemble* e, const double* a, const double* b) {
  double sum = 0.0;
  for (size_t i = 0; i < e->cells; ++i) sum += a[i] * b[i];
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

/* The least slope of log |J(c + eps d) - J(c) - eps <gradient, d>| over log eps. Collective. */
static double taylor_slope(const ensemble* e, const options* given) {
  double remainder[TAYLOR_POINTS], slope = 2.5;
  for (int p = 0; p < TAYLOR_POINTS; ++p) {
    ensemble moved;
    const double epsilon = ldexp(0.02, -p);
    double derivative = 0.0;
    if (create(&moved, given, epsilon) != 0) return 0.0;
    for (int64_t m = 0; m < moved.members; ++m) {
      heat_fill(&e->member[m]->grid, direction, moved.u);
      derivative += dot(e, e->member[m]->gradient_kappa, moved.u) +
                    (double)(m + 1) * dot(e, e->member[m]->lambda, moved.u);
    }
    for (int visit = 0; visit < 2; ++visit) {
      for (int64_t m = 0; m < moved.members; ++m) {
        start(&moved, m);
        for (int64_t k = 0; k < moved.steps[m]; ++k)
          heat_step(moved.member[m], k, moved.u, moved.u, NULL);
        (visit == 0 ? contribute : seed)(&moved, m, moved.u);
      }
    }
    remainder[p] = fabs(moved.objective - e->objective - epsilon * derivative);
    if (p > 0) slope = fmin(slope, log2(remainder[p - 1] / remainder[p]));
    destroy(&moved);
  }
  return slope;
}

static int run(int rank, int argc, char** argv) {
  options given = {.cells = 48, .steps = 60, .members = 4, .slots = 12};
  ensemble e;
  char message[256] = "more members, cells or steps than this example takes";
  int exit_code = FINE;
  if (command_line_parse(&line, argc, argv, &given, &given.library, message, sizeof message) != 0 ||
      given.members > MOST_MEMBERS || given.cells > 4096 || given.steps > 1000000) {
    if (rank == 0) fprintf(stderr, "ensemble_heat: %s; see --help\n", message);
    return USAGE;
  }
  if (given.help && rank == 0) command_line_usage(&line, stdout);
  if (given.help) return FINE;
  if (create(&e, &given, 0.0) != 0) return USAGE;
  if (gradient(&e, &given) != ANADROME_OK) exit_code = LIBRARY_ERROR;
  int64_t steps = 0;
  for (int64_t m = 0; m < e.members; ++m) steps += e.steps[m];
  if (exit_code == FINE && rank == 0)
    printf("%d members, %lld steps in all; %lld slots, %lld forward steps; J = %.12g\n",
           (int)e.members, (long long)steps, (long long)given.slots, (long long)e.forward_steps,
           e.objective);
  if (exit_code == FINE && given.verify) {
    const int64_t differ = differences(&e, &given);
    if (rank == 0) printf("with every state kept: %lld values differ\n", (long long)differ);
    if (differ != 0) exit_code = WRONG;
  }
  if (exit_code == FINE && given.taylor) {
    const double slope = taylor_slope(&e, &given);
    if (rank == 0) printf("Taylor test: least slope %.3f\n", slope);
    if (!(slope > 1.9 && slope < 2.1)) exit_code = WRONG;
  }
  destroy(&e);
  return exit_code;
}

int main(int argc, char** argv) {
  int provided, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int exit_code = run(rank, argc, argv);
  MPI_Finalize();
  return exit_code;
}

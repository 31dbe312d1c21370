// SPDX-License-Identifier: BSD-2-Clause
// Full-waveform inversion in one dimension: the gradient of a misfit at receivers by the squared
// wave speed m of every cell. The cells are distributed over the ranks.
//   p'' = m p_xx + source, p = 0 outside:   p_{k+1} = 2 p_k - p_{k-1} + dt^2 (m D p_k + s_k)
//   J = 1/2 sum over steps k and receivers r of (p_k(r) - observed_k(r))^2 dt
// It is computed twice: with anadrome, in little memory and with states on disk, and with every
// state in an array. Both must have the same bits and agree with finite differences of J.
#include <anadrome/anadrome.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 1000, STEPS = 1000, RECEIVERS = 10, SOURCE = 220 };
static const double dt = 0.7;  // cells have width 1 and the wave speed is about 1

// This rank has the cells first .. first+count-1, in the elements 1 .. count of its arrays.
static int rank, ranks, first, count;
// Before step k, u[k % 2] is p_k and u[(k + 1) % 2] is p_{k-1}; l has their adjoint variables in
// the same places. Elements 0 and count+1 are the halo: the neighbour's cell, or 0 at the ends.
static double u[2][CELLS + 2], l[2][CELLS + 2], m[CELLS + 2], gradient[CELLS + 2];
static double trace[STEPS + 1][RECEIVERS], observed[STEPS + 1][RECEIVERS];  // of own receivers

// The element of a cell of the whole line; 0 if another rank has it.
static int element(int c) { return c >= first && c < first + count ? c - first + 1 : 0; }
static int receiver(int r) { return element(50 + 100 * r); }
static double wavelet(double t) {
  const double x = acos(-1.0) * (t - 40) / 30;
  return (1 - 2 * x * x) * exp(-x * x);
}

// m = a smooth background, plus `bump` times what is to be found, plus h times a direction.
static double direction(int cell) { return exp(-pow((cell - 450) / 80.0, 2)); }
static void set_model(double bump, double h) {
  for (int i = 1, cell = first; i <= count; ++i, ++cell)
    m[i] = 1 + 0.02 * sin(0.01 * cell) + bump * exp(-pow((cell - 500) / 60.0, 2)) +
           h * direction(cell);
}

static void fetch_halo(double* a) {
  const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  MPI_Sendrecv(&a[1], 1, MPI_DOUBLE, left, 0, &a[count + 1], 1, MPI_DOUBLE, right, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&a[count], 1, MPI_DOUBLE, right, 1, &a[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}
static double second_difference(const double* a, int i) { return a[i - 1] - 2 * a[i] + a[i + 1]; }

static void start(void) {
  memset(u, 0, sizeof u);
  memset(trace, 0, sizeof trace);
}

// p_{k+1} takes the place of p_{k-1}; the receivers record it. A step that is run again records the
// same numbers in the same place, so it need not know that it is.
static void step(int64_t k) {
  double *now = u[k % 2], *next = u[(k + 1) % 2];
  fetch_halo(now);
  for (int i = 1; i <= count; ++i)
    next[i] = 2 * now[i] - next[i] + dt * dt * m[i] * second_difference(now, i);
  if (element(SOURCE)) next[element(SOURCE)] += dt * dt * wavelet((double)k * dt);
  for (int r = 0; r < RECEIVERS; ++r)
    if (receiver(r)) trace[k + 1][r] = next[receiver(r)];
}

static double misfit(void) {  // from the traces of a whole forward sweep; the same on all ranks
  double mine = 0, all;
  for (int k = 0; k <= STEPS; ++k)
    for (int r = 0; r < RECEIVERS; ++r) mine += 0.5 * pow(trace[k][r] - observed[k][r], 2) * dt;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return all;
}
// The derivative of J by p_k alone.
static void add_residual(int64_t k) {
  for (int r = 0; r < RECEIVERS; ++r)
    if (receiver(r)) l[k % 2][receiver(r)] += (trace[k][r] - observed[k][r]) * dt;
}

static void start_adjoint(void) {
  memset(l, 0, sizeof l);
  memset(gradient, 0, sizeof gradient);
  add_residual(STEPS);
}

// u is the state before step k. The halo is no part of it and must be fetched here as well.
static void adjoint_step(int64_t k) {
  static double scaled[CELLS + 2];
  double *now = u[k % 2], *l_now = l[k % 2], *l_next = l[(k + 1) % 2];
  for (int i = 1; i <= count; ++i) scaled[i] = dt * dt * m[i] * l_next[i];
  fetch_halo(now);
  fetch_halo(scaled);
  for (int i = 1; i <= count; ++i) {
    gradient[i] += dt * dt * second_difference(now, i) * l_next[i];
    l_now[i] += 2 * l_next[i] + second_difference(scaled, i);
    l_next[i] = -l_next[i];  // now that of p_{k-1}
  }
  add_residual(k);
}

static double forward_only(void) {
  start();
  for (int k = 0; k < STEPS; ++k) step(k);
  return misfit();
}

static void gradient_with_every_state(void) {
  static double states[STEPS][2][CELLS + 2];
  start();
  for (int k = 0; k < STEPS; ++k) {
    memcpy(states[k], u, sizeof u);
    step(k);
  }
  start_adjoint();
  for (int k = STEPS - 1; k >= 0; --k) {
    memcpy(u, states[k], sizeof u);
    adjoint_step(k);
  }
}

// The message is the same on all ranks, and valid until the next call of the library.
static anadrome_status report(anadrome_status status) {
  if (status != ANADROME_OK && rank == 0)
    fprintf(stderr, "%s: %s\n", anadrome_status_name(status), anadrome_last_error());
  return status;
}

// What fails in anadrome_set and anadrome_add_field, anadrome_begin returns on all ranks.
static anadrome_status gradient_with_anadrome(void) {
  anadrome_run* run;
  anadrome_action a;
  anadrome_status status = anadrome_open(MPI_COMM_WORLD, &run);
  if (status != ANADROME_OK) return report(status);
  anadrome_set(run, "memory", "256KiB");  // per rank; all states take 16 MB
  anadrome_set(run, "schedule", "async");
  anadrome_set(run, "interval", "20");  // with auto, so short steps write almost nothing
  anadrome_set(run, "name", "wave_receivers_states");
  anadrome_add_field(run, "u0", ANADROME_ROLE_STATE, ANADROME_FLOAT64, &u[0][1], (size_t)count);
  anadrome_add_field(run, "u1", ANADROME_ROLE_STATE, ANADROME_FLOAT64, &u[1][1], (size_t)count);
  start();
  status = anadrome_begin(run, STEPS);
  while (status == ANADROME_OK && (status = anadrome_next(run, &a)) == ANADROME_OK &&
         a.kind != ANADROME_DONE) {
    if (a.kind == ANADROME_ADVANCE)
      for (int64_t k = a.first; k < a.last; ++k) step(k);
    if (a.kind == ANADROME_TURN) start_adjoint();
    if (a.kind == ANADROME_ADJOINT) adjoint_step(a.first);
  }
  report(status);
  const anadrome_status closed = report(anadrome_close(&run));
  return status ? status : closed;
}

// Whether the gradient by anadrome and the one with every state have the same bits on all ranks.
static int same_bits(const double* by_anadrome) {
  int i = 1;
  while (i <= count && memcmp(&gradient[i], &by_anadrome[i], sizeof *gradient) == 0) ++i;
  if (i <= count)
    printf("dJ/dm of cell %d: %a by anadrome, %a with every state\n", first + i - 1, by_anadrome[i],
           gradient[i]);
  int same = i > count;
  MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return same;
}

static int agrees_with_differences(void) {
  const double h = 1e-4;
  double slope = 0;
  for (int i = 1; i <= count; ++i) slope += gradient[i] * direction(first + i - 1);
  MPI_Allreduce(MPI_IN_PLACE, &slope, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  set_model(0, h);
  const double above = forward_only();
  set_model(0, -h);
  const double by_differences = (above - forward_only()) / (2 * h);
  const int agrees = fabs(slope - by_differences) < 1e-4 * fabs(by_differences);
  if (!agrees && rank == 0)
    printf("slope: %.9e by the gradient, %.9e by differences\n", slope, by_differences);
  return agrees;
}

int main(int argc, char** argv) {
  static double by_anadrome[CELLS + 2];
  int exit_code = 2;  // an error of the library
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  first = CELLS * rank / ranks;
  count = CELLS * (rank + 1) / ranks - first;
  set_model(0.1, 0);  // the truth
  forward_only();
  memcpy(observed, trace, sizeof trace);
  set_model(0, 0);  // the first guess
  if (gradient_with_anadrome() == ANADROME_OK) {
    memcpy(by_anadrome, gradient, sizeof gradient);
    gradient_with_every_state();
    exit_code = same_bits(by_anadrome) && agrees_with_differences() ? 0 : 1;
    if (exit_code == 0 && rank == 0) printf("equal\n");
  }
  MPI_Finalize();
  return exit_code;
}

// SPDX-License-Identifier: BSD-2-Clause
/* A concentration on a ring that is carried along, spreads and grows, and the gradient of its
 * distance from a given profile at the end with respect to where it began and to three parameters:
 * by CVODES alone, and in windows between which anadrome keeps the states. Prints what each takes
 * and holds. Exit code 1: windows with few states in memory give other bits than windows with all,
 * or another gradient than CVODES alone within its tolerances, or hold no less than it. */
#include <anadrome/sundials.h>
#include <cvodes/cvodes.h>
#include <math.h>
#include <mpi.h>
#include <nvector/nvector_parallel.h>
#include <string.h>
#include <sunlinsol/sunlinsol_spgmr.h>

enum { POINTS = 200, WINDOWS = 40, PARAMETERS = 3, OWN_STEPS = 20 };
static const sunrealtype kEnd = 100, kRelative = 1e-9, kAbsolute = 1e-11;
static const sunrealtype kSpread = 1e-4, kSpeed = 0.1, kGrowth = 0.1;

// Vectors that live, and the most that did: clones have the functions of what they are clones of.
static struct {
  N_Vector (*clone)(N_Vector);
  void (*destroy)(N_Vector);
  long live, most;
} vectors;
static N_Vector counted_clone(N_Vector vector) {
  if (++vectors.live > vectors.most) vectors.most = vectors.live;
  return vectors.clone(vector);
}
static void counted_destroy(N_Vector vector) {
  --vectors.live;
  vectors.destroy(vector);
}

typedef struct ring {
  MPI_Comm comm;
  int rank, ranks;
  sunindextype first, points;  // of this rank
  sunrealtype width;
} ring;

// What the neighbours have at the ends of this rank's part.
static void halo(const ring* r, const sunrealtype* y, sunrealtype* left, sunrealtype* right) {
  const int before = (r->rank + r->ranks - 1) % r->ranks, after = (r->rank + 1) % r->ranks;
  MPI_Sendrecv(&y[r->points - 1], 1, MPI_DOUBLE, after, 0, left, 1, MPI_DOUBLE, before, 0, r->comm,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(&y[0], 1, MPI_DOUBLE, before, 1, right, 1, MPI_DOUBLE, after, 1, r->comm,
               MPI_STATUS_IGNORE);
}

static int rates(sunrealtype t, N_Vector state, N_Vector rate, void* context) {
  const ring* r = context;
  const sunrealtype *y = N_VGetArrayPointer(state), h = r->width;
  sunrealtype *dy = N_VGetArrayPointer(rate), first, last;
  (void)t;
  halo(r, y, &first, &last);
  for (sunindextype i = 0; i < r->points; ++i) {
    const sunrealtype left = i > 0 ? y[i - 1] : first;
    const sunrealtype right = i + 1 < r->points ? y[i + 1] : last;
    dy[i] = kSpread * (left - 2 * y[i] + right) / (h * h) - kSpeed * (y[i] - left) / h +
            kGrowth * y[i] * (1 - y[i]);
  }
  return 0;
}

static int adjoint_rates(sunrealtype t, N_Vector state, N_Vector adjoint, N_Vector rate,
                         void* context) {
  const ring* r = context;
  const sunrealtype *y = N_VGetArrayPointer(state), *l = N_VGetArrayPointer(adjoint), h = r->width;
  sunrealtype *dl = N_VGetArrayPointer(rate), first, last;
  (void)t;
  halo(r, l, &first, &last);
  for (sunindextype i = 0; i < r->points; ++i) {
    const sunrealtype left = i > 0 ? l[i - 1] : first;
    const sunrealtype right = i + 1 < r->points ? l[i + 1] : last;
    dl[i] = -(kSpread * (left - 2 * l[i] + right) / (h * h) - kSpeed * (l[i] - right) / h +
              kGrowth * (1 - 2 * y[i]) * l[i]);
  }
  return 0;
}

// This rank's part of -lambda^T df/dp, which CVODES integrates from the end to the beginning.
static int parameter_rates(sunrealtype t, N_Vector state, N_Vector adjoint, N_Vector rate,
                           void* context) {
  const ring* r = context;
  const sunrealtype *y = N_VGetArrayPointer(state), *l = N_VGetArrayPointer(adjoint), h = r->width;
  sunrealtype *dq = N_VGetArrayPointer(rate), first, last;
  (void)t;
  halo(r, y, &first, &last);
  memset(dq, 0, PARAMETERS * sizeof *dq);
  for (sunindextype i = 0; i < r->points; ++i) {
    const sunrealtype left = i > 0 ? y[i - 1] : first;
    const sunrealtype right = i + 1 < r->points ? y[i + 1] : last;
    dq[0] -= l[i] * (left - 2 * y[i] + right) / (h * h);
    dq[1] += l[i] * (y[i] - left) / h;
    dq[2] -= l[i] * y[i] * (1 - y[i]);
  }
  return 0;
}

// dJ/dy of J = 1/2 sum over i of width * (y_i - profile_i)^2.
static int distance(void* context, N_Vector state, N_Vector adjoint) {
  const ring* r = context;
  const sunrealtype* y = N_VGetArrayPointer(state);
  sunrealtype* l = N_VGetArrayPointer(adjoint);
  for (sunindextype i = 0; i < r->points; ++i) {
    const sunrealtype x = (sunrealtype)(r->first + i) * r->width;
    l[i] = r->width * (y[i] - (0.9 + 0.1 * cos(6.283185307179586 * x)));
  }
  return 0;
}

typedef struct gradient {
  sunrealtype of_start[POINTS], of_parameters[PARAMETERS];  // of_start: this rank's points
  long vectors;
  double seconds;
} gradient;

#define CHECK(call)                                                  \
  do {                                                               \
    const int flag = (call);                                         \
    if (flag < 0) {                                                  \
      fprintf(stderr, "cvodes_adjoint: " #call ": flag %d\n", flag); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                  \
    }                                                                \
  } while (0)
#define CHECK_ANADROME(call)                                          \
  do {                                                                \
    if ((call) != ANADROME_OK) {                                      \
      fprintf(stderr, "cvodes_adjoint: %s\n", anadrome_last_error()); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                   \
    }                                                                 \
  } while (0)

// The same problem by CVODES alone (`schedule` is NULL), or in windows by a run of that schedule
// and as many states in memory.
static void solve(SUNContext sun, ring* r, const char* schedule, int states, gradient* result) {
  memset(result, 0, sizeof *result);
  vectors.live = vectors.most = 0;
  N_Vector made = N_VNew_Parallel(r->comm, r->points, POINTS, sun);
  vectors.clone = made->ops->nvclone;
  vectors.destroy = made->ops->nvdestroy;
  made->ops->nvclone = counted_clone;
  made->ops->nvdestroy = counted_destroy;
  N_Vector y = N_VClone(made), lambda = N_VClone(made);
  N_Vector q = N_VNew_Parallel(r->comm, PARAMETERS, (sunindextype)PARAMETERS * r->ranks, sun);
  N_VConst(0, q);
  sunrealtype* values = N_VGetArrayPointer(y);
  for (sunindextype i = 0; i < r->points; ++i) {
    const sunrealtype x = (sunrealtype)(r->first + i) * r->width;
    values[i] = 0.01 + 0.1 * exp(-200 * (x - 0.3) * (x - 0.3));
  }
  N_VConst(0, lambda);

  const double began = MPI_Wtime();
  void* memory = CVodeCreate(CV_BDF, sun);
  SUNLinearSolver solver = SUNLinSol_SPGMR(y, SUN_PREC_NONE, 0, sun), solver_b;
  sunrealtype t;
  int backward, checkpoints;
  CHECK(CVodeInit(memory, rates, 0, y));
  CHECK(CVodeSStolerances(memory, kRelative, kAbsolute));
  CHECK(CVodeSetUserData(memory, r));
  CHECK(CVodeSetMaxNumSteps(memory, 100000));
  CHECK(CVodeSetLinearSolver(memory, solver, NULL));
  CHECK(CVodeAdjInit(memory, OWN_STEPS, CV_HERMITE));
  CHECK(CVodeCreateB(memory, CV_BDF, &backward));
  if (schedule == NULL) {
    N_Vector end = N_VClone(y);
    CHECK(CVodeF(memory, kEnd, end, &t, CV_NORMAL, &checkpoints));
    distance(r, end, lambda);
    N_VDestroy(end);
  }
  CHECK(CVodeInitB(memory, backward, adjoint_rates, kEnd, lambda));
  CHECK(CVodeSStolerancesB(memory, backward, kRelative, 1e-6 * kAbsolute));
  CHECK(CVodeSetUserDataB(memory, backward, r));
  CHECK(CVodeSetMaxNumStepsB(memory, backward, 100000));
  solver_b = SUNLinSol_SPGMR(lambda, SUN_PREC_NONE, 0, sun);
  CHECK(CVodeSetLinearSolverB(memory, backward, solver_b, NULL));
  CHECK(CVodeQuadInitB(memory, backward, parameter_rates, q));
  if (schedule == NULL) {
    CHECK(CVodeB(memory, 0, CV_NORMAL));
    CHECK(CVodeGetB(memory, backward, &t, lambda));
    CHECK(CVodeGetQuadB(memory, backward, &t, q));
  } else {
    const anadrome_cvodes problem = {.memory = memory,
                                     .backward = backward,
                                     .begin = 0,
                                     .end = kEnd,
                                     .windows = WINDOWS,
                                     .state = y,
                                     .adjoint = lambda,
                                     .quadrature = q,
                                     .turn = distance,
                                     .context = r};
    char bytes[32];
    anadrome_run* run;
    CHECK_ANADROME(anadrome_open(r->comm, &run));
    CHECK_ANADROME(anadrome_set(run, "schedule", schedule));
    snprintf(bytes, sizeof bytes, "%lld", (long long)states * (POINTS / r->ranks + 1) * 8);
    CHECK_ANADROME(anadrome_set(run, "memory", bytes));
    CHECK_ANADROME(anadrome_cvodes_gradient(run, &problem));
    CHECK_ANADROME(anadrome_close(&run));
  }
  result->seconds = MPI_Wtime() - began;
  result->vectors = vectors.most + states;
  memcpy(result->of_start, N_VGetArrayPointer(lambda), (size_t)r->points * sizeof(sunrealtype));
  MPI_Reduce(N_VGetArrayPointer(q), result->of_parameters, PARAMETERS, MPI_DOUBLE, MPI_SUM, 0,
             r->comm);
  CVodeFree(&memory);
  SUNLinSolFree(solver);
  SUNLinSolFree(solver_b);
  N_VDestroy(q);
  N_VDestroy(lambda);
  N_VDestroy(y);
  N_VDestroy(made);
}

// The largest difference, relative to the largest value; all ranks together.
static double difference(const ring* r, const sunrealtype* a, const sunrealtype* b, size_t count) {
  double most[2] = {0, 0}, all[2];
  for (size_t i = 0; i < count; ++i) {
    most[0] = fmax(most[0], fabs(a[i] - b[i]));
    most[1] = fmax(most[1], fabs(b[i]));
  }
  MPI_Allreduce(most, all, 2, MPI_DOUBLE, MPI_MAX, r->comm);
  return all[0] / all[1];
}

int main(int argc, char** argv) {
  static gradient own, kept, few, disk;
  SUNContext sun;
  ring r = {.comm = MPI_COMM_WORLD, .width = 1.0 / POINTS};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(r.comm, &r.rank);
  MPI_Comm_size(r.comm, &r.ranks);
  r.first = (sunindextype)POINTS * r.rank / r.ranks;
  r.points = (sunindextype)POINTS * (r.rank + 1) / r.ranks - r.first;
#if SUNDIALS_VERSION_MAJOR < 7
  SUNContext_Create(&r.comm, &sun);
#else
  SUNContext_Create(r.comm, &sun);
#endif
  solve(sun, &r, NULL, 0, &own);
  solve(sun, &r, "store_all", WINDOWS + 10, &kept);
  solve(sun, &r, "revolve", 8, &few);
  solve(sun, &r, "async", 8, &disk);

  const size_t bytes = offsetof(gradient, vectors);
  int failed = memcmp(&few, &kept, bytes) != 0 || memcmp(&disk, &kept, bytes) != 0;
  const double of_start = difference(&r, few.of_start, own.of_start, (size_t)r.points);
  const double of_parameters = difference(&r, few.of_parameters, own.of_parameters, PARAMETERS);
  if (!(of_start < 1e-5 && of_parameters < 1e-5)) failed = 1;
  if (few.vectors >= own.vectors || disk.vectors >= own.vectors) failed = 1;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, r.comm);
  if (r.rank == 0) {
    printf("gradient                  vectors  seconds\n");
    printf("CVODES alone              %7ld  %7.2f\n", own.vectors, own.seconds);
    printf("%d windows, all kept      %7ld  %7.2f\n", WINDOWS, kept.vectors, kept.seconds);
    printf("%d windows, 8 in memory   %7ld  %7.2f\n", WINDOWS, few.vectors, few.seconds);
    printf("%d windows, and on disk   %7ld  %7.2f\n", WINDOWS, disk.vectors, disk.seconds);
    printf("dJ/d(spread, speed, growth): %.6f %.6f %.6f\n", few.of_parameters[0],
           few.of_parameters[1], few.of_parameters[2]);
    printf("from CVODES alone: dJ/dy(0) %.1e, parameters %.1e\n", of_start, of_parameters);
    puts(failed ? "FAILED" : "windows: the same bits whatever is kept");
  }
  SUNContext_Free(&sun);
  MPI_Finalize();
  return failed;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/** @file sundials.h
 * The adjoint of CVODES over times for which its own checkpoints need too much memory. Header only;
 * for SUNDIALS 6 and 7 (Debian: libsundials-dev; link with -lsundials_cvodes).
 *
 * CVODES alone keeps a checkpoint every so many of its internal steps, all of them in memory. Here
 * the time is cut into windows, which are the steps of a run: the run keeps or recomputes the
 * states between windows, in memory or on disk, and CVODES keeps the checkpoints of one window at a
 * time. Both directions start anew at each window (CVodeReInit, CVodeReInitB), so that a window
 * computed twice gives the same bits: choose windows of many internal steps. */
#ifndef ANADROME_SUNDIALS_H
#define ANADROME_SUNDIALS_H

#include <cvodes/cvodes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sundials/sundials_nvector.h>

#include <anadrome/anadrome.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A problem that is set up as for CVODES alone, up to the calls of CVodeF and CVodeB, which
 * anadrome_cvodes_gradient makes. Vectors of any kind that has N_VBufPack: serial, parallel,
 * OpenMP, of several vectors, on a device. */
typedef struct anadrome_cvodes {
  void* memory;      /**< of CVodeCreate, after CVodeInit and CVodeAdjInit. Forward it has neither
                            quadratures nor sensitivities: windows do not begin them anew */
  int backward;      /**< of CVodeCreateB, after CVodeInitB */
  sunrealtype begin; /**< t of `state` at first */
  sunrealtype end;   /**< t at which the adjoint begins */
  sunrealtype first_step; /**< of CVODES in each window forward; 0: CVODES estimates it */
  int64_t windows;        /**< the steps of the run: begin to end in windows of the same length; in
                             one window CVODES keeps all checkpoints itself */
  N_Vector state;   /**< y(begin) at first; a field of role STATE. An integral that is part of the
                         objective is one more component of it */
  N_Vector adjoint; /**< in the end dJ/dy(begin); a field of role ADJOINT */
  N_Vector quadrature; /**< of CVodeQuadInitB, from what it holds at first; a field of role ADJOINT;
                            NULL: none */
  /** Write dJ/dy(end) into `adjoint`, from `state` = y(end). Non-zero: failure. */
  int (*turn)(void* context, N_Vector state, N_Vector adjoint);
  void* context; /**< handed to `turn` */
} anadrome_cvodes;

/** @cond private */
struct anadrome_cvodes_run {
  anadrome_cvodes of;
  anadrome_run* run;
  N_Vector spare;
  int failed; /* no window begins after that: other ranks may be waiting in the one that failed */
};

static inline int anadrome_cvodes_failed(struct anadrome_cvodes_run* problem, const char* function,
                                         int64_t window, int flag) {
  /* At a root CVODES returns before the window's end. */
  if (flag >= 0 && flag != CV_ROOT_RETURN) return 0;
  char why[200];
  char* name = CVodeGetReturnFlagName(flag);
  snprintf(why, sizeof why, "%s in window %lld gives %s", function, (long long)window,
           name != NULL ? name : "a failure");
  free(name);
  anadrome_fail(problem->run, why);
  problem->failed = 1;
  return 1;
}

static inline sunrealtype anadrome_cvodes_time(const struct anadrome_cvodes_run* problem,
                                               int64_t window) {
  const sunrealtype part = (sunrealtype)window / (sunrealtype)problem->of.windows;
  return window == problem->of.windows
             ? problem->of.end
             : problem->of.begin + (problem->of.end - problem->of.begin) * part;
}

static inline int anadrome_cvodes_enter(struct anadrome_cvodes_run* problem, int64_t window) {
  void* const memory = problem->of.memory;
  const sunrealtype from = anadrome_cvodes_time(problem, window);
  const sunrealtype to = anadrome_cvodes_time(problem, window + 1);
  return problem->failed ||
         anadrome_cvodes_failed(problem, "CVodeReInit", window,
                                CVodeReInit(memory, from, problem->of.state)) ||
         anadrome_cvodes_failed(problem, "CVodeSetStopTime", window,
                                CVodeSetStopTime(memory, to)) ||
         /* CVodeB leaves that of a window it computed again. */
         anadrome_cvodes_failed(problem, "CVodeSetInitStep", window,
                                CVodeSetInitStep(memory, problem->of.first_step));
}

/* What would fail in the reverse sweep only. */
static inline int anadrome_cvodes_start(void* context) {
  struct anadrome_cvodes_run* const problem = (struct anadrome_cvodes_run*)context;
  void* const memory = problem->of.memory;
  const int backward = problem->of.backward;
  if (problem->of.turn == NULL) {
    anadrome_fail(problem->run, "anadrome_cvodes: turn is required");
    return 1;
  }
  return anadrome_cvodes_failed(problem, "CVodeAdjReInit (is there a CVodeAdjInit?)", 0,
                                CVodeAdjReInit(memory)) ||
         anadrome_cvodes_failed(
             problem, "CVodeReInitB (is there a CVodeInitB?)", 0,
             CVodeReInitB(memory, backward, problem->of.end, problem->of.adjoint)) ||
         (problem->of.quadrature != NULL &&
          anadrome_cvodes_failed(problem, "CVodeQuadReInitB (is there a CVodeQuadInitB?)", 0,
                                 CVodeQuadReInitB(memory, backward, problem->of.quadrature)));
}

static inline int anadrome_cvodes_advance(void* context, int64_t first, int64_t last,
                                          int64_t* reached) {
  struct anadrome_cvodes_run* const problem = (struct anadrome_cvodes_run*)context;
  (void)reached;
  for (int64_t k = first; k < last; ++k) {
    sunrealtype t;
    if (anadrome_cvodes_enter(problem, k)) return 1;
    if (anadrome_cvodes_failed(problem, "CVode", k,
                               CVode(problem->of.memory, anadrome_cvodes_time(problem, k + 1),
                                     problem->of.state, &t, CV_NORMAL)))
      return 1;
  }
  return 0;
}

static inline int anadrome_cvodes_turn(void* context, int64_t windows) {
  struct anadrome_cvodes_run* const problem = (struct anadrome_cvodes_run*)context;
  (void)windows;
  return problem->of.turn(problem->of.context, problem->of.state, problem->of.adjoint);
}

static inline int anadrome_cvodes_reverse(void* context, int64_t k) {
  struct anadrome_cvodes_run* const problem = (struct anadrome_cvodes_run*)context;
  const sunrealtype from = anadrome_cvodes_time(problem, k);
  const sunrealtype to = anadrome_cvodes_time(problem, k + 1);
  void* const memory = problem->of.memory;
  const int backward = problem->of.backward;
  const N_Vector quadrature = problem->of.quadrature;
  sunrealtype t;
  int checkpoints;
  return anadrome_cvodes_enter(problem, k) ||
         anadrome_cvodes_failed(problem, "CVodeAdjReInit", k, CVodeAdjReInit(memory)) ||
         anadrome_cvodes_failed(problem, "CVodeF", k,
                                CVodeF(memory, to, problem->spare, &t, CV_NORMAL, &checkpoints)) ||
         anadrome_cvodes_failed(problem, "CVodeReInitB", k,
                                CVodeReInitB(memory, backward, to, problem->of.adjoint)) ||
         (quadrature != NULL &&
          anadrome_cvodes_failed(problem, "CVodeQuadReInitB", k,
                                 CVodeQuadReInitB(memory, backward, quadrature))) ||
         anadrome_cvodes_failed(problem, "CVodeB", k, CVodeB(memory, from, CV_NORMAL)) ||
         anadrome_cvodes_failed(problem, "CVodeGetB", k,
                                CVodeGetB(memory, backward, &t, problem->of.adjoint)) ||
         (quadrature != NULL &&
          anadrome_cvodes_failed(problem, "CVodeGetQuadB", k,
                                 CVodeGetQuadB(memory, backward, &t, quadrature)));
}

static inline int anadrome_cvodes_pack(void* vector, void* buffer, size_t bytes) {
  (void)bytes;
  return N_VBufPack((N_Vector)vector, buffer) != 0;
}

static inline int anadrome_cvodes_unpack(void* vector, const void* buffer, size_t bytes) {
  (void)bytes;
  return N_VBufUnpack((N_Vector)vector, (void*)buffer) != 0;
}

static inline anadrome_status anadrome_cvodes_add(anadrome_run* run, const char* name,
                                                  anadrome_role role, N_Vector vector) {
  const anadrome_type type =
      sizeof(sunrealtype) == sizeof(float) ? ANADROME_FLOAT32 : ANADROME_FLOAT64;
  sunindextype bytes = 0;
  const int sized = vector->ops->nvbufsize != NULL && N_VBufSize(vector, &bytes) == 0;
  /* Numbers in one array of the host can be compressed; others are bytes. */
  if (sized && vector->ops->nvgetarraypointer != NULL && sizeof(sunrealtype) <= sizeof(double) &&
      vector->ops->nvgetdevicearraypointer == NULL)
    return anadrome_add_field(run, name, role, type, N_VGetArrayPointer(vector),
                              (size_t)bytes / sizeof(sunrealtype));
  return anadrome_add_packed(run, name, role, (size_t)bytes, sized ? anadrome_cvodes_pack : NULL,
                             anadrome_cvodes_unpack, vector);
}
/** @endcond */

/** Add the fields `y`, `lambda` and, with a quadrature, `quadrature` to `run`, whose options are
 * set, and run its forward sweep and its adjoint sweep. Collective over the run's communicator,
 * which is that of the vectors. After it `adjoint` and `quadrature` hold the gradient. A run for
 * each gradient: the next one opens its own.
 *
 * Errors: as anadrome_solve; ERR_ARGUMENT (a vector that cannot be packed). Where CVODES fails, the
 * error names its function, the window and its flag. */
static inline anadrome_status anadrome_cvodes_gradient(anadrome_run* run,
                                                       const anadrome_cvodes* given) {
  struct anadrome_cvodes_run problem;
  anadrome_model model;
  memset(&model, 0, sizeof model);
  problem.of = *given;
  problem.run = run;
  problem.failed = 0;
  model.size = sizeof model;
  model.context = &problem;
  model.start = anadrome_cvodes_start;
  model.advance = anadrome_cvodes_advance;
  model.turn = anadrome_cvodes_turn;
  model.adjoint = anadrome_cvodes_reverse;
  anadrome_status status = anadrome_cvodes_add(run, "y", ANADROME_ROLE_STATE, problem.of.state);
  if (status == ANADROME_OK)
    status = anadrome_cvodes_add(run, "lambda", ANADROME_ROLE_ADJOINT, problem.of.adjoint);
  if (status == ANADROME_OK && problem.of.quadrature != NULL)
    status = anadrome_cvodes_add(run, "quadrature", ANADROME_ROLE_ADJOINT, problem.of.quadrature);
  problem.spare = N_VClone(problem.of.state);
  if (problem.of.windows == ANADROME_STEPS_UNKNOWN) problem.of.windows = -2; /* refused likewise */
  status = anadrome_solve(run, problem.of.windows, &model);
  N_VDestroy(problem.spare);
  return status;
}

#ifdef __cplusplus
}
#endif

#endif

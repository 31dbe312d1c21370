// SPDX-License-Identifier: BSD-2-Clause
/* Put into heat_equation: what befalls the job at one step, so that no test needs luck.
 *   ANADROME_TEST_AT    "forward STEP RANK" or "reverse STEP RANK"; RANK -1: every rank
 *   ANADROME_TEST_GO    not set: there the rank kills itself (SIGKILL). A file: there it says so
 *                       on standard error, and waits until the file exists
 *   ANADROME_TEST_NAP   milliseconds that every step takes at least, so that steps say how long ago
 *                       something was */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "heat.h"

void __real_heat_step(heat_model* model, int64_t k, const double* u, double* next, double* tape);
void __wrap_heat_step(heat_model* model, int64_t k, const double* u, double* next, double* tape);
void __real_heat_adjoint_step(heat_model* model, int64_t k, const double* u, const double* tape);
void __wrap_heat_adjoint_step(heat_model* model, int64_t k, const double* u, const double* tape);

static void nap(long milliseconds) {
  const struct timespec time = {.tv_sec = milliseconds / 1000,
                                .tv_nsec = milliseconds % 1000 * 1000000};
  nanosleep(&time, NULL);
}

static void take_time(void) {
  const char* least = getenv("ANADROME_TEST_NAP");
  if (least != NULL) nap(atol(least));
}

static void come_to(const char* sweep, int64_t k, int rank) {
  static int passed = 0;
  const char *at = getenv("ANADROME_TEST_AT"), *go = getenv("ANADROME_TEST_GO");
  char which[16];
  long long step;
  int chosen;
  if (passed || at == NULL || sscanf(at, "%15s %lld %d", which, &step, &chosen) != 3) return;
  if (step != k || strcmp(which, sweep) != 0 || (chosen != -1 && chosen != rank)) return;
  passed = 1;
  if (go == NULL) kill(getpid(), SIGKILL);
  fprintf(stderr, "rank %d is at %s\n", rank, at);
  while (access(go, F_OK) != 0) nap(10);
}

void __wrap_heat_step(heat_model* model, int64_t k, const double* u, double* next, double* tape) {
  take_time();
  come_to("forward", k, model->grid.rank);
  __real_heat_step(model, k, u, next, tape);
}

void __wrap_heat_adjoint_step(heat_model* model, int64_t k, const double* u, const double* tape) {
  take_time();
  come_to("reverse", k, model->grid.rank);
  __real_heat_adjoint_step(model, k, u, tape);
}

// SPDX-License-Identifier: BSD-2-Clause
/* One whole job: the gradient through anadrome, and the checks asked for. */
#ifndef LORENZ_RUN_H
#define LORENZ_RUN_H

#include <anadrome/anadrome.h>

#include "lorenz_check.h"
#include "lorenz_options.h"
#include "outcome.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lorenz_result {
  int ranks;
  outcome end;
  int have_gradient;    /**< the next one is set */
  lorenz_outcome total; /**< the sum over the ranks */
  int verified;         /**< 1, 0; -1: not asked, or not reached */
  int64_t differing;    /**< values that differ from those with every state kept, all ranks */
  double seconds_plain; /**< with every state kept, maximum over ranks; -1: not done */
  int have_taylor;
  lorenz_taylor taylor;
  double dot_test_error; /**< -1: not asked, or not reached */
  anadrome_stats stats;  /**< this rank, last sweep */
  anadrome_stats all;    /**< all ranks: sums of bytes and counts of copies, maxima of the rest */
} lorenz_result;

/** Do one job on the ranks of `comm`. Prints, unless options->quiet, on rank 0's standard output.
 * Collective; may be called any number of times. Returns the exit code. */
int lorenz_run(MPI_Comm comm, const lorenz_options* options, lorenz_result* result);

#ifdef __cplusplus
}
#endif

#endif

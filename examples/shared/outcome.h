// SPDX-License-Identifier: BSD-2-Clause
/* What all ranks together made of a run: how it ended, and its statistics. */
#ifndef EXAMPLE_OUTCOME_H
#define EXAMPLE_OUTCOME_H

#include <anadrome/anadrome.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Exit codes. */
enum {
  EXAMPLE_FINE = 0,
  EXAMPLE_WRONG = 1,         /**< a wrong gradient */
  EXAMPLE_USAGE = 2,         /**< the user's mistake */
  EXAMPLE_LIBRARY_ERROR = 3, /**< anadrome reported an error */
  EXAMPLE_STOPPED = 4        /**< by a signal, and able to go on */
};

/** The same on every rank. Start from zeros. */
typedef struct outcome {
  int exit_code;
  anadrome_status status; /**< of anadrome */
  char message[1024];     /**< why exit_code is not EXAMPLE_FINE */
} outcome;

/** Note an end; the first one counts. `format`: as of printf. */
void outcome_end_with(outcome* end, int exit_code, const char* format, ...);

/** Is `status` fine on all ranks? If not, note the account of the lowest rank that failed by
 * itself, if there is one. EXAMPLE_USAGE for `exit_code` is for refused arguments only. To be
 * called at once, while anadrome_last_error() is still about this rank's `status`: calls that are
 * local may fail on one rank alone. Collective. */
int outcome_is_fine(outcome* end, MPI_Comm comm, anadrome_status status, int exit_code);

/** Combine the ranks' statistics: sums of bytes and of copied states, maxima of times and of
 * memory, rank 0's of what is agreed. Collective. */
void outcome_reduce_statistics(MPI_Comm comm, const anadrome_stats* stats, anadrome_stats* all);

/** Write combined statistics as members of a JSON object. `steps`: of the simulation. */
void outcome_put_statistics(FILE* file, const anadrome_stats* all, int64_t steps);

#ifdef __cplusplus
}
#endif

#endif

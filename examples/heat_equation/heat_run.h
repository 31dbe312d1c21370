/* One whole job: the gradient through anadrome, and the checks asked for. */
#ifndef HEAT_RUN_H
#define HEAT_RUN_H

#include <anadrome/anadrome.h>

#include "heat_check.h"
#include "heat_options.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HEAT_FINE = 0, HEAT_WRONG = 1, HEAT_USAGE = 2, HEAT_LIBRARY_ERROR = 3, HEAT_STOPPED = 4 };

typedef struct heat_result {
  int ranks;
  int exit_code;          /**< one of the above; the same on every rank */
  anadrome_status status; /**< of anadrome */
  char message[1024];     /**< why exit_code is not 0; the same on every rank */
  int have_gradient;      /**< the next five are set */
  double objective;
  double norm_kappa, norm_state; /**< of the two parts of the gradient */
  double gradient_norm;
  uint64_t gradient_hash;
  int verified; /**< 1, 0; -1: not asked, or not reached */
  heat_difference difference;
  int have_taylor;
  heat_taylor taylor;
  double dot_test_error; /**< -1: not asked, or not reached */
  anadrome_stats stats;  /**< this rank, last sweep */
  anadrome_stats all;    /**< all ranks: sums of bytes and counts of copies, maxima of the rest */
  double seconds_step_median; /**< of the first forward sweep, maximum over ranks; -1: no step */
  int64_t rss_growth_bytes;   /**< maximum over ranks; -1: not known */
} heat_result;

/** Do one job on the ranks of `comm`. Prints, unless options->quiet, on rank 0's standard output
 * what comes before and after the sweeps. Collective; may be called any number of times. Returns
 * result->exit_code. */
int heat_run(MPI_Comm comm, const heat_options* options, heat_result* result);

#ifdef __cplusplus
}
#endif

#endif

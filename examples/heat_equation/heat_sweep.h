/* The forward and the adjoint sweep, with the states given back by anadrome: what a user of the
 * library has to write, in both of its styles. */
#ifndef HEAT_SWEEP_H
#define HEAT_SWEEP_H

#include <anadrome/anadrome.h>
#include <stdio.h>

#include "heat_model.h"
#include "heat_options.h"

enum { HEAT_TIMED_STEPS = 4096 };

/** Start from zeros; use it for all sweeps of one run. */
typedef struct heat_sweep {
  anadrome_run* run;
  heat_model* model;
  const heat_options* options;
  int field;        /**< of the state in anadrome; used if it is exchanged */
  double objective; /**< of the latest sweep */
  int print_header; /**< before the first action */
  int finished;     /**< anadrome knows the number of steps */
  FILE* log;        /**< one line per action, on one rank; NULL: none */
  double log_start; /**< MPI_Wtime() at the first begin */
  int64_t stride;   /**< every stride-th forward step is timed */
  int64_t until_timed;
  size_t timed;
  double seconds[HEAT_TIMED_STEPS];
} heat_sweep;

/** One forward sweep and the adjoint sweep back. The gradient is in `model` afterwards. Collective.
 */
anadrome_status heat_sweep_do(heat_sweep* sweep, anadrome_run* run, heat_model* model,
                              const heat_options* options, int first_sweep);

/** The median time of a forward step on this rank; -1 if none was done. */
double heat_sweep_median_step(heat_sweep* sweep);

#endif

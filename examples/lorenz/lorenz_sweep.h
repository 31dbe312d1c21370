// SPDX-License-Identifier: BSD-2-Clause
/* The forward and the adjoint sweep, with the states given back by anadrome: what a user of the
 * library has to write for an ordinary differential equation, in both of its styles. */
#ifndef LORENZ_SWEEP_H
#define LORENZ_SWEEP_H

#include <anadrome/anadrome.h>

#include "lorenz_model.h"

typedef struct lorenz_sweep {
  anadrome_run* run;
  const lorenz_problem* problem;
  int steps_unknown; /**< tell anadrome the number of steps only when they are done */
  int callbacks;     /**< anadrome_solve instead of a loop over anadrome_next */
  lorenz_state u;    /**< x_k: the registered field */
  double z_sum;      /**< z_0 + z_1 + ..., each step once */
  int64_t summed;    /**< steps in z_sum */
  double of_last;    /**< the objective's part of x_n */
  lorenz_outcome outcome;
} lorenz_sweep;

/** Tell `run` where x_k is. Local. */
anadrome_status lorenz_sweep_register(lorenz_sweep* sweep);

/** One forward sweep and the adjoint sweep back. Collective. */
anadrome_status lorenz_sweep_do(lorenz_sweep* sweep);

#endif

// SPDX-License-Identifier: BSD-2-Clause
/* Checks of a gradient, all without anadrome. Nothing here prints. */
#ifndef LORENZ_CHECK_H
#define LORENZ_CHECK_H

#include <mpi.h>

#include "lorenz_model.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LORENZ_TAYLOR_POINTS = 8 };

/** Values of two outcomes whose bits differ. */
int lorenz_differences(const lorenz_outcome* a, const lorenz_outcome* b);

/** The sum over all ranks, in the order of the ranks. Collective. */
lorenz_outcome lorenz_sum(MPI_Comm comm, const lorenz_outcome* own);

/** The gradient with every state kept in an array of its own: what anadrome is measured by. Local.
 * Returns its seconds, or -1 without memory for the states. */
double lorenz_plain(const lorenz_problem* problem, lorenz_outcome* outcome);

/** A Taylor test: slopes of log |J(m + e d) - J(m) - e <gradient, d>| over log e, J the sum over
 * all ranks, where rounding does not hide them. */
typedef struct lorenz_taylor {
  double slopes[LORENZ_TAYLOR_POINTS - 1];
  int slope_count;
  int passed; /**< there are two slopes or more, and all are 2 within 0.1 */
} lorenz_taylor;

/** `total`: of all ranks. Collective. */
void lorenz_taylor_test(MPI_Comm comm, const lorenz_problem* problem, const lorenz_outcome* total,
                        lorenz_taylor* taylor);

/** The relative error of <M v, w> = <v, M^T w>, M the derivative of up to 1000 steps and of the
 * time average with respect to all controls; the largest of any rank. Collective. */
double lorenz_dot_test(MPI_Comm comm, const lorenz_problem* problem);

#ifdef __cplusplus
}
#endif

#endif

// SPDX-License-Identifier: BSD-2-Clause
/* What lorenz prints and the JSON file it writes. */
#ifndef LORENZ_REPORT_H
#define LORENZ_REPORT_H

#include "lorenz_run.h"

void lorenz_print_problem(const lorenz_problem* problem, const lorenz_options* options, int ranks);

/** Print the gradient, the checks and the time per step. */
void lorenz_print_results(const lorenz_options* options, const lorenz_result* result);

/** Write `result` as a JSON object. */
void lorenz_write_json(FILE* file, const lorenz_options* options, const lorenz_result* result);

#endif

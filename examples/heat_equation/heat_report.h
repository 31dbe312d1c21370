/* What heat_equation prints and the JSON file it writes. */
#ifndef HEAT_REPORT_H
#define HEAT_REPORT_H

#include "heat_run.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Print the problem, rank 0 only. */
void heat_print_header(const heat_grid* grid, const heat_options* options,
                       const anadrome_stats* stats);

/** Print the gradient and the checks, rank 0 only. */
void heat_print_results(const heat_grid* grid, const heat_result* result);

/** Write `result` as a JSON object. Local. */
void heat_write_json(FILE* file, const heat_options* options, const heat_result* result);

#ifdef __cplusplus
}
#endif

#endif

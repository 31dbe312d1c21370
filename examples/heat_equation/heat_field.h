/* What is computed from a field as a whole: sums, and a hash in natural global order. */
#ifndef HEAT_FIELD_H
#define HEAT_FIELD_H

#include <stdint.h>

#include "heat_grid.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The sum of squares over all ranks, with the same bits for every number of ranks; NaN if a value
 * is not finite. Collective. */
double heat_sum_of_squares(const heat_grid* grid, const double* field);

/** The inner product over all ranks; its last bits depend on the number of ranks. Collective. */
double heat_dot(const heat_grid* grid, const double* a, const double* b);

/** Put into *hash the XXH3-64 of `first` and then `second`, each in row-major order of the global
 * grid. Rank 0 holds 128 KiB (or one row, if that is more) at a time. Collective. Returns 0, or -1
 * on every rank if rank 0 has no memory for that. */
int heat_hash(const heat_grid* grid, const double* first, const double* second, uint64_t* hash);

#ifdef __cplusplus
}
#endif

#endif

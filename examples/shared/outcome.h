/* What all ranks together made of a run: its statistics, or why it failed. */
#ifndef EXAMPLE_OUTCOME_H
#define EXAMPLE_OUTCOME_H

#include <anadrome/anadrome.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Anadrome failed on some rank: put one rank's account of it into everyone's `message`, that of
 * the lowest rank that failed by itself, if there is one, and return its status. To be called at
 * once, while anadrome_last_error() is still about this rank's `status`. Collective. */
anadrome_status outcome_of_failure(MPI_Comm comm, anadrome_status status, char* message,
                                   size_t size);

/** Combine the ranks' statistics: sums of bytes and of copied states, maxima of times and of
 * memory, rank 0's of what is agreed. Collective. */
void outcome_reduce_statistics(MPI_Comm comm, const anadrome_stats* stats, anadrome_stats* all);

/** Write combined statistics as members of a JSON object. `steps`: of the simulation. */
void outcome_put_statistics(FILE* file, const anadrome_stats* all, int64_t steps);

#ifdef __cplusplus
}
#endif

#endif

/* Resident memory of this process, from Linux's /proc. */
#ifndef HEAT_MEMORY_H
#define HEAT_MEMORY_H

#include <stdint.h>

/** Forget the peak so far and return the resident bytes now; -1 if either is not possible. */
int64_t heat_memory_start(void);
/** The most resident bytes since heat_memory_start; -1: not known. */
int64_t heat_memory_peak(void);

#endif

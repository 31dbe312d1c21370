/* How a state is stored with --adaptive: of each row of a block the cells between the first and the
 * last one that heat has reached. All others are +0, so nothing is lost, not a bit. */
#ifndef HEAT_REACHED_H
#define HEAT_REACHED_H

#include "heat_model.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of any state of this block, at most. */
size_t heat_reached_most(const heat_grid* grid);

/* The callbacks of anadrome_add_varying; the context is the heat_model. */
size_t heat_reached_bytes(void* model);
int heat_reached_pack(void* model, void* buffer, size_t bytes);
int heat_reached_unpack(void* model, const void* buffer, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif

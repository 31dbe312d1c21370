/* SPDX-License-Identifier: BSD-2-Clause */
/** @file enzyme.h
 * Time loops that Enzyme differentiates (`__enzyme_checkpoint_for`, `__enzyme_checkpoint_while`):
 * a scheme, in the sense of Enzyme's `enzyme/checkpoint.h`, that plans as this library does and
 * keeps snapshots in a store. */
#ifndef ANADROME_ENZYME_H
#define ANADROME_ENZYME_H

#include <mpi.h>
#include <stddef.h>

#include <anadrome/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Enzyme's table of callbacks, as its checkpoint.h defines it. */
struct EnzymeCheckpointScheme;

/** What a loop gives to the scheme as its `data`. */
typedef struct anadrome_enzyme_data {
  size_t size;   /**< sizeof(anadrome_enzyme_data) */
  MPI_Comm comm; /**< the ranks that run the loop, all of them the same number of steps */
  /** Words "key=value" with blanks between them: those of anadrome_store_open (`memory`,
   * `directory`, `name`, `disk`, `transport`, `bandwidth_limit`) and those of
   * anadrome_schedule_open
   * (`schedule`, default revolve; `slots`, default: as many snapshots as the memory of each rank
   * holds; `disk_slots`, `interval`, `uf`, `ub`, `write`, `read`). `memory` is required. Must stay
   * until the loop begins. */
  const char* options;
} anadrome_enzyme_data;

/** The scheme: `enzyme_scheme, anadrome_enzyme_scheme(), &data` in the call of
 * `__enzyme_checkpoint_for`. For ABI version 1 of the table. A loop of an unknown number of steps
 * takes the schedules revolve, online, store_all, async and double.
 *
 * The beginning and the end of a loop are collective over `comm`. The callbacks of the table return
 * nothing: what fails prints a sentence, and ends the program on all ranks by MPI_Abort. Memory
 * that is not the host's nor a device's global one (an address space other than 0 and 1) is such a
 * failure. */
ANADROME_API const struct EnzymeCheckpointScheme* anadrome_enzyme_scheme(void);

#ifdef __cplusplus
}
#endif

#endif

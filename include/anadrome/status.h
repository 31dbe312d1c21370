// SPDX-License-Identifier: BSD-2-Clause
/** @file status.h
 * The outcomes of a call, their names, and the text of the last failure. No MPI needed. */
#ifndef ANADROME_STATUS_H
#define ANADROME_STATUS_H

#include <anadrome/export.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __cplusplus
/** Enumerations are as wide as an int. In C++ every int is one of their values, so that a wrong one
 * from a C or Fortran caller can be refused. */
#define ANADROME_AS_INT : int
#else
#define ANADROME_AS_INT
#endif

/** Every status, in the order of the values: X(name, value). The values are part of the ABI. */
#define ANADROME_STATUSES(X)                                                                       \
  X(ANADROME_OK, 0)           /**< done */                                                         \
  X(ANADROME_STOPPED, 1)      /**< anadrome_request_stop was called on some rank */                \
  X(ANADROME_ERR_ARGUMENT, 2) /**< an argument or option is wrong; nothing was changed */          \
  X(ANADROME_ERR_ORDER, 3)    /**< right call, wrong moment */                                     \
  X(ANADROME_ERR_MEMORY, 4)   /**< the memory budget, or the machine's memory, does not suffice */ \
  X(ANADROME_ERR_NO_SPACE, 5) /**< the disk, the quota or the `disk` option is exhausted */        \
  X(ANADROME_ERR_IO, 6)       /**< a file operation failed */                                      \
  X(ANADROME_ERR_CORRUPT, 7)  /**< stored bytes are not those that were written */                 \
  X(ANADROME_ERR_NONDETERMINISTIC, 8) /**< a recomputed state differs from the first one */        \
  X(ANADROME_ERR_BUSY, 9)             /**< another live run uses this directory and name */        \
  X(ANADROME_ERR_PEER, 10) /**< another rank failed or made another call; the message names it */  \
  X(ANADROME_ERR_UNSUPPORTED, 11) /**< this build or this machine cannot do what was asked */      \
  X(ANADROME_ERR_INTERNAL, 12)    /**< a defect of the library: please report it */

/** One of the enumerators. */
#define ANADROME_STATUS_ENUMERATOR(name, value) name = value,
/** Outcome of a call. */
typedef enum anadrome_status ANADROME_AS_INT {
  ANADROME_STATUSES(ANADROME_STATUS_ENUMERATOR)
} anadrome_status;
#undef ANADROME_STATUS_ENUMERATOR

/** The last failure on this thread, one line; "" if there was none. Valid until the next call. */
ANADROME_API const char* anadrome_last_error(void);

/** The name of a status, e.g. "ANADROME_ERR_IO". Never NULL. */
ANADROME_API const char* anadrome_status_name(anadrome_status status);

#ifdef __cplusplus
}
#endif

#endif

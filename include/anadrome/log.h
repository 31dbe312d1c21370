// SPDX-License-Identifier: BSD-2-Clause
/** @file log.h
 * The lines that the library says to its user, for a function of yours instead of standard error.
 */
#ifndef ANADROME_LOG_H
#define ANADROME_LOG_H

#include <anadrome/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a line is about. */
typedef enum anadrome_log_level ANADROME_AS_INT {
  ANADROME_LOG_PROGRESS = 0, /**< how far the sweep is (option progress) */
  ANADROME_LOG_NOTICE = 1,   /**< what the run does: it goes on after a kill, it waits for a lock */
  ANADROME_LOG_WARNING = 2   /**< what did not go as planned */
} anadrome_log_level;

/** One line, without its end and without "anadrome: ". It is valid during the call alone. */
typedef void (*anadrome_log_fn)(anadrome_log_level level, const char* line, void* data);

/** From now on `log` gets the lines of all runs and stores of this process; NULL: they go to
 * standard error, as from the start. Local. Most lines are said by rank 0, those of the option
 * watchdog by any. `log` is called by the thread that is in a call of the library or by the
 * library's own, by several at a time perhaps; it calls nothing of the library and throws nothing.
 * Change it while no run and no store is open. The option progress holds as ever. */
ANADROME_API anadrome_status anadrome_set_log(anadrome_log_fn log, void* data);

#ifdef __cplusplus
}
#endif

#endif

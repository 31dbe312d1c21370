// SPDX-License-Identifier: BSD-2-Clause
/* The frame of an example's main: from the command line to the exit code, with result files. */
#ifndef EXAMPLE_PROGRAM_H
#define EXAMPLE_PROGRAM_H

#include "command_line.h"
#include "outcome.h"

/** Start MPI and read the command line. Returns 1, or 0 on every rank if there is nothing to do:
 * `*help` was set and the flags are printed, or `end` says what is wrong. Collective. */
int program_begin(const command_line* line, int argc, char** argv, void* options, settings* library,
                  const int* help, outcome* end);

/** Open the file `name` of flag `which` on rank 0; NULL: no file. Before the work, so that a
 * wrong name is found at once. Returns 1, or 0 on every rank, with the reason in `end`. Collective.
 */
int program_open(const char* which, const char* name, FILE** file, outcome* end);

/** Close it, where there is one; `end` says so if the file did not take all that was put.
 * Collective. */
void program_close(const char* which, const char* name, FILE* file, outcome* end);

/** Print on rank 0 why the program failed, if it did, and end MPI. Returns the exit code. */
int program_end(const command_line* line, const outcome* end);

#endif

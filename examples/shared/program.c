// SPDX-License-Identifier: BSD-2-Clause
#include "program.h"

#include <errno.h>
#include <string.h>

static int rank_of_world(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int program_begin(const command_line* line, int argc, char** argv, void* options, settings* library,
                  const int* help, outcome* end) {
  char message[sizeof end->message];
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  if (command_line_parse(line, argc, argv, options, library, message, sizeof message) != 0) {
    outcome_end_with(end, EXAMPLE_USAGE, "%s", message);
    return 0;
  }
  if (*help && rank_of_world() == 0) command_line_usage(line, stdout);
  return !*help;
}

// The error number of rank 0; 0: none. Collective.
static int agreed(int error) {
  MPI_Bcast(&error, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return error;
}

int program_open(const char* which, const char* name, FILE** file, outcome* end) {
  int error = 0;
  *file = NULL;
  if (name != NULL && rank_of_world() == 0) {
    *file = fopen(name, "w");
    if (*file == NULL) error = errno;
  }
  error = agreed(error);
  if (error == 0) return 1;
  outcome_end_with(end, EXAMPLE_USAGE, "cannot write '%s' (--%s): %s", name, which,
                   strerror(error));
  return 0;
}

void program_close(const char* which, const char* name, FILE* file, outcome* end) {
  int error = 0;
  if (file != NULL) {
    if (ferror(file) != 0) error = EIO;
    if (fclose(file) != 0) error = errno;
  }
  error = agreed(error);
  if (error != 0)
    outcome_end_with(end, EXAMPLE_USAGE, "could not write '%s' (--%s): %s", name, which,
                     strerror(error));
}

int program_end(const command_line* line, const outcome* end) {
  const char* program = line->program;
  if (end->exit_code != EXAMPLE_FINE && rank_of_world() == 0) {
    fprintf(stderr, "%s: %s", program, end->message);
    if (end->exit_code == EXAMPLE_USAGE) fprintf(stderr, "; see %s --help", program);
    if (end->exit_code == EXAMPLE_STOPPED)
      fprintf(stderr, "; to go on, give the same command again");
    fprintf(stderr, "\n");
  }
  fflush(stdout);  // mpirun ends every rank as soon as one stops with an exit code
  MPI_Finalize();
  return end->exit_code;
}

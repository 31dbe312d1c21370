/* The gradient of a heat-equation problem with respect to the conductivity and the initial state,
 * with the states kept by anadrome. See README.md. */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "heat_report.h"

static int usage_error(int rank, const char* message) {
  if (rank == 0) fprintf(stderr, "heat_equation: %s; see heat_equation --help\n", message);
  return HEAT_USAGE;
}

// Opened before the work, so that a wrong name is found at once. The same answer on every rank.
static int open_json(int rank, const char* name, FILE** file) {
  int fine = 1;
  if (rank == 0 && name != NULL) {
    *file = fopen(name, "w");
    fine = *file != NULL;
    if (!fine)
      fprintf(stderr, "heat_equation: cannot write '%s' (--json): %s\n", name, strerror(errno));
  }
  MPI_Bcast(&fine, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return fine;
}

static int close_json(FILE* file, const heat_options* options, const heat_result* result) {
  int fine = 1;
  if (file != NULL) {
    fine = heat_write_json(file, options, result) == 0;
    if (fclose(file) != 0) fine = 0;
    if (!fine)
      fprintf(stderr, "heat_equation: could not write '%s' (--json): %s\n", options->json_file,
              strerror(errno));
  }
  MPI_Bcast(&fine, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return fine;
}

static int run(int rank, int argc, char** argv) {
  heat_options options;
  heat_result result;
  char message[256];
  FILE* json = NULL;
  heat_options_init(&options);
  if (heat_options_parse(&options, argc, argv, message, sizeof message) != 0)
    return usage_error(rank, message);
  if (options.help) {
    if (rank == 0) heat_options_usage(stdout);
    return HEAT_FINE;
  }
  if (!open_json(rank, options.json_file, &json)) return HEAT_USAGE;
  int exit_code = heat_run(MPI_COMM_WORLD, &options, &result);
  if (exit_code == HEAT_USAGE)
    usage_error(rank, result.message);
  else if (exit_code != HEAT_FINE && rank == 0)
    fprintf(stderr, "heat_equation: %s\n", result.message);
  if (!close_json(json, &options, &result) && exit_code == HEAT_FINE) exit_code = HEAT_USAGE;
  return exit_code;
}

int main(int argc, char** argv) {
  int rank, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int exit_code = run(rank, argc, argv);
  MPI_Finalize();
  return exit_code;
}

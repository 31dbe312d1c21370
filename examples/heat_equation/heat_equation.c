/* The gradient of a heat-equation problem with respect to the conductivity and the initial state,
 * with the states kept by anadrome. See README.md. */
#include <mpi.h>
#include <stdio.h>

#include "heat_report.h"
#include "json_file.h"

static int usage_error(int rank, const char* message) {
  if (rank == 0) fprintf(stderr, "heat_equation: %s; see heat_equation --help\n", message);
  return HEAT_USAGE;
}

static int run(int rank, int argc, char** argv) {
  heat_options options;
  heat_result result;
  char message[256];
  FILE* json;
  heat_options_init(&options);
  if (heat_options_parse(&options, argc, argv, message, sizeof message) != 0)
    return usage_error(rank, message);
  if (options.help) {
    if (rank == 0) heat_options_usage(stdout);
    return HEAT_FINE;
  }
  if (!json_open(MPI_COMM_WORLD, "heat_equation", options.json_file, &json)) return HEAT_USAGE;
  int exit_code = heat_run(MPI_COMM_WORLD, &options, &result);
  if (exit_code == HEAT_USAGE)
    usage_error(rank, result.message);
  else if (exit_code == HEAT_STOPPED && rank == 0)
    fprintf(stderr, "heat_equation: %s; to go on, give the same command again\n", result.message);
  else if (exit_code != HEAT_FINE && rank == 0)
    fprintf(stderr, "heat_equation: %s\n", result.message);
  if (json != NULL) heat_write_json(json, &options, &result);
  if (!json_close(MPI_COMM_WORLD, "heat_equation", options.json_file, json) &&
      exit_code == HEAT_FINE)
    exit_code = HEAT_USAGE;
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

/* The gradient of a Lorenz-63 trajectory of very many steps, with the states kept by anadrome. See
 * README.md. */
#include <mpi.h>
#include <stdio.h>

#include "json_file.h"
#include "lorenz_report.h"

static int usage_error(int rank, const char* message) {
  if (rank == 0) fprintf(stderr, "lorenz: %s; see lorenz --help\n", message);
  return LORENZ_USAGE;
}

static int run(int rank, int argc, char** argv) {
  lorenz_options options;
  lorenz_result result;
  char message[256];
  FILE* json;
  lorenz_options_init(&options);
  if (lorenz_options_parse(&options, argc, argv, message, sizeof message) != 0)
    return usage_error(rank, message);
  if (options.help) {
    if (rank == 0) lorenz_options_usage(stdout);
    return LORENZ_FINE;
  }
  if (!json_open(MPI_COMM_WORLD, "lorenz", options.json_file, &json)) return LORENZ_USAGE;
  int exit_code = lorenz_run(MPI_COMM_WORLD, &options, &result);
  if (exit_code == LORENZ_USAGE)
    usage_error(rank, result.message);
  else if (exit_code != LORENZ_FINE && rank == 0)
    fprintf(stderr, "lorenz: %s\n", result.message);
  if (json != NULL) lorenz_write_json(json, &options, &result);
  if (!json_close(MPI_COMM_WORLD, "lorenz", options.json_file, json) && exit_code == LORENZ_FINE)
    exit_code = LORENZ_USAGE;
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

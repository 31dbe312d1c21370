// SPDX-License-Identifier: BSD-2-Clause
/* The gradient of a Lorenz-63 trajectory of very many steps, with the states kept by anadrome. See
 * README.md. */
#include "lorenz_report.h"
#include "program.h"

int main(int argc, char** argv) {
  const command_line* line = &lorenz_command_line;
  lorenz_options options;
  lorenz_result result = {.have_gradient = 0};
  FILE* json;
  lorenz_options_init(&options);
  if (program_begin(line, argc, argv, &options, &options.library, &options.help, &result.end) &&
      program_open("json", options.json_file, &json, &result.end)) {
    lorenz_run(MPI_COMM_WORLD, &options, &result);
    if (json != NULL) lorenz_write_json(json, &options, &result);
    program_close("json", options.json_file, json, &result.end);
  }
  return program_end(line, &result.end);
}

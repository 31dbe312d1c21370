// SPDX-License-Identifier: BSD-2-Clause
/* The gradient of a heat-equation problem with respect to the conductivity and the initial state,
 * with the states kept by anadrome. See README.md. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "heat.h"
#include "json_file.h"
#include "program.h"

static int parse_grid(const char* text, void* into) {
  heat_options* options = into;
  int64_t nx, ny;
  char more;
  if (sscanf(text, "%" SCNd64 "x%" SCNd64 "%c", &nx, &ny, &more) != 2) return -1;
  // MPI counts a row in an int; more than 2^48 cells fit in no machine.
  if (nx < 1 || ny < 1 || nx > INT_MAX || nx > ((int64_t)1 << 48) / ny) return -1;
  options->cells_x = nx;
  options->cells_y = ny;
  return 0;
}

static int parse_integrator(const char* text, void* into) {
  heat_options* options = into;
  options->integrator = strcmp(text, "rk4") == 0 ? HEAT_RK4 : HEAT_EULER;
  return strcmp(text, "rk4") == 0 || strcmp(text, "euler") == 0 ? 0 : -1;
}

#define FIELD(name) offsetof(heat_options, name)
static const flag flags[] = {
    {"grid", FLAG_OWN, 0, 0, "NXxNY", "cells of the unit square (256x256)", parse_grid},
    {"steps", FLAG_COUNT, FIELD(steps), 0, "N", "time steps (200)", NULL},
    {"integrator", FLAG_OWN, 0, 0, "euler|rk4", "how a step is done (euler)", parse_integrator},
    {"tape", FLAG_SWITCH, FIELD(tape), 0, NULL, "the stages of a step are tape fields", NULL},
    {"steps-unknown", FLAG_SWITCH, FIELD(steps_unknown), 0, NULL, "n is told at the end", NULL},
    {"zero-copy", FLAG_SWITCH, FIELD(zero_copy), 0, NULL, "the state is an exchanged field", NULL},
    {"adaptive", FLAG_SWITCH, FIELD(adaptive), 0, NULL, "keep what heat has reached only", NULL},
    {"repeat", FLAG_COUNT, FIELD(repeat), 1, "R", "sweeps; the same gradient bits each (1)", NULL},
    {"work", FLAG_COUNT, FIELD(work), 1, "W", "do the arithmetic of each step W times (1)", NULL},
    {"resume", FLAG_SWITCH, FIELD(resume), 0, NULL, "go on where the same command ended", NULL},
    {"json", FLAG_TEXT, FIELD(json_file), 0, "FILE", "write the results to FILE", NULL},
    {"log", FLAG_TEXT, FIELD(log_file), 0, "FILE", "a line per action of rank 0", NULL},
    {"quiet", FLAG_SWITCH, FIELD(quiet), 0, NULL, "print nothing but errors", NULL},
    {"help", FLAG_SWITCH, FIELD(help), 0, NULL, "print this", NULL},
};
static const command_line line = {
    "heat_equation", "the gradient of a heat-equation problem, with its states kept by anadrome",
    flags, sizeof flags / sizeof flags[0]};

static void write_json(FILE* file, const heat_options* options, const heat_result* result) {
  const int have = result->have_gradient;
  char text[64];
  fprintf(file, "{\n");
  json_put_integer(file, "exit_code", result->end.exit_code);
  if (result->end.exit_code != EXAMPLE_FINE) json_put_text(file, "error", result->end.message);
  outcome_put_statistics(file, &result->all, options->steps);
  json_put_number(file, "objective", have, result->objective);
  json_put_number(file, "gradient_norm", have, sqrt(result->square_kappa + result->square_u0));
  snprintf(text, sizeof text, "\"%016" PRIx64 "\"", result->gradient_hash);
  fprintf(file, "  \"gradient_hash\": %s\n}\n", have ? text : "null");
}

int main(int argc, char** argv) {
  heat_options options = heat_defaults;
  heat_result result = {.have_gradient = 0};
  FILE* json;
  if (program_begin(&line, argc, argv, &options, &options.library, &options.help, &result.end) &&
      program_open("json", options.json_file, &json, &result.end) &&
      program_open("log", options.log_file, &options.log, &result.end)) {
    heat_run(MPI_COMM_WORLD, &options, &result);
    if (json != NULL) write_json(json, &options, &result);
    program_close("json", options.json_file, json, &result.end);
    program_close("log", options.log_file, options.log, &result.end);
  }
  return program_end(&line, &result.end);
}
